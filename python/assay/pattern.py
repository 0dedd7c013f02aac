"""Access patterns and active ranges by the names of the specification."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay._native import place_segments
from assay.records import AccessPattern, ActiveRange, DataPattern

if TYPE_CHECKING:
    from assay.records import Access

RANDOM = 1.0
SEQUENTIAL = 0.0


def cell_pattern(access: Access, transfer_bytes: int, read_share: float, data: DataPattern) -> AccessPattern:
    """The accesses of one cell: RND, aligned to the size, or SEQ from the cursor that all outstanding I/Os share."""
    share = RANDOM if access == "random" else SEQUENTIAL
    return AccessPattern(sizes=((transfer_bytes, 1.0),), read_share=read_share, random_share=share, data=data)


def random_pattern(transfer_bytes: int, read_share: float, data: DataPattern) -> AccessPattern:
    """RND accesses of one size, aligned to the size. ``read_share`` lies in [0, 1]."""
    return cell_pattern("random", transfer_bytes, read_share, data)


def fill_pattern(transfer_bytes: int, data: DataPattern) -> AccessPattern:
    """SEQ writes that cover a range without leaving out its tail, as preconditioning needs."""
    return replace(cell_pattern("sequential", transfer_bytes, 0.0, data), writes_tail=True)


def leading_range(length_bytes: int) -> ActiveRange:
    """The first bytes of the drive as one contiguous range."""
    return ActiveRange(segment_starts=(0,), segment_bytes=length_bytes)


def segmented_range(capacity_bytes: int, segment_count: int, segment_bytes: int, seed: int) -> ActiveRange:
    """Equal segments at random over the drive, on a 1 MiB grid and at least 1 MiB apart.

    Raises TooSmallError where they do not fit.
    Source: SNIA test terms, ActiveRange Segments; 2,048 segments of 8 MiB for the client tests of edition 1.0.
    Worked: 2,048 segments of 8 MiB on 32 GB touch 16 GiB.
    """
    starts = place_segments(capacity_bytes, segment_count, segment_bytes, seed)
    return ActiveRange(segment_starts=tuple(starts), segment_bytes=segment_bytes)
