"""The pages of a test whose I/Os arrive at a stated rate: the rate, and latency from submission and from when due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.open_loop import OPEN_LOOP_SHARES, offered_rates, open_loop_times
from assay.procedures.families.loop.values import no_window_reason
from assay.results import arrival_label, cell_label
from assay.summary.pages.model import Table, Text
from assay.words.printed import NOT_AVAILABLE, milliseconds_or_na, one_decimal, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import Cell
    from assay.procedures.families.loop.open_loop import LatencyTimes, OfferedRate, OpenLoopTimes
    from assay.procedures.families.loop.report import LoopReport
    from assay.summary.pages.test_report import PagePart

CELLS_PER_PAGE = 10
_COLUMNS = (
    "Cell", "Offered (I/Os/s)", "Achieved (I/Os/s)", "Share", "Verdict", "Latency (ms)", "Average",
    *(f"{share * 100:g} %" for share in OPEN_LOOP_SHARES), "Maximum",
)  # fmt: skip
_NOTES = (
    """Service: from submission. Intended: the same I/Os from when they were due, their wait to be issued included; I/Os
    that were due but never issued are in neither.""",
    """Verdict: pass from 99 % on, invalid below 95 %; n/a where a step is too short to tell: fewer than ten missing
    or fewer than 1.5 times those outstanding on average. Percentiles are n/a with fewer than ten I/Os beyond.""",
)


def open_loop_parts(test_report: LoopReport) -> tuple[PagePart, ...]:
    """Lay out the pages of an open loop; none for a closed one."""
    arrivals = arrival_label(test_report.settings.demand)
    if arrivals is None:
        return ()
    subtitle = f"Open Loop - {arrivals}"
    rates, times = (
        offered_rates(test_report.test, test_report.result),
        open_loop_times(test_report.test, test_report.result),
    )
    if not rates:
        return ((subtitle, (Text(paragraphs=(no_window_reason(test_report.result),)),)),)
    cells = list(rates)
    return tuple(
        (subtitle, (_table(test_report, cells[first : first + CELLS_PER_PAGE], rates, times),))
        for first in range(0, len(cells), CELLS_PER_PAGE)
    )


def _table(
    test_report: LoopReport, cells: list[Cell], rates: dict[Cell, OfferedRate], times: dict[Cell, OpenLoopTimes]
) -> Table:
    rows = [
        row for cell in cells for row in _rows(cell_label(cell, test_report.settings.access), rates[cell], times[cell])
    ]
    return Table(
        caption="Offered and achieved rate, service latency and latency from intended start",
        columns=_COLUMNS,
        rows=tuple(rows),
        notes=(test_report.origin("Over"), *map(paragraph, _NOTES)),
    )


def _rows(label: str, rate: OfferedRate, times: OpenLoopTimes) -> Iterator[tuple[str, ...]]:
    level = NOT_AVAILABLE if rate.level == "unknown" else rate.level.upper()
    share = f"{rate.share:.2%}".replace("%", " %")
    first = (label, one_decimal(rate.offered_per_s), one_decimal(rate.achieved_per_s), share, level)
    yield (*first, "service", *_latencies(times.service))
    yield (*("" for _ in first), "intended", *_latencies(times.intended))


def _latencies(times: LatencyTimes) -> tuple[str, ...]:
    nines = [times.percentiles_ms.get(share) for share in OPEN_LOOP_SHARES]
    values = (times.latency_ms_mean, *nines, times.latency_ms_max)
    return tuple(map(milliseconds_or_na, values))
