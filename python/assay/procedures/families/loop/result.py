"""What a test loop measured: its cells by round, its window and matrix, its rates, and how far rounds lie apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from assay.engine.records import MeasurementWindow
from assay.procedures.families.loop.plan import LoopSettings
from assay.results.ended import stored_error_count
from assay.results.finding import Finding, Level, at_least
from assay.results.histogram import BEYOND_MIN, intended_times, merged, percentiles, step_times
from assay.results.outcome import unsteady, verify_verdict, withheld_reason
from assay.results.stall import Tracked, is_whole_round
from assay.results.step import (
    cell_label,
    iops,
    latency_count,
    max_latency_ns,
    mean_and_max_ms,
    rate_count,
    response_time,
    throughput,
)
from assay.spec.steady import WINDOW_ROUNDS, exact_limit, steady_state
from assay.spec.units import MILLISECOND_NS, SECOND_NS, count_label
from assay.words.coded import coded
from assay.words.printed import milliseconds_text, mix_label, one_decimal, rounds_label
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.engine.records import Cell, Demand, Round, StepRecord, StoredSequence, StoredTest
    from assay.results.histogram import ResponseTimes
    from assay.words.coded import Coded


ACHIEVED_PASS, ACHIEVED_INVALID = Fraction(99, 100), Fraction(95, 100)
"""Share of the offered I/Os: from the first on a cell passes; below the second it shows another load than asked for."""

IN_FLIGHT_ALLOWED = Fraction(3, 2)
"""Of the mean outstanding I/Os, at the end of each step; a growing backlog ends at twice its mean or more."""

OPEN_LOOP_SHARES = (0.99, 0.999, 0.9999)
"""Percentiles that are given of both latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedRate:
    """What was offered to a cell over the measurement window, and what of it was carried out.

    offered_per_s : I/Os that were due. achieved_per_s : completed, as IOPS count them. share : of the offered.
    level : ``unknown`` where the step is too short to tell: fewer than ten I/Os are missing, or fewer than 1.5 times
    the mean of those outstanding, which a rate that is kept up leaves in flight at the end. (A backlog that grows
    evenly ends at twice its mean.)
    """

    offered_per_s: float
    achieved_per_s: float
    share: float
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyTimes:
    """Latencies in ms over the measurement window, as ``WindowTimes`` has them; None where no I/O completed."""

    latency_ms_mean: float | None
    percentiles_ms: dict[float, float | None]
    latency_ms_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoopTimes:
    """Latencies of the same I/Os of a cell: service from submission, intended from when they were due."""

    service: LatencyTimes
    intended: LatencyTimes


def offered_rates(test: StoredTest, result: LoopResult) -> dict[Cell, OfferedRate]:
    """The rate of every cell over the measurement window; empty in a closed loop and without a result.

    Worked: 300,000 offered in 60 s and 290,000 completed at 8 outstanding -> share 0.967, ``warn``.
    """
    demand = test.settings.demand
    if demand.arrivals_per_s is None:
        return {}
    sequences = window_sequences(test, result)
    return {
        cell: _rate([sequence.steps[index] for sequence in sequences], demand)
        for index, cell in enumerate(test.settings_as(LoopSettings).cells)
        if sequences
    }


def open_loop_times(test: StoredTest, result: LoopResult) -> dict[Cell, OpenLoopTimes]:
    """Both latencies of every cell over the measurement window; empty in a closed loop and without a result.

    Worked: an I/O due at 0, issued at 2 ms and back at 3 ms has a service latency of 1 ms and an intended one of 3 ms.
    """
    if test.settings.demand.arrivals_per_s is None:
        return {}
    sequences = window_sequences(test, result)
    service, intended = ([take(sequence) for sequence in sequences] for take in (step_times, intended_times))
    return {
        cell: _times(
            [sequence.steps[index] for sequence in sequences], _placed(service, index), _placed(intended, index)
        )
        for index, cell in enumerate(test.settings_as(LoopSettings).cells)
        if sequences
    }


def missed_rates(test: StoredTest, result: LoopResult) -> tuple[Finding, ...]:
    """The cells that show another load than was asked for, as one finding; none where every rate was kept up.

    Worked: 2 of 9 cells below 95 % -> ``"OFFERED RATE NOT REACHED in 2 of 9 cells"``.
    """
    rates = offered_rates(test, result).values()
    missed = sum(rate.level == "invalid" for rate in rates)
    reason = coded("offer-missed", missed=missed, count=len(rates))
    return (Finding(level="warn", reason=reason),) if missed else ()


def window_sequences(test: StoredTest, result: LoopResult) -> list[StoredSequence]:
    """The rounds of the measurement window; none where there is no result."""
    if not result.matrix or result.window is None:
        return []
    return [sequence for sequence in test.stage("round") if sequence.index in result.window.rounds]


def _rate(steps: Sequence[StepRecord], demand: Demand) -> OfferedRate:
    offered = sum(_offered(step, demand) for step in steps)
    completed = sum(rate_count(step) for step in steps)
    achieved = min(completed, offered)
    span = Fraction(max(sum(step.span_ns for step in steps), 1), SECOND_NS)
    in_flight = sum((Fraction(step.outstanding_ns, max(step.span_ns, 1)) for step in steps), Fraction(0))
    share = Fraction(achieved, offered) if offered else Fraction(1)
    return OfferedRate(
        offered_per_s=float(offered / span),
        achieved_per_s=float(achieved / span),
        share=float(share),
        level=_level(share, offered - achieved, in_flight),
    )


def _offered(step: StepRecord, demand: Demand) -> int:
    """I/Os due in [0, T); one that is due at T sharp has no time left."""
    due = step.offered_io_count or 0
    if demand.arrival_process == "poisson" or demand.arrivals_per_s is None:
        return due
    before_end = -(-Fraction(demand.arrivals_per_s) * step.span_ns // SECOND_NS)
    return min(due, int(before_end))


def _level(share: Fraction, missing: int, in_flight: Fraction) -> Level:
    level = at_least(share, ACHIEVED_PASS, ACHIEVED_INVALID)
    told = missing >= BEYOND_MIN and missing >= IN_FLIGHT_ALLOWED * in_flight
    return level if told or level == "pass" else "unknown"


def _placed(sequences: list[list[ResponseTimes]], index: int) -> ResponseTimes | None:
    """One cell's counts, merged over the rounds; None where they were not read."""
    result = [steps[index] for steps in sequences if steps]
    return merged(result) if result else None


def _times(steps: Sequence[StepRecord], service: ResponseTimes | None, intended: ResponseTimes | None) -> OpenLoopTimes:
    both = [direction for step in steps for direction in step.sides]
    count = sum(latency_count(step) for step in steps)
    issued = [largest for step in steps if (largest := max_latency_ns(step)) is not None]
    due = [largest for one in both if (largest := one.intended_ns_max) is not None]
    return OpenLoopTimes(
        service=_latency(sum(one.latency_ns_sum for one in both), count, issued, service),
        intended=_latency(sum(one.intended_ns_sum or 0 for one in both), count, due, intended),
    )


def _latency(sum_ns: int, count: int, maxima_ns: Sequence[int], times: ResponseTimes | None) -> LatencyTimes:
    return LatencyTimes(
        latency_ms_mean=sum_ns / count / MILLISECOND_NS if count else None,
        percentiles_ms=percentiles(times, OPEN_LOOP_SHARES) if times else {},
        latency_ms_max=max(maxima_ns) / MILLISECOND_NS if maxima_ns else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """All values of the pages of a loop test, in its own variable: IOPS, MB/s or ms.

    rounds : the real numbers of the complete rounds. by_round : the variable of every cell in each of them.
    window : the last five of them, None where fewer ran. matrix : average over the window per cell that completed an
    I/O; empty where there is no window or the result is withheld. error_count : failed I/Os in everything stored.
    withheld : why no result may be printed whatever the rounds say, None where it may.
    findings : what a reader must know before any of it.
    """

    rounds: tuple[int, ...]
    by_round: dict[Cell, tuple[float, ...]]
    window: MeasurementWindow | None
    matrix: dict[Cell, float]
    error_count: int
    withheld: Coded | None
    findings: tuple[Finding, ...] = ()

    def window_values(self, cell: Cell) -> tuple[float, ...]:
        """The rounds that a cell's average in the matrix is that of; empty for one that has none."""
        return self.by_round[cell][-WINDOW_ROUNDS:] if cell in self.matrix else ()


def headline_window(result: LoopResult) -> MeasurementWindow | None:
    """Return the window whose numbers may be printed: None where they are withheld or before five rounds."""
    return None if result.withheld else result.window


def no_window_reason(result: LoopResult) -> str:
    """Say why the window's numbers are printed n/a. Worked: ``"n/a: 3 I/O errors in the test"``."""
    if result.withheld:
        return text(coded("withheld", reason=result.withheld))
    return f"n/a: {count_label(len(result.rounds), 'complete round')}, a measurement window needs five"


def rounds_origin(result: LoopResult, what: str) -> str:
    """Say what rounds a number comes from, or why there is none."""
    window = headline_window(result)
    return f"{what} rounds {rounds_label(window.rounds)}." if window else no_window_reason(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Names of a variable, and how a value is printed.

    axis : of plots. noun : in boxes and tables. spoken : in sentences. column : in CSV and JSON.
    Worked: IOPS 3147.046 -> ``"3,147.0"``; a response time of 0.35 ms -> ``"0.350"``, of 0.0021049 -> ``"0.00210"``.
    """

    axis: str
    noun: str
    spoken: str
    column: str
    text: Callable[[float], str]


_SHOWN = {
    "iops": Shown(axis="IOPS", noun="IOPS", spoken="IOPS", column="iops", text=one_decimal),
    "throughput": Shown(
        axis="Throughput (MB/s)", noun="MB/s", spoken="throughput", column="mb_per_s", text=one_decimal
    ),
    "latency": Shown(
        axis="Time (ms)",
        noun="Latency (ms)",
        spoken="the average response time",
        column="latency_ms_mean_of_rounds",
        text=milliseconds_text,
    ),
}


def shown(settings: LoopSettings) -> Shown:
    """How a test's variable is printed."""
    return _SHOWN[settings.variable]


VARIABLES = {"iops": iops, "throughput": throughput, "latency": response_time}
UNITS = {"iops": "IOPS", "throughput": "MB/s", "latency": "ms"}
"""How a value of each is printed where it stands alone."""


def cell_values(round_: Round, settings: LoopSettings) -> dict[Cell, Fraction]:
    """The test's variable (IOPS, MB/s or ms) in every cell of one round."""
    value = VARIABLES[settings.variable]
    return {cell: value(record) for cell, record in zip(settings.cells, round_.cells, strict=True)}


def measurement_window(rounds: Sequence[Round], settings: LoopSettings) -> MeasurementWindow | None:
    """Judge the last five rounds by all tracking cells at once.

    rounds : the complete rounds so far, in order. Returns None before the fifth, and until five follow a void one.
    Source: PTS-E 1.1 IOPS pseudo code step 3; PTS 2.0.2 section 7.2 (three cells at once).
    """
    last = rounds[-WINDOW_ROUNDS:]
    if len(last) < WINDOW_ROUNDS or last[-1].index - last[0].index != WINDOW_ROUNDS - 1:
        return None
    by_round = [cell_values(round_, settings) for round_ in last]
    indexes = tuple(round_.index for round_ in last)
    verdicts = {
        cell_label(cell, settings.access): steady_state(
            indexes,
            [values[cell] for values in by_round],
            range_limit=exact_limit(settings.range_limit),
            slope_limit=exact_limit(settings.slope_limit),
        )
        for cell in settings.tracking
    }
    return MeasurementWindow(
        rounds=indexes, verdicts=verdicts, reached=all(verdict.steady for verdict in verdicts.values())
    )


def loop_result(test: StoredTest) -> LoopResult:
    """Compute every value that a loop test's pages print from the stored steps.

    Raises VerificationError where the verdict in the run folder is not the one its rounds give.
    Worked: five rounds of 100, 110, 90, 100, 100 IOPS in a cell -> matrix 100.0.
    """
    settings, complete = test.settings_as(LoopSettings), complete_rounds(test)
    judged = [round_ for round_ in complete if test.verdict and round_.index in test.verdict.rounds]
    verify_verdict(test.verdict, measurement_window(judged, settings))
    tables = [cell_values(round_, settings) for round_ in complete]
    window, withheld = measurement_window(complete, settings), withheld_reason(test)
    result = LoopResult(
        rounds=tuple(round_.index for round_ in complete),
        by_round={cell: tuple(float(table[cell]) for table in tables) for cell in settings.cells},
        window=window,
        matrix=_window_average(tables, settings) if window and not withheld else {},
        error_count=stored_error_count(test),
        withheld=withheld,
    )
    steady = unsteady(window, len(result.rounds), "round") if settings.steady_required else ()
    return replace(result, findings=(*steady, *missed_rates(test, result)))


def complete_rounds(test: StoredTest) -> tuple[Round, ...]:
    """The stored rounds that may enter a verdict; others were cut short, are void or saw an I/O fail."""
    return tuple(round_ for round_ in test.rounds if is_complete(round_.cells, test.settings_as(LoopSettings)))


def is_complete(cells: Sequence[StepRecord], settings: LoopSettings) -> bool:
    """Whether a round may enter a verdict, by the rule of ``is_whole_round``."""
    return is_whole_round(cells, settings, count=len(settings.cells), tracked=tracked_cells(cells, settings))


def tracked_cells(steps: Sequence[StepRecord], settings: LoopSettings) -> Iterator[Tracked]:
    """The tracking cells of a whole round; none of another."""
    if len(steps) == len(settings.cells):
        placed = dict(zip(settings.cells, steps, strict=True))
        late = settings.variable == "latency"
        yield from (Tracked(cell_label(cell, settings.access), placed[cell], late) for cell in settings.tracking)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyMaxima:
    """Maximum response times in ms. by_round : of every cell in each round. largest : of the window.

    mean_of_maxima : the mean of the window's five maxima, which is no maximum. Empty where there is no result.
    """

    by_round: dict[Cell, tuple[float, ...]]
    largest: dict[Cell, float]
    mean_of_maxima: dict[Cell, float]


def latency_maxima(test: StoredTest, result: LoopResult) -> LatencyMaxima:
    """The maximum response time of every cell, per round and over the window.

    Worked: maxima of 1, 2, 3, 4 and 10 ms in the window -> largest 10, mean of maxima 4.
    """
    cells, rounds = test.settings_as(LoopSettings).cells, complete_rounds(test)
    by_round = {
        cell: tuple((max_latency_ns(round_.cells[index]) or 0) / MILLISECOND_NS for round_ in rounds)
        for index, cell in enumerate(cells)
    }
    last = {cell: by_round[cell][-WINDOW_ROUNDS:] for cell in cells if cell in result.matrix}
    return LatencyMaxima(
        by_round=by_round,
        largest={cell: max(values) for cell, values in last.items()},
        mean_of_maxima={cell: sum(values) / len(values) for cell, values in last.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowTimes:
    """Response times of one cell over the measurement window, with its rate.

    iops : average of the five rounds. latency_ms_mean : by completions. percentiles_ms : by share, None where fewer
    than ten I/Os lie beyond; empty where the histograms were not read. The latencies are None where no I/O
    completed.
    """

    iops: float
    latency_ms_mean: float | None
    percentiles_ms: dict[float, float | None]
    latency_ms_max: float | None


def window_times(test: StoredTest, result: LoopResult) -> dict[Cell, WindowTimes]:
    """The response times of every cell over the measurement window, histograms merged; empty without a result.

    Worked: five rounds of 1,000 I/Os in a cell, four of them at 1 ms and one at 2 ms -> 1.2 ms on average.
    """
    sequences = window_sequences(test, result)
    times = [step_times(sequence) for sequence in sequences]
    return {
        cell: _window_times(
            [sequence.steps[index] for sequence in sequences], [steps[index] for steps in times if steps]
        )
        for index, cell in enumerate(test.settings_as(LoopSettings).cells)
        if sequences
    }


def _window_times(steps: Sequence[StepRecord], times: Sequence[ResponseTimes]) -> WindowTimes:
    mean_ms, max_ms = mean_and_max_ms(steps)
    return WindowTimes(
        iops=float(sum(iops(step) for step in steps) / len(steps)),
        latency_ms_mean=mean_ms,
        percentiles_ms=percentiles(merged(times)) if times else {},
        latency_ms_max=max_ms,
    )


def _window_average(tables: list[dict[Cell, Fraction]], settings: LoopSettings) -> dict[Cell, float]:
    """The average of every cell; one in which no I/O completed has none."""
    last = tables[-WINDOW_ROUNDS:]
    sums = {cell: sum(table[cell] for table in last) for cell in settings.cells}
    return {cell: float(total / WINDOW_ROUNDS) for cell, total in sums.items() if total}


_SEVERAL = 3
_ODD_SHARE = 0.25
MOVED_SHARE = 0.2
"""A cell that is not tracked is marked where greatest less least is more than this share of its average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One cell over the five rounds of the window, in the test's own variable.

    least, greatest : of the rounds. variation : sample standard deviation over the mean, a share.
    apart : greatest less least over the mean. moved : the cell is not tracked, and that is more than 20 %.
    odd : the round that alone is off, where the four others lie within a quarter of that; others : their mean.
    last : that is the last round, behind which none tells whether it stays so.
    """

    least: float
    greatest: float
    variation: float
    apart: float
    moved: bool
    odd: int | None = None
    others: float | None = None
    last: bool = False

    def off(self, before: str = "") -> str:
        """The round that alone is off, in words. before : the preconditioning that the first round follows, if any.

        Worked: the fifth of five -> ``"round 5, the last, alone is off"``.
        """
        place = ", the last," if self.last else ""
        if before and self.odd == 1:
            place = f", the first after preconditioning by {before},"
        return f"round {self.odd}{place} alone is off"


def cell_spreads(result: LoopResult, settings: LoopSettings) -> dict[Cell, Spread]:
    """The spread of every cell that has an average; empty where nothing may be printed.

    Worked: rounds of 279, 162, 159, 158 and 158 IOPS -> 158 to 279, variation 0.292, moved; of the first round alone,
    as the others lie within 158 to 162, 159.25 on average.
    """
    return {
        cell: _spread(result.window_values(cell), result.rounds, tracked=cell in settings.tracking)
        for cell in settings.cells
        if cell in result.matrix
    }


def moved_where(spreads: Mapping[Cell, Spread]) -> str:
    """The mix at which most of several cells moved; empty where no mix has more than half of them.

    Worked: six cells of 65/35 and one of 95/5 -> ``"6 of 7 at 65/35"``.
    """
    result = Counter(cell.read_pct for cell, one in spreads.items() if one.moved)
    if result.total() < _SEVERAL:
        return ""
    ((read_pct, count),) = result.most_common(1)
    return f"{count} of {result.total()} at {mix_label(read_pct)}" if 2 * count > result.total() else ""


def moved_when(spreads: Mapping[Cell, Spread], before: str = "") -> str:
    """The round that alone is off in most of several cells that moved; empty where none is in more than half of them.

    before : the preconditioning that the first round follows, if any. Worked: six of seven cells in round 1, behind
    ``SEQ 128KiB W`` -> ``"round 1, the first after preconditioning by SEQ 128KiB W, alone is off in 6 of 7"``.
    """
    moved = [spread for spread in spreads.values() if spread.moved]
    result = Counter(one.odd for one in moved if one.odd is not None)
    if not result:
        return ""
    ((number, count),) = result.most_common(1)
    if 2 * count <= len(moved):
        return ""
    off = next(one for one in moved if one.odd == number).off(before)
    return f"{off} in {count} of {len(moved)}"


def moved_places(
    spreads: Mapping[Cell, Spread], sizes: Sequence[int], mixes: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """The places of the cells that moved among sizes and mixes, from 0.

    Worked: of sizes 4 and 8 KiB and mixes 0 and 100, the reads of 8 KiB -> ``((1, 1),)``.
    """
    moved = [cell for cell, one in spreads.items() if one.moved]
    return tuple((sizes.index(cell.transfer_bytes), mixes.index(cell.read_pct)) for cell in moved)


def _odd(values: tuple[float, ...], rounds: Sequence[int]) -> tuple[int, float] | tuple[None, None]:
    """The round that alone is off, and the mean of the others."""
    least, *_, greatest = sorted(values)
    for odd in (least, greatest):
        place = values.index(odd)
        others = values[:place] + values[place + 1 :]
        if max(others) - min(others) <= _ODD_SHARE * (greatest - least):
            return rounds[-len(values) :][place], fmean(others)
    return None, None


def _spread(values: tuple[float, ...], rounds: Sequence[int], *, tracked: bool) -> Spread:
    mean, least, greatest = fmean(values), min(values), max(values)
    moved = not tracked and greatest - least > MOVED_SHARE * mean
    odd, others = _odd(values, rounds) if moved else (None, None)
    return Spread(
        least=least,
        greatest=greatest,
        variation=stdev(values) / mean,
        apart=(greatest - least) / mean,
        moved=moved,
        odd=odd,
        others=others,
        last=odd == rounds[-1],
    )
