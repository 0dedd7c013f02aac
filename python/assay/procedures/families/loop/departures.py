"""How a test loop departs from its edition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.departures import (
    TOLERANCE,
    deeper,
    other_limits,
    other_range,
    other_rounds,
    short_histogram,
    shortened,
)
from assay.procedures.planned import whole_blocks
from assay.results import arrival_label, issued_bytes, ran_to_its_end
from assay.spec.units import GIB, KIB
from assay.words.printed import capacity_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StoredTest
    from assay.procedures.families.loop.edition import LoopTable
    from assay.procedures.families.loop.settings import LoopSettings


def loop_departures(
    settings: LoopSettings, table: LoopTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How a test loop departs from its edition. Worked: cells of 0.6 s -> ``"cells of 0.6 s instead of 1 min"``."""
    cells = test.steps("round") if test else None
    yield from shortened("cells", settings.step_ns, table.step_seconds.value, cells)
    if not _is_capped(settings, table, drive):
        yield from other_range(settings, table.test_range.value, drive)
    yield from other_rounds(settings.round_limit, table.round_limit.value, settings.round_least)
    yield from _other_demand(settings, table)
    yield from short_histogram(settings, table.histogram_seconds.value if table.histogram_seconds else 0, test)
    yield from deeper(settings, cells or ())
    yield from other_limits(settings, table)
    yield from _other_cells(settings, table)
    whole_bytes = settings.range_amount_bytes if table.range_gib_max else drive.capacity_bytes
    yield from _unprepared(test, table.preconditioning_multiple.value * whole_bytes)


def _is_capped(settings: LoopSettings, table: LoopTable, drive: DriveIdentity) -> bool:
    """Whether the range is the largest that the edition allows."""
    limit = table.range_gib_max
    return limit is not None and settings.range_amount_bytes == whole_blocks(limit.value * GIB, drive)


def _other_demand(settings: LoopSettings, table: LoopTable) -> Iterator[str]:
    """The demand of latency is the edition's, that of the others the tester's choice; arrivals are nobody's."""
    demand, asked = settings.demand, table.demand.value.to_demand()
    same = (demand.thread_count, demand.queue_depth) == (asked.thread_count, asked.queue_depth)
    if settings.variable == "latency" and not same:
        yield f"latency at TC {demand.thread_count} x QD {demand.queue_depth}"
    if (arrivals := arrival_label(demand)) is not None:
        yield f"open loop: {arrivals}, at most {demand.thread_count * demand.queue_depth} outstanding"


def _other_cells(settings: LoopSettings, table: LoopTable) -> Iterator[str]:
    """Mixes, sizes and tracking cells that the edition has and the test left out; throughput runs a size at a time."""
    known = {*settings.sizes_bytes, *settings.not_applicable}
    sizes = {int(kib * KIB) for kib in table.block_kib.value}
    missing = set(table.read_pct.value) - set(settings.read_pcts)
    if missing or (settings.variable != "throughput" and sizes - known):
        yield f"{settings.test} without {len(missing)} of the edition's mixes and {len(sizes - known)} of its sizes"
    tracked = {cell.to_cell() for cell in table.tracking.value if int(cell.block_kib * KIB) in settings.sizes_bytes}
    if tracked - set(settings.tracking):
        yield f"{settings.test} tracks {len(settings.tracking)} cells instead of {len(tracked)}"


def _unprepared(test: StoredTest | None, asked_bytes: float) -> Iterator[str]:
    if test is None or not ran_to_its_end(test):
        return
    written = sum(issued_bytes(step.write) for step in test.preconditioning)
    if written < asked_bytes * (1 - TOLERANCE):
        yield f"preconditioning of {capacity_label(written)} instead of {capacity_label(round(asked_bytes))}"
