"""The numbers of a demand grid: tables, measures, and what they say of the drive."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.families.grid.plan import DemandSettings
from assay.procedures.families.grid.result import CLOSE_SHARE, by_total_oio, grid_label, total_oio
from assay.procedures.traits import Waited, depth_insights, not_steady, pattern_subject, stalls, tails
from assay.results.captured import POINT_SHARES
from assay.results.ended import missed_steady_state
from assay.results.histogram import percentiles
from assay.results.host import round_hosts
from assay.results.step import (
    completed_count,
    effective_queue_depth,
    iops,
    latency_count,
    max_latency_ms,
    mean_and_max_ms,
    mean_latency_ms,
    rate_count,
    throughput,
)
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import MILLISECOND_NS
from assay.summary import table as of
from assay.summary.insights import insight
from assay.summary.measures import MEAN, quoted
from assay.summary.pages.histograms import histogram_table
from assay.summary.record import Measure
from assay.summary.table import Column, Lines, Pivot, Words, percentile_columns, table_of
from assay.words.coded import coded
from assay.words.printed import outstanding
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.engine.records import Demand, StepRecord, StoredTest
    from assay.procedures.families.grid.result import DemandCell, DemandResult, PointRun
    from assay.summary.insights import Insight
    from assay.summary.record import Key
    from assay.summary.table import Declared, Raw, ResultTable
    from assay.words.coded import Coded


def demand_measures(settings: DemandSettings, result: DemandResult) -> Iterator[Measure]:
    """IOPS and average response time of each operating point in its own measurement, and of every cell of the grid.

    Those of the cells are over the measurement window; none without a result.
    Worked: Max, Mid and Min -> six numbers that people quote.
    """
    for run in result.points:
        yield from _point(settings, run)
    steady = result.window is not None and result.window.reached
    for cell in result.cells:
        key: Key = (("thread_count", cell.demand.thread_count), ("queue_depth", cell.demand.queue_depth))
        label = grid_label(settings, cell.demand)
        yield Measure(
            cell=key,
            key="iops",
            label=label,
            unit="IOPS",
            value=float(cell.iops),
            stat="mean",
            rounds=result.by_round[cell.demand][-WINDOW_ROUNDS:],
            tracked=steady and cell.demand == settings.tracking,
        )
        mean = float(cell.latency_ms_mean) if cell.completed else None
        yield Measure(cell=key, key=MEAN, label=label, unit="ms", value=mean, stat="mean")


def _point(settings: DemandSettings, run: PointRun) -> Iterator[Measure]:
    cell: Key = (("point", run.point.name),)
    name = f"{run.point.name} ({grid_label(settings, run.point.demand)})"
    if run.step is None:
        yield quoted(cell, "IOPS", name, None, coded("point-not-run"))
        return
    chosen = settings.art_limit_ms if run.point.name == "Max" and run.point.below_limit else None
    basis = coded("point", span=run.step.span_ns, grid=run.point.iops, limit=chosen)
    yield quoted(cell, "IOPS", name, float(iops(run.step)), basis)
    mean_ms, _ = mean_and_max_ms([run.step])
    basis = coded("in-time", span=run.step.span_ns)
    yield quoted(cell, "ms", f"{name}, average response time", mean_ms, basis, key=MEAN)


_NAMES = ("Max", "Mid", "Min")


def demand_insights(test: StoredTest, result: DemandResult) -> Iterator[Insight]:
    """Everything that its grid and its operating points say; none without a window."""
    if not result.cells or result.window is None:
        return
    settings = test.settings_as(DemandSettings)
    about = pattern_subject(settings.pattern)
    if missed_steady_state(test):
        verdict = result.window.verdicts[grid_label(settings, settings.tracking)]
        yield from not_steady([(pattern_subject(settings.pattern, settings.tracking), verdict)], len(result.rounds))
    yield from depth_insights(about, by_total_oio(result.cells))
    yield from indistinct(result.points)
    for run in result.points:
        yield from tails(pattern_subject(settings.pattern, run.point.demand), run.times)
    yield from stalls(about, (one for run in result.points for one in _waited(run)))


def indistinct(points: Sequence[PointRun]) -> Iterator[Insight]:
    """Neighbours of the operating points whose IOPS lie within 5 %, as measured at length or as the grid has them.

    Worked: Max of 2,642, Mid of 2,616 and Min of 1,000 IOPS -> Max and Mid.
    """
    rates = {str(run.point.name): float(iops(run.step)) if run.step else float(run.point.iops) for run in points}
    known = [name for name in _NAMES if rates.get(name)]
    near = [
        name
        for index, name in enumerate(known)
        if any(_is_near(rates[name], rates[other]) for other in known[max(index - 1, 0) : index + 2] if other != name)
    ]
    if near:
        yield insight("indistinct", names=tuple(near))


def _is_near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE_SHARE * max(one, other)


def _waited(run: PointRun) -> Iterator[Waited]:
    if run.step and run.times:
        yield Waited(times=run.times, slots=outstanding(run.point.demand), span_ms=run.step.span_ns / MILLISECOND_NS)


class _RoundStep(NamedTuple):
    round_index: int
    place: int
    phase: str
    demand: Demand
    step: StepRecord
    host: tuple[str | None, Coded | None]


_GRID: Declared[DemandCell] = (
    (of.THREADS, lambda cell: cell.demand.thread_count),
    (of.DEPTH, lambda cell: cell.demand.queue_depth),
    (of.TOTAL_OIO, lambda cell: total_oio(cell.demand)),
    (of.IOPS, lambda cell: float(cell.iops)),
    (of.MEAN, lambda cell: float(cell.latency_ms_mean) if cell.completed else None),
    (Column("cpu_share_of_one", "CPU, share of a CPU"), lambda cell: cell.cpu_share),
    (of.IO_COUNT, lambda cell: cell.completed),
)
_ROUNDS: Declared[_RoundStep] = (
    (of.ROUND, lambda round_step: round_step.round_index),
    (Column("place", "Step", role="key"), lambda round_step: round_step.place),
    (Column("phase", "Phase"), lambda round_step: round_step.phase),
    (of.THREADS, lambda round_step: round_step.demand.thread_count),
    (of.DEPTH, lambda round_step: round_step.demand.queue_depth),
    (Column("start_ns", "Start", "ns"), lambda round_step: round_step.step.start_ns),
    (of.IOPS, lambda round_step: float(iops(round_step.step))),
    (of.MB_PER_S, lambda round_step: float(throughput(round_step.step))),
    (of.DEPTH_FOUND, lambda round_step: effective_queue_depth(round_step.step)),
    (of.MEAN, lambda round_step: mean_latency_ms(round_step.step)),
    (of.MAXIMUM, lambda round_step: max_latency_ms(round_step.step)),
    (of.HOST, lambda round_step: round_step.host[0]),
    (of.HOST_REASON, lambda round_step: text_or_none(round_step.host[1])),
)


def _of_step(fill: Callable[[StepRecord], Raw]) -> Callable[[PointRun], Raw]:
    return lambda run: fill(run.step) if run.step else None


def _counted(share: float) -> Callable[[PointRun], Raw]:
    return lambda run: percentiles(run.times, POINT_SHARES).get(share) if run.times else None


def _exact(share: float) -> Callable[[PointRun], Raw]:
    return lambda run: run.exact.percentiles_ms.get(share) if run.exact else None


_NINES = percentile_columns(POINT_SHARES)
_POINTS: Declared[PointRun] = (
    (Column("point", "Point", role="key"), lambda run: run.point.name),
    (of.THREADS, lambda run: run.point.demand.thread_count),
    (of.DEPTH, lambda run: run.point.demand.queue_depth),
    (of.TOTAL_OIO, lambda run: total_oio(run.point.demand)),
    (Column("grid_iops", "IOPS in the grid"), lambda run: run.point.iops),
    (Column("grid_latency_ms_mean", "Mean response time in the grid", "ms"), lambda run: run.point.latency_ms_mean),
    (Column("below_limit", "Below the limit"), lambda run: run.point.below_limit),
    (of.IOPS, _of_step(lambda step: float(iops(step)))),
    (of.MEAN, _of_step(mean_latency_ms)),
    *((column, _counted(share)) for column, share in zip(_NINES, POINT_SHARES, strict=True)),
    *(
        (replace(column, key=f"exact_{column.key}", title=f"{column.title}, of every I/O"), _exact(share))
        for column, share in zip(_NINES, POINT_SHARES, strict=True)
    ),
    (of.MAXIMUM, _of_step(max_latency_ms)),
    (of.IO_COUNT, _of_step(completed_count)),
    (Column("captured_io_count", "I/Os captured"), lambda run: run.exact.io_count if run.exact else None),
    (Column("capture_agrees", "Capture agrees"), lambda run: run.exact.agrees if run.exact else None),
    (Column("iops_io_count", "I/Os in the IOPS"), _of_step(rate_count)),
    (Column("latency_io_count", "I/Os in the times"), _of_step(latency_count)),
)


def demand_tables(test: StoredTest, result: DemandResult, suffix: str) -> Iterator[ResultTable]:
    """Grid, rounds, operating points and their histograms. ``suffix`` tells tests of the same name apart."""
    name = test.settings.test.replace("-", "_")
    yield grid_table(result, f"{name}_grid{suffix}")
    yield table_of(f"{name}_rounds{suffix}", "Steps of every round", _ROUNDS, _round_steps(test))
    yield points_table(result, f"{name}_points{suffix}")
    for run in result.points:
        if run.times is not None:
            yield histogram_table(run.times, f"{name}_{run.point.name.lower()}_histogram{suffix}")


def grid_table(result: DemandResult, key: str = "grid") -> ResultTable:
    """Every cell of the grid over the measurement window."""
    down, across = (of.THREADS.key,), of.DEPTH.key
    pivots = tuple(Pivot(down, across, value) for value in (of.IOPS.key, of.MEAN.key))
    lines = (Lines(across, of.IOPS.key, by=down), Lines(of.IOPS.key, of.MEAN.key, by=down))
    return table_of(key, "Demand variation", _GRID, result.cells, pivots=pivots, lines=lines, section="results")


def points_table(result: DemandResult, key: str = "points") -> ResultTable:
    """The operating points, each measured by itself."""
    words = Words(yes="True", no="False")
    return table_of(key, "Operating points", _POINTS, result.points, words=words, section="results")


def _round_steps(test: StoredTest) -> Iterator[_RoundStep]:
    """Every step of every round as it ran, with its start on the drive's clock."""
    settings = test.settings_as(DemandSettings)
    hosts = round_hosts(test)
    demands = [settings.demand] * settings.pre_write_samples + list(settings.grid)
    for round_ in test.rounds:
        for index, (demand, step) in enumerate(zip(demands, round_.cells, strict=False), 1):
            phase = "pre-write" if index <= settings.pre_write_samples else "cell"
            yield _RoundStep(round_.index, index, phase, demand, step, hosts[round_.index])
