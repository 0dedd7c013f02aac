"""How host idle recovery departs from its edition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.departures import deeper, other_range, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StepRecord, StoredTest
    from assay.procedures.hir.edition import IdleRecoveryTable
    from assay.procedures.hir.settings import IdleRecoverySettings


def hir_departures(
    settings: IdleRecoverySettings, table: IdleRecoveryTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How host idle recovery departs from its edition."""
    samples = test.steps("sample") if test else None
    bursts, idles = _bursts_and_idles(test, settings) if test else (None, None)
    asked = table.preconditioning.sample_seconds.value
    yield from shortened("preconditioning samples", settings.preconditioning.sample_ns, asked, samples)
    yield from shortened("bursts", settings.burst_ns, table.burst_seconds.value, bursts)
    yield from shortened("first idle times", settings.idles_ns[0], table.idle_seconds.value[0], idles)
    if settings.cycles < table.cycles.value:
        yield f"{settings.cycles} bursts of a wait state instead of {table.cycles.value}"
    yield from other_range(settings, table.test_range.value, drive)
    yield from deeper(settings, bursts or ())


def _bursts_and_idles(
    test: StoredTest, settings: IdleRecoverySettings
) -> tuple[list[StepRecord], tuple[StepRecord, ...]]:
    """Every burst, and the idle times of the first wait state."""
    bursts: list[StepRecord] = []
    waits = 2 * settings.cycles
    states = [test.steps("segment", place) for place in range(1, len(settings.wait_states) + 1)]
    for steps in states:
        bursts += [*steps[:waits:2], *steps[waits:]]
    return bursts, states[0][1:waits:2] if states else ()
