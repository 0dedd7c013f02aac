"""Watches a simulated drive with faults: what a kernel would have said of it while a sequence ran."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.dut.real.watch import gravest
from assay.engine.records import DriveEvent, DriveRecord, DriveState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import StepRecord

    Happened = tuple[list[tuple[int, int, str]], int]

_NAME = "sim"


@dataclass
class FaultWatch:
    """Watches a simulated drive sequence by sequence.

    happened : (time in ns on the drive's clock, level of the kernel's log, text) of each event since it was last asked,
    and how many more there were. present : bytes that are left of the drive, None where it is gone.
    record : of the last sequence that ``finished``.
    """

    happened: Callable[[], Happened]
    present: Callable[[], int | None]
    record: DriveRecord | None = None
    _before: DriveState = field(default_factory=DriveState, repr=False)

    def begin(self) -> None:
        """A sequence begins."""
        self._before = self._state()

    def look(self, step_index: int) -> None:
        """Nothing: events bear their times, and are told apart by them when the sequence is over."""

    def finished(self, records: Sequence[StepRecord]) -> list[StepRecord]:
        """The steps that ran, each with what happened in it; ``record`` is there afterwards.

        What happened since the sequence before belongs to the first step, what happened after the last to that one.
        """
        events, lost_count = self.happened()
        self.record = DriveRecord(before=self._before, after=self._state(), log="read", lost_count=lost_count)
        ends = [record.start_ns + record.span_ns for record in records[:-1]]
        places = [sum(at > end for end in ends) for at, _, _ in events]
        return [
            replace(
                record,
                drive_events=gravest(
                    DriveEvent(level=level, device=_NAME, text=text)
                    for (_, level, text), place in zip(events, places, strict=True)
                    if place == index
                ),
            )
            for index, record in enumerate(records)
        ]

    def _state(self) -> DriveState:
        return DriveState(controller="live" if self.present() is not None else "dead")
