"""What a test loop measured: its cells by round, its measurement window, its matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.engine.records import MeasurementWindow
from assay.procedures.families.loop.open_loop import missed_rates, window_sequences
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.values import LoopResult
from assay.results.ended import stored_error_count
from assay.results.histogram import merged, percentiles, step_times
from assay.results.outcome import unsteady, verify_verdict, withheld_reason
from assay.results.silent import Tracked, is_whole_round
from assay.results.step import cell_label, iops, max_latency_ns, mean_and_max_ms, response_time, throughput
from assay.spec.steady import WINDOW_ROUNDS, exact_limit, steady_state
from assay.spec.units import MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from assay.engine.records import Cell, Round, StepRecord, StoredTest
    from assay.results.histogram import ResponseTimes

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
