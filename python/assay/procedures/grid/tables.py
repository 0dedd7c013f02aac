"""Tables and results of the tests over a grid of demands, unrounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.pages.model import DataTable
from assay.pages.printed import or_na
from assay.pages.results import step_results, window_results
from assay.procedures.grid.result import is_complete_round, total_oio
from assay.procedures.grid.settings import DemandSettings
from assay.results import (
    HOST_COLUMNS,
    POINT_SHARES,
    completed_count,
    effective_queue_depth,
    iops,
    latency_count,
    max_latency_ns,
    mean_latency_ns,
    percentiles,
    rate_count,
    response_time,
    round_hosts,
    throughput,
)
from assay.spec.units import MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import Demand, StepRecord, StoredTest
    from assay.procedures.grid.operating_points import DemandCell
    from assay.procedures.grid.result import DemandResult, PointRun

GRID_COLUMNS = (
    "thread_count", "queue_depth", "total_oio", "iops", "latency_ms_mean", "cpu_share_of_one", "io_count",
)  # fmt: skip
ROUND_COLUMNS = (
    "round", "place", "phase", "thread_count", "queue_depth", "start_ns", "iops", "mb_per_s", "effective_queue_depth",
    "latency_ms_mean", "latency_ms_max", *HOST_COLUMNS,
)  # fmt: skip
NINES_COLUMNS = tuple(f"latency_ms_p{share * 100:g}" for share in POINT_SHARES)
POINT_COLUMNS = (
    "point", "thread_count", "queue_depth", "total_oio", "grid_iops", "grid_latency_ms_mean", "below_limit", "iops",
    "latency_ms_mean", *NINES_COLUMNS, *(f"exact_{name}" for name in NINES_COLUMNS), "latency_ms_max", "io_count",
    "captured_io_count", "capture_agrees", "iops_io_count", "latency_io_count",
)  # fmt: skip


def demand_tables(test: StoredTest, result: DemandResult, suffix: str) -> Iterator[DataTable]:
    """Grid, rounds, operating points and their histograms. ``suffix`` tells tests of the same name apart."""
    name = test.settings.test.replace("-", "_")
    yield DataTable(
        name=f"{name}_grid{suffix}",
        columns=GRID_COLUMNS,
        rows=tuple(_printed(_grid_row(cell)) for cell in result.cells),
    )
    yield DataTable(name=f"{name}_rounds{suffix}", columns=ROUND_COLUMNS, rows=tuple(_round_rows(test)))
    yield DataTable(
        name=f"{name}_points{suffix}",
        columns=POINT_COLUMNS,
        rows=tuple(_printed(_point_row(run)) for run in result.points),
    )
    for run in result.points:
        if run.times is not None:
            rows = zip(run.times.middles_ms.tolist(), run.times.counts.tolist(), strict=True)
            table = f"{name}_{run.point.name.lower()}_histogram{suffix}"
            yield DataTable(name=table, columns=("latency_ms", "io_count"), rows=tuple(rows))


def demand_results(test: StoredTest, result: DemandResult) -> dict[str, Any]:
    """The numbers of ``results.json``."""
    settings = test.settings_as(DemandSettings)
    return {
        "error_count": result.error_count,
        "withheld": result.withheld,
        "precondition_window": window_results(result.precondition_window, result.withheld),
        "window": window_results(result.window, result.withheld),
        "grid": [dict(zip(GRID_COLUMNS, _grid_row(cell), strict=True)) for cell in result.cells],
        "points": [
            {
                **dict(zip(POINT_COLUMNS, _point_row(run), strict=True)),
                "pre_write_iops": list(run.pre_write_iops),
                "step": step_results(run.step) if run.step else None,
            }
            for run in result.points
        ],
        "precondition": [step_results(step) for step in test.steps("sample")],
        "rounds": [
            {
                "round": round_.index,
                "complete": is_complete_round(round_.cells, settings),
                "steps": [{"label": step.label, **step_results(step)} for step in round_.cells],
            }
            for round_ in test.rounds
        ],
    }


def _demand(demand: Demand) -> tuple[int, int, int]:
    return demand.thread_count, demand.queue_depth, total_oio(demand)


def _printed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row as tables have it: n/a where a value is unknown."""
    return tuple(map(or_na, row))


def _grid_row(cell: DemandCell) -> tuple[Any, ...]:
    average = float(cell.latency_ms_mean) if cell.completed else None
    return (*_demand(cell.demand), float(cell.iops), average, cell.cpu_share, cell.completed)


def _round_rows(test: StoredTest) -> Iterator[tuple[Any, ...]]:
    """Every step of every round as it ran, with its start on the drive's clock."""
    settings = test.settings_as(DemandSettings)
    hosts = round_hosts(test)
    demands = [settings.demand] * settings.pre_write_samples + list(settings.grid)
    for round_ in test.rounds:
        for place, (demand, step) in enumerate(zip(demands, round_.cells, strict=False), 1):
            phase = "pre-write" if place <= settings.pre_write_samples else "cell"
            host = map(or_na, hosts[round_.index])
            yield (round_.index, place, phase, *_demand(demand)[:2], step.start_ns, *_measured(step), *host)


def _measured(step: StepRecord) -> Sequence[Any]:
    times = (mean_latency_ns(step), max_latency_ns(step))
    shown = (or_na(None if time is None else time / MILLISECOND_NS) for time in times)
    return float(iops(step)), float(throughput(step)), effective_queue_depth(step), *shown


def _point_row(run: PointRun) -> tuple[Any, ...]:
    point, step, times, exact = run.point, run.step, run.times, run.exact
    counted = percentiles(times, POINT_SHARES) if times else {}
    found = exact.percentiles_ms if exact else {}
    largest = max_latency_ns(step) if step else None
    return (
        point.name,
        *_demand(point.demand),
        point.iops,
        point.latency_ms_mean,
        point.below_limit,
        float(iops(step)) if step else None,
        float(response_time(step)) if step and latency_count(step) else None,
        *(counted.get(share) for share in POINT_SHARES),
        *(found.get(share) for share in POINT_SHARES),
        None if largest is None else largest / MILLISECOND_NS,
        completed_count(step) if step else None,
        exact.io_count if exact else None,
        exact.agrees if exact else None,
        rate_count(step) if step else None,
        latency_count(step) if step else None,
    )
