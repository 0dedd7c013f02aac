"""What a demand grid measured: its cells by round, its window, and its operating points."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from assay.engine.records import MeasurementWindow
from assay.procedures.families.grid.plan import DemandSettings
from assay.procedures.families.saturation.result import complete_samples, saturation_window, verdict_sample
from assay.results.captured import exact_times
from assay.results.ended import stored_error_count
from assay.results.finding import Finding
from assay.results.histogram import step_times
from assay.results.outcome import unsteady, verify_verdict, withheld_reason
from assay.results.stall import Tracked, is_whole_round
from assay.results.step import iops, latency_count, response_time
from assay.spec.steady import WINDOW_ROUNDS, exact_limit, steady_state
from assay.spec.units import MINUTE_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import Demand, Round, StepRecord, StoredSequence, StoredTest
    from assay.results.captured import ExactTimes
    from assay.results.histogram import ResponseTimes
    from assay.words.coded import Coded


CLOSE_SHARE = 0.05
"""IOPS of two operating points that are so close may change places."""


PointName = Literal["Max", "Mid", "Min"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandCell:
    """One cell of the grid over the measurement window.

    iops : average of its rounds, exact. latency_ms_mean : response time weighted by completions, exact.
    cpu_share : host CPU time of the stimulus per second, 1 being one CPU; None where it cannot be told.
    completed : I/Os.
    """

    demand: Demand
    iops: Fraction
    latency_ms_mean: Fraction
    cpu_share: float | None
    completed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """A point at which every completion is kept, with what its cell measured.

    below_limit : whether the average response time is below the limit.
    """

    name: PointName
    demand: Demand
    iops: float
    latency_ms_mean: float
    below_limit: bool


def cells_below(cells: Sequence[DemandCell], limit_ms: Fraction) -> list[DemandCell]:
    """Those whose average response time is below the limit. Worked: 4.9 and 5 ms with a limit of 5 ms -> the first."""
    return [cell for cell in cells if cell.latency_ms_mean < limit_ms]


def choose_points(cells: Sequence[DemandCell], limit_ms: Fraction) -> tuple[OperatingPoint, ...]:
    """Max, Mid and Min of a grid, by the rules at the head of this module."""
    measured = [cell for cell in cells if cell.completed]
    if not measured:
        return ()
    below = cells_below(measured, limit_ms)
    fastest = max(below, key=lambda cell: cell.iops) if below else min(measured, key=lambda cell: cell.latency_ms_mean)
    slowest = min(measured, key=lambda cell: cell.iops)
    middle = (fastest.iops + slowest.iops) / 2
    between = min(below or measured, key=lambda cell: (abs(cell.iops - middle), cell.latency_ms_mean))
    points: tuple[tuple[PointName, DemandCell], ...] = (("Max", fastest), ("Mid", between), ("Min", slowest))
    return tuple(
        OperatingPoint(
            name=name,
            demand=cell.demand,
            iops=float(cell.iops),
            latency_ms_mean=float(cell.latency_ms_mean),
            below_limit=cell in below,
        )
        for name, cell in points
    )


POINT_STEP = 1
"""The measured step of an operating point's sequence, behind the last pre-write sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRun:
    """What ran at an operating point.

    pre_write_iops : of each sample before. step : the measured step, None where it did not run.
    times : its counts; exact : percentiles from every completion, None where they were not kept or not read.
    """

    point: OperatingPoint
    pre_write_iops: tuple[float, ...]
    step: StepRecord | None
    times: ResponseTimes | None
    exact: ExactTimes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandResult:
    """All values of the pages of a test over a grid of demands.

    precondition_minutes, precondition_iops : of every complete sample. precondition_window : by verdict sample.
    rounds : numbers of the complete ones. pre_writes : IOPS of the samples before the cells, by round.
    by_round : IOPS of every cell in each round. window : the last five rounds, None before the fifth.
    cells : in the order they ran, empty where there is no window or the result is withheld.
    points : operating points and what ran there; likewise empty.
    withheld : why no result may be printed, None where it may.
    findings : what a reader must know before any of it.
    """

    precondition_minutes: tuple[float, ...]
    precondition_iops: tuple[float, ...]
    precondition_window: MeasurementWindow | None
    rounds: tuple[int, ...]
    pre_writes: dict[int, tuple[float, ...]]
    by_round: dict[Demand, tuple[float, ...]]
    window: MeasurementWindow | None
    cells: tuple[DemandCell, ...]
    points: tuple[PointRun, ...]
    error_count: int
    withheld: Coded | None
    findings: tuple[Finding, ...] = ()


def grid_label(settings: DemandSettings, demand: Demand) -> str:
    """Name a cell of the grid. Worked: ``"RND 8KiB 65/35 TC32-QD32"``."""
    return f"{settings.label} TC{demand.thread_count}-QD{demand.queue_depth}"


def total_oio(demand: Demand) -> int:
    """I/Os outstanding in all. Worked: TC 32, QD 4 -> 128."""
    return demand.thread_count * demand.queue_depth


def is_complete_round(steps: Sequence[StepRecord], settings: DemandSettings) -> bool:
    """Whether a round of pre-writes and cells may enter a verdict, by the rule of ``is_whole_round``."""
    count = settings.pre_write_samples + len(settings.grid)
    return is_whole_round(steps, settings, count=count, tracked=tracked_cells(steps, settings))


def tracked_cells(steps: Sequence[StepRecord], settings: DemandSettings) -> Iterator[Tracked]:
    """The tracking cell of a whole round; none of another."""
    if len(steps) == settings.pre_write_samples + len(settings.grid):
        place = settings.pre_write_samples + settings.grid.index(settings.tracking)
        yield Tracked(grid_label(settings, settings.tracking), steps[place])


def demand_window(rounds: Sequence[Round], settings: DemandSettings) -> MeasurementWindow | None:
    """Judge the last five rounds by the total IOPS of the tracking cell; None before five in a row.

    Source: SNIA PTS session 202-C (2013): TC 32 x QD 32.
    """
    last = rounds[-WINDOW_ROUNDS:]
    if len(last) < WINDOW_ROUNDS or last[-1].index - last[0].index != WINDOW_ROUNDS - 1:
        return None
    place = settings.pre_write_samples + settings.grid.index(settings.tracking)
    verdict = steady_state(
        tuple(round_.index for round_ in last),
        [iops(round_.cells[place]) for round_ in last],
        range_limit=exact_limit(settings.range_limit),
        slope_limit=exact_limit(settings.slope_limit),
    )
    label = grid_label(settings, settings.tracking)
    return MeasurementWindow(rounds=verdict.rounds, verdicts={label: verdict}, reached=verdict.steady)


def grid_cells(rounds: Sequence[Round], settings: DemandSettings) -> tuple[DemandCell, ...]:
    """Every cell of the grid over the last five rounds, in the order they ran; empty before the first round.

    Worked: five rounds of 1,000 I/Os in 1 s each -> 1,000 IOPS.
    """
    last = rounds[-WINDOW_ROUNDS:]
    if not last:
        return ()
    columns = zip(*(round_.cells[settings.pre_write_samples :] for round_ in last), strict=True)
    return tuple(_cell(demand, steps) for demand, steps in zip(settings.grid, columns, strict=True))


def operating_points(rounds: Sequence[Round], settings: DemandSettings) -> tuple[OperatingPoint, ...]:
    """Max, Mid and Min of the last five rounds, by the rules of ``operating_points``; empty without a completion.

    Source: SNIA PTS session 202-C (2013); what happens when no cell is below the limit is stated nowhere.
    Worked: cells of 100, 60 and 20 IOPS, all below the limit -> 100, 60 and 20.
    """
    return choose_points(grid_cells(rounds, settings), exact_limit(settings.art_limit_ms))


def demand_result(test: StoredTest) -> DemandResult:
    """Compute every value that the pages of a test over a grid of demands print from its stored steps.

    Raises VerificationError where a verdict in the run folder is not the one its rounds give.
    """
    settings = test.settings_as(DemandSettings)
    samples = complete_samples(test.steps("sample"))
    rounds = tuple(round_ for round_ in test.rounds if is_complete_round(round_.cells, settings))
    verify_verdict(test.verdict, _judged_again(test, samples, rounds))
    window, withheld = demand_window(rounds, settings), withheld_reason(test)
    printed = window is not None and withheld is None
    pre_writes = settings.pre_write_samples
    before = saturation_window(samples, settings.preconditioning)
    points = _point_runs(test, operating_points(rounds, settings)) if printed else ()
    return DemandResult(
        precondition_minutes=tuple(number * settings.sample_ns / MINUTE_NS for number in range(1, len(samples) + 1)),
        precondition_iops=tuple(float(iops(sample)) for sample in samples),
        precondition_window=before,
        rounds=tuple(round_.index for round_ in rounds),
        pre_writes={round_.index: _rates(round_.cells[:pre_writes]) for round_ in rounds},
        by_round={
            demand: tuple(float(iops(round_.cells[pre_writes + index])) for round_ in rounds)
            for index, demand in enumerate(settings.grid)
        },
        window=window,
        cells=grid_cells(rounds, settings) if printed else (),
        points=points,
        error_count=stored_error_count(test),
        withheld=withheld,
        findings=(
            *unsteady(before, len(samples), "sample", "preconditioning-missed"),
            *unsteady(window, len(rounds), "round"),
            *_above_limit(points, settings),
        ),
    )


def _above_limit(points: Sequence[PointRun], settings: DemandSettings) -> tuple[Finding, ...]:
    if not points or points[0].point.below_limit:
        return ()
    return (Finding(level="warn", reason=coded("art-missed", limit_ms=settings.art_limit_ms)),)


def by_total_oio(cells: Sequence[DemandCell]) -> tuple[tuple[int, float, float], ...]:
    """Total OIO, IOPS and average response time in ms, ascending; cells of equal total OIO are taken together.

    Their IOPS are averaged, their response times weighted by completions.
    Worked: 2 x 1 with 100 IOPS at 20 ms and 1 x 2 with 100 IOPS at 10 ms -> (2, 100, 15).
    """
    totals = sorted({total_oio(cell.demand) for cell in cells if cell.completed})
    groups = [[cell for cell in cells if total_oio(cell.demand) == total and cell.completed] for total in totals]
    return tuple(
        (
            total,
            float(sum(cell.iops for cell in group) / len(group)),
            float(sum(cell.latency_ms_mean * cell.completed for cell in group) / sum(cell.completed for cell in group)),
        )
        for total, group in zip(totals, groups, strict=True)
    )


def _cell(demand: Demand, steps: Sequence[StepRecord]) -> DemandCell:
    completed = sum(latency_count(step) for step in steps)
    summed = sum((response_time(step) * latency_count(step) for step in steps), Fraction(0))
    used = [step.cpu_ns for step in steps]
    known = [span for span in used if span is not None]
    return DemandCell(
        demand=demand,
        iops=sum((iops(step) for step in steps), Fraction(0)) / len(steps),
        latency_ms_mean=summed / max(completed, 1),
        cpu_share=sum(known) / sum(step.lead_in_ns + step.span_ns for step in steps)
        if len(known) == len(used)
        else None,
        completed=completed,
    )


def _rates(steps: Sequence[StepRecord]) -> tuple[float, ...]:
    return tuple(float(iops(step)) for step in steps)


def _judged_again(test: StoredTest, samples: Sequence[StepRecord], rounds: Sequence[Round]) -> MeasurementWindow | None:
    """The last stored verdict is one of the preconditioning until the fifth round is over."""
    settings = test.settings_as(DemandSettings)
    if test.verdict is None:
        return None
    if settings.preconditioning.label in test.verdict.verdicts:
        last = verdict_sample(test.verdict.rounds[-1], settings.preconditioning)
        return saturation_window(samples[:last], settings.preconditioning)
    return demand_window([round_ for round_ in rounds if round_.index <= test.verdict.rounds[-1]], settings)


def _point_runs(test: StoredTest, points: Sequence[OperatingPoint]) -> tuple[PointRun, ...]:
    return tuple(_point_run(test, index, point) for index, point in enumerate(points, 1))


def _point_run(test: StoredTest, index: int, point: OperatingPoint) -> PointRun:
    before = test.steps("pre-write", index)
    result = next(iter(test.stage("point", index)), None)
    times = dict(enumerate(step_times(result))).get(POINT_STEP) if result else None
    steps = result.steps if result else ()
    return PointRun(
        point=point,
        pre_write_iops=_rates([*before, *steps[:POINT_STEP]]),
        step=steps[POINT_STEP] if len(steps) > POINT_STEP else None,
        times=times,
        exact=_exact(result, times),
    )


def _exact(sequence: StoredSequence | None, times: ResponseTimes | None) -> ExactTimes | None:
    if sequence is None or times is None or sequence.captured is None:
        return None
    return exact_times(sequence.captured(POINT_STEP), times)
