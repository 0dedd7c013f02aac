"""Drivers of programs: until steady, and for a time or an amount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.records import Round
from assay.window import (
    complete_samples,
    demand_window,
    error_count,
    is_complete,
    is_complete_round,
    is_verdict_sample,
    is_void,
    issued_bytes,
    measurement_window,
    saturation_window,
    silent_cell,
    verdict_sample,
    void_reason,
    written_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.records import DemandSettings, LoopSettings, MeasurementWindow, SaturationSettings, StepRecord

SAMPLES_MAX = 7 * 24 * 60
"""A write saturation that only the drive can end is ended after a week of samples."""

RECENT_SAMPLES = 5
"""The pace at which an amount is reckoned to be reached is the largest of so many samples."""

_BY_TIME, _BY_AMOUNT, _BY_VERDICT = {"first", "time", "rounds"}, {"first", "amount"}, {"first", "steady", "rounds"}

Ending = Literal["steady", "round-limit", "time", "amount", "incomplete", "stalled", "no-completions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A round or a program of samples that ran, and the verdict up to it.

    index : from 1. steps : what ran. window : None before five values.
    void : why it enters no verdict, None where it may. silent : the tracking cell in which no I/O completed, None where
    each has a value. ended : why nothing follows, None where more does.
    """

    index: int
    steps: tuple[StepRecord, ...]
    window: MeasurementWindow | None
    ended: Ending | None
    void: str | None = None
    silent: str | None = None


def until_steady(settings: LoopSettings, run_round: Callable[[int], Sequence[StepRecord]]) -> Iterator[Judged]:
    """Run rounds until all tracking cells are steady at once, or the round limit is reached.

    run_round : runs the cells of round ``index`` (from 1) and returns what they did, durably stored.
    Yields each round with its verdict. Stops after the first steady one, after the limit, after one that is not
    complete, or after one in which no I/O of a tracking cell completed; a void one is left out, and the window begins
    anew behind it, as often as the settings allow.
    Source: PTS-E 1.1 IOPS pseudo code step 3; at most 25 rounds.
    """
    return _judged_rounds(
        settings,
        run_round,
        complete=lambda steps: is_complete(steps, settings),
        judge=lambda done: measurement_window(done, settings),
    )


def until_demand_steady(settings: DemandSettings, run_round: Callable[[int], Sequence[StepRecord]]) -> Iterator[Judged]:
    """The same over a grid of demands, judged by the total IOPS of its tracking cell."""
    return _judged_rounds(
        settings,
        run_round,
        complete=lambda steps: is_complete_round(steps, settings),
        judge=lambda done: demand_window(done, settings),
    )


def until_saturated(
    settings: SaturationSettings, run_samples: Callable[[int, int], Sequence[StepRecord]]
) -> Iterator[Judged]:
    """Run samples until the stop rule ends them: time, amount written, five-point rule, or the first of them.

    run_samples : runs program ``index`` (from 1) of ``count`` samples and returns what they did, durably stored.
    Yields each program, with a verdict where it ends at a verdict sample.
    A program ends at a verdict sample, or before where the time or the amount may be reached at the pace of the last
    five samples; the amount is exceeded by less than a sample, or by a few where a drive gets faster just then. A void
    sample makes the five-point rule begin anew behind it.
    Source: SNIA PTS session 202-C (2013) names the three ways; a published summary of PTS-E 1.1 takes the first.
    """
    done: list[StepRecord] = []
    index = 0
    ended: Ending | None = None
    while ended is None:
        index += 1
        steps = tuple(run_samples(index, _next_count(settings, done)))
        done += steps
        judging = is_verdict_sample(len(done), settings)
        window = saturation_window(complete_samples(done), settings) if judging else None
        silent = _silent_samples(settings, done) if judging else None
        ended = _sample_ending(settings, done, window)
        if silent and ended is None:
            ended = "no-completions"
        yield Judged(
            index=index, steps=steps, window=window, void=void_reason(steps, settings), silent=silent, ended=ended
        )


def _judged_rounds(
    settings: LoopSettings | DemandSettings,
    run_round: Callable[[int], Sequence[StepRecord]],
    *,
    complete: Callable[[Sequence[StepRecord]], bool],
    judge: Callable[[Sequence[Round]], MeasurementWindow | None],
) -> Iterator[Judged]:
    done: list[Round] = []
    void_count = 0
    for index in range(1, settings.round_limit + 1):
        steps = tuple(run_round(index))
        void = void_reason(steps, settings)
        void_count += void is not None
        silent = None if void else _silent_round(settings, steps)
        whole = complete(steps)
        if whole:
            done.append(Round(index=index, cells=steps))
        window = judge(done) if whole else None
        ended: Ending | None = "incomplete"
        if void_count > settings.void_limit:
            ended = "stalled"
        elif silent:
            ended = "no-completions"
        elif whole or void:
            ended = _round_ending(index, settings.round_limit, window)
        yield Judged(index=index, steps=steps, window=window, void=void, silent=silent, ended=ended)
        if ended:
            return


def _silent_round(settings: LoopSettings | DemandSettings, steps: Sequence[StepRecord]) -> str | None:
    """The tracking cell without a completion in a round that ran to its end."""
    whole = all(step.ended == "stop-rule" and not error_count(step) for step in steps)
    return silent_cell(steps, settings) if whole else None


def _silent_samples(settings: SaturationSettings, done: Sequence[StepRecord]) -> str | None:
    """The same of all samples since the last but one of the rule that can end the test.

    A single empty one is none: samples follow each other without a gap, and a deep queue fills before it drains.
    """
    recent = done[-settings.samples_per_verdict :]
    whole = len(recent) == settings.samples_per_verdict and len(complete_samples(recent)) == len(recent)
    if settings.stop not in _BY_VERDICT or not whole or any(is_void(sample, settings) for sample in recent):
        return None
    found = [silent_cell([sample], settings) for sample in recent]
    return found[-1] if all(found) else None


def _round_ending(index: int, limit: int, window: MeasurementWindow | None) -> Ending | None:
    if window and window.reached:
        return "steady"
    return "round-limit" if index == limit else None


def _next_count(settings: SaturationSettings, done: Sequence[StepRecord]) -> int:
    """Samples of the next program: to the next verdict, the time limit, or where the amount may be reached."""
    every = settings.samples_per_verdict
    to_verdict = every - (len(done) - verdict_sample(1, settings)) % every
    counts = [to_verdict, _sample_limit(settings) - len(done)]
    if settings.stop in _BY_AMOUNT:
        recent = done[-RECENT_SAMPLES:]
        largest = max((issued_bytes(sample.write) for sample in recent), default=settings.amount_bytes)
        counts.append((settings.amount_bytes - written_bytes(done)) // max(largest, 1))
    return max(min(counts), 1)


def _sample_limit(settings: SaturationSettings) -> int:
    return max(round(settings.time_ns / settings.sample_ns), 1) if settings.stop in _BY_TIME else SAMPLES_MAX


def _sample_ending(
    settings: SaturationSettings, done: Sequence[StepRecord], window: MeasurementWindow | None
) -> Ending | None:
    if len(complete_samples(done)) < len(done):
        return "incomplete"
    if sum(is_void(sample, settings) for sample in done) > settings.void_limit:
        return "stalled"
    if settings.stop in _BY_VERDICT and window and window.reached:
        return "steady"
    if settings.stop in _BY_AMOUNT and written_bytes(done) >= settings.amount_bytes:
        return "amount"
    return "time" if len(done) >= _sample_limit(settings) else None
