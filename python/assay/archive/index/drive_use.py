"""Use of a drive by a run, and what the drive reported: bytes written, wear, temperature, health log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.results.step import issued_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveUse:
    """Use of a drive by one run; None if the drive did not report a value.

    written_bytes : that we wrote, purges by overwriting included; None if the folder cannot be read.
    wear_pct_first, wear_pct_last : used share of the rated endurance in percent, before and after; may exceed 100.
    temperature_c_max : the highest reading. health : counts of the last health log by name.
    """

    written_bytes: int | None = None
    wear_pct_first: float | None = None
    wear_pct_last: float | None = None
    temperature_c_max: float | None = None
    health: dict[str, int] = field(default_factory=dict)


NO_USE = DriveUse()
"""For a folder that cannot be read."""


def drive_use(run: StoredRun) -> DriveUse:
    """Sum up a run folder. Writes of a sequence that a break cut short are in no record, and not in the sum.

    Worked: a run whose steps wrote 10 MB, with one purge that overwrote 32 GB -> ``written_bytes`` 32,010,000,000.
    """
    wear = [condition.wear_used_pct for condition in run.conditions if condition.wear_used_pct is not None]
    return DriveUse(
        written_bytes=_written_bytes(run),
        wear_pct_first=wear[0] if wear else None,
        wear_pct_last=wear[-1] if wear else None,
        temperature_c_max=max(_temperatures(run), default=None),
        health=dict(run.conditions[-1].health) if run.conditions else {},
    )


def _written_bytes(run: StoredRun) -> int:
    steps = (step for test in run.tests for sequence in test.sequences for step in sequence.steps)
    purged = sum(run.identity.capacity_bytes for test in run.tests if test.purge and test.purge.method == "overwrite")
    return sum(issued_bytes(step.write) for step in steps) + purged


def _temperatures(run: StoredRun) -> Iterator[float]:
    conditions = (*run.conditions, *(condition for test in run.tests for condition in test.conditions))
    yield from (state.temperature_c for state in conditions if state.temperature_c is not None)
    drives = (sequence.drive for test in run.tests for sequence in test.sequences if sequence.drive)
    states = (state for drive in drives for state in (drive.before, drive.after))
    yield from (float(state.temperature_c) for state in states if state.temperature_c is not None)
