"""What a drive returned of addressed data, sector by sector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SECTOR_BYTES = 512
"""What has an address of its own, whatever the logical block."""

WrongKind = Literal["zeros", "stale", "other-run", "misdirected", "corrupt", "unread"]
"""What a sector holds instead of what was written last: zeros; an earlier write of this run, or one of another run, to
this address; what was written to another address; no data of this tool, or damaged; or it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRange:
    """Wrong sectors in a row. sector, count : of 512 bytes. distance : from each to the address that its data are of,
    in sectors; 0 unless they are misdirected.
    """  # noqa: D205 - one sentence

    sector: int
    count: int
    kind: WrongKind
    distance: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCheck:
    """A whole read-back.

    after : name of the sequence before. block_bytes : logical block of the drive. flushed : the drive made its cache
    durable in between. parts : (first byte, length) of what was read.
    checked_count : sectors of 512 bytes read and compared, in ``span_ns``. counts : wrong ones by kind, none of zero.
    ranges : where they lie, in rising order, 4,096 at most. unlisted_count : wrong ones in none of the ranges.
    """

    after: str
    block_bytes: int
    flushed: bool
    parts: tuple[tuple[int, int], ...]
    checked_count: int
    span_ns: int
    counts: dict[WrongKind, int] = field(default_factory=dict)
    ranges: tuple[WrongRange, ...] = ()
    unlisted_count: int = 0

    @property
    def wrong_count(self) -> int:
        """Wrong sectors of all kinds."""
        return sum(self.counts.values())
