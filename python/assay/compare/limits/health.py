"""A health value of a stored run: the worst that was seen, or by how much it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.compare.limits.names import TEMPERATURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.compare.limits.model import LimitEntry
    from assay.engine.records import DriveCondition, StoredRun


def health_value(run: StoredRun, entry: LimitEntry) -> tuple[float | None, str]:
    """The value that a limit is of, and why there is none.

    Under a bound from above the greatest that was seen counts, under one from below the least.
    """
    name = str(entry.health)
    if entry.change:
        first, last = (
            (_of(one, name) for one in (run.conditions[0], run.conditions[-1])) if run.conditions else (None, None)
        )
        if first is None or last is None or len(run.conditions) < 2:  # noqa: PLR2004 - before and after
            return None, "the drive did not report it before and after the run"
        return last - first, ""
    seen = list(_seen(run, name))
    if not seen:
        return None, "the drive did not report it"
    return (max(seen) if entry.at_most is not None else min(seen)), ""


def _seen(run: StoredRun, name: str) -> Iterator[float]:
    conditions = (*run.conditions, *(condition for test in run.tests for condition in test.conditions))
    yield from (value for condition in conditions if (value := _of(condition, name)) is not None)
    if name == TEMPERATURE:
        drives = (sequence.drive for test in run.tests for sequence in test.sequences if sequence.drive)
        for drive in drives:
            for state in (drive.before, drive.after):
                if state.temperature_c is not None:
                    yield float(state.temperature_c)


def _of(condition: DriveCondition, name: str) -> float | None:
    value = getattr(condition, name) if name in {TEMPERATURE, "wear_used_pct"} else condition.health.get(name)
    return None if value is None else float(value)
