"""Reads back what a run wrote last, and says what of it the drive returned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from assay.engine.records import ReadBack, WrongBlock
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from assay.dut.real.sectors import AddressedData
    from assay.engine.records import DriveIdentity, Returned
    from assay.engine.stimulus import Stimulus

WRONG_REMEDY = "do not trust this drive with data; test it on another host to rule out cables and memory"
BETWEEN_COUNT = 64
BETWEEN_LIMIT_NS = SECOND_NS // 4
"""Between two sequences no read is begun after that: a gap of more than a second is a finding."""
END_LIMIT_NS = 30 * SECOND_NS
"""At the end of a test, where all known blocks are read."""


@dataclass(slots=True)
class WrittenData:
    """What a run wrote to a drive. sectors : of addressed data. turn : checks so far; each takes other blocks."""

    drive: DriveIdentity
    stimulus: Stimulus
    sectors: AddressedData
    turn: int = field(default=0, init=False)

    def between(self, after: str) -> ReadBack | None:
        """Read 64 known blocks behind a sequence of this name."""
        return self._checked(after, BETWEEN_COUNT, BETWEEN_LIMIT_NS)

    def end(self) -> ReadBack | None:
        """Read all known blocks."""
        return self._checked("", None, END_LIMIT_NS)

    def forget(self, from_bytes: int = 0, to_bytes: int | None = None) -> None:
        """Something else than the stimulus changed what lies between two places, or all."""
        self.stimulus.forget_written(from_bytes, self.drive.capacity_bytes if to_bytes is None else to_bytes)

    def _checked(self, after: str, count: int | None, limit_ns: int) -> ReadBack | None:
        result = self.stimulus.read_back(count, self.turn, limit_ns)
        self.turn += 1
        if result is None:
            return None
        block = self.drive.logical_block_bytes
        return ReadBack(
            after=after,
            checked_count=result.checked_count,
            known_count=result.known_count,
            given_count=result.given_count,
            unknown_count=result.unknown_count,
            wrong_count=result.wrong_count,
            span_ns=result.span_ns,
            limit_ns=limit_ns,
            wrong=tuple(
                WrongBlock(lba=offset // block, returned=cast("Returned", kind)) for offset, kind in result.wrong
            ),
            unread_lba=result.failed[0] // block if result.failed else None,
        )
