"""How a test over a grid of demands departs from its edition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.departures import other_limits, other_range, other_rounds, shortened
from assay.procedures.families.grid.run import grid_demands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StepRecord, StoredTest
    from assay.procedures.families.grid.edition import DemandTable
    from assay.procedures.families.grid.settings import DemandSettings


def grid_departures(
    settings: DemandSettings, table: DemandTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How a test over a grid of demands departs from its edition."""
    writes, cells, points = _ran(settings, test) if test else (None, None, None)
    asked = table.preconditioning.sample_seconds.value
    yield from shortened("preconditioning and pre-write samples", settings.sample_ns, asked, writes)
    yield from shortened("cells", settings.cell_ns, table.cell_seconds.value, cells)
    yield from shortened("operating points", settings.capture_ns, table.capture_seconds.value, points)
    grid = grid_demands(table.thread_counts.value, table.queue_depths.value, table.tie_order.value)
    if settings.grid != grid:
        yield f"a custom grid of {len(settings.grid)} demands instead of {len(grid)}"
    tracking = settings.tracking
    if tracking != table.tracking.value.to_demand():
        yield f"steady state tracked at TC {tracking.thread_count} x QD {tracking.queue_depth}"
    yield from other_rounds(settings.round_limit, table.round_limit.value)
    if settings.art_limit_ms != table.art_limit_ms.value:
        yield f"Max point below {settings.art_limit_ms:g} ms on average instead of {table.art_limit_ms.value:g} ms"
    yield from other_range(settings, table.test_range.value, drive)
    yield from other_limits(settings, table)


def _ran(settings: DemandSettings, test: StoredTest) -> tuple[list[StepRecord], list[StepRecord], list[StepRecord]]:
    """The samples of preconditioning and pre-writes, the cells, and the operating points that ran."""
    before = settings.pre_write_samples
    writes = [*test.steps("sample"), *test.steps("pre-write")]
    writes += [step for round_ in test.rounds for step in round_.cells[:before]]
    cells = [step for round_ in test.rounds for step in round_.cells[before:]]
    return writes, cells, [step for one in test.stage("point") for step in one.steps[1:]]
