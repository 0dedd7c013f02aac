"""Access patterns and active ranges by the names of the specification."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay._native import place_segments
from assay.engine.records import AccessPattern, ActiveRange, DataPattern
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import Access

RANDOM = 1.0
SEQUENTIAL = 0.0

COMPOSITE_SIZES = (
    (512, 4), (1024, 1), (1536, 1), (2048, 1), (2560, 1), (3072, 1), (3584, 1), (4096, 67), (8192, 10), (16384, 7),
    (32768, 3), (65536, 3),
)  # fmt: skip
"""Sizes of the composite workload in bytes with their shares of the accesses in percent."""

COMPOSITE_GROUPS = ((0.50, 0.05), (0.30, 0.15), (0.20, 0.80))
"""LBA groups of the composite workload: share of the accesses, share of the range."""

_WORKLOADS: dict[str, tuple[str, Access, float, float, str]] = {
    "rnd-4k-write": ("RND 4KiB 0/100", "random", 4, 0.0, ""),
    "oltp": ("RND 8KiB 65/35", "random", 8, 0.65, "-oltp"),
    "vod": ("SEQ 128KiB 90/10", "sequential", 128, 0.90, "-vod"),
    "metadata": ("SEQ 0.5KiB 50/50", "sequential", 0.5, 0.50, "-metadata"),
    "composite": ("CBW 40/60", "random", 0, 0.40, "-composite"),
}


def cell_pattern(access: Access, transfer_bytes: int, read_share: float, data: DataPattern) -> AccessPattern:
    """The accesses of one cell: RND, aligned to the size, or SEQ from the cursor that all outstanding I/Os share."""
    share = RANDOM if access == "random" else SEQUENTIAL
    return AccessPattern(sizes=((transfer_bytes, 1.0),), read_share=read_share, random_share=share, data=data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A named workload of the write saturation test. label : as printed. suffix : of the test's name."""

    label: str
    suffix: str
    pattern: AccessPattern


def workload(name: str, data: DataPattern) -> Workload:
    """A workload of the write saturation test by name, with this data.

    name : ``rnd-4k-write`` (the required one), or one of the optional ones of 2.0: ``oltp``, ``vod``, ``metadata``,
        ``composite``.
    Source: PTS 1.0 report pages (2012 deck); optional ones from a public implementation of PTS 2.0.x; composite shares
    and LBA groups from SNIA PTS session 202-C (2013), 40 % reads and the 4 KiB grid as in JEDEC JESD219.
    Worked: ``workload("oltp", DataPattern()).label`` is ``"RND 8KiB 65/35"``.
    """
    label, access, kib, read_share, suffix = _WORKLOADS[name]
    if name == "composite":
        pattern = AccessPattern(
            sizes=tuple((size, pct / 100) for size, pct in COMPOSITE_SIZES),
            read_share=read_share,
            random_share=RANDOM,
            alignment_bytes=4 * KIB,
            lba_groups=COMPOSITE_GROUPS,
            data=data,
        )
    else:
        pattern = cell_pattern(access, int(kib * KIB), read_share, data)
    return Workload(label=label, suffix=suffix, pattern=pattern)


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
