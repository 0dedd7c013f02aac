"""Drivers of programs: until steady, and for a time or an amount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.records import Round
from assay.window import (
    complete_samples,
    demand_window,
    is_complete,
    is_complete_round,
    is_verdict_sample,
    issued_bytes,
    measurement_window,
    saturation_window,
    verdict_sample,
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

Ending = Literal["steady", "round-limit", "time", "amount", "incomplete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A round or a program of samples that ran, and the verdict up to it.

    index : from 1. steps : what ran. window : None before five values.
    ended : why nothing follows, None where more does.
    """

    index: int
    steps: tuple[StepRecord, ...]
    window: MeasurementWindow | None
    ended: Ending | None


def until_steady(settings: LoopSettings, run_round: Callable[[int], Sequence[StepRecord]]) -> Iterator[Judged]:
    """Run rounds until all tracking cells are steady at once, or the round limit is reached.

    run_round : runs the cells of round ``index`` (from 1) and returns what they did, durably stored.
    Yields each round with its verdict. Stops after the first steady one, after the limit, or after one that is
    not complete.
    Source: PTS-E 1.1 IOPS pseudo code step 3; at most 25 rounds.
    """
    return _judged_rounds(
        settings.round_limit,
        run_round,
        complete=lambda steps: is_complete(steps, settings),
        judge=lambda done: measurement_window(done, settings),
    )


def until_demand_steady(settings: DemandSettings, run_round: Callable[[int], Sequence[StepRecord]]) -> Iterator[Judged]:
    """The same over a grid of demands, judged by the total IOPS of its tracking cell."""
    return _judged_rounds(
        settings.round_limit,
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
    A program ends at a verdict sample, or before where the time or the amount
    may be reached at the pace of the last five samples; the amount is exceeded by less than a sample, or by a few where
    a drive gets faster just then.
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
        ended = _sample_ending(settings, done, window)
        yield Judged(index=index, steps=steps, window=window, ended=ended)


def _judged_rounds(
    limit: int,
    run_round: Callable[[int], Sequence[StepRecord]],
    *,
    complete: Callable[[Sequence[StepRecord]], bool],
    judge: Callable[[Sequence[Round]], MeasurementWindow | None],
) -> Iterator[Judged]:
    done: list[Round] = []
    for index in range(1, limit + 1):
        steps = tuple(run_round(index))
        done.append(Round(index=index, cells=steps))
        whole = complete(steps)
        window = judge(done) if whole else None
        ended = _round_ending(index, limit, window, complete=whole)
        yield Judged(index=index, steps=steps, window=window, ended=ended)
        if ended:
            return


def _round_ending(index: int, limit: int, window: MeasurementWindow | None, *, complete: bool) -> Ending | None:
    if not complete:
        return "incomplete"
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
    if settings.stop in _BY_VERDICT and window and window.reached:
        return "steady"
    if settings.stop in _BY_AMOUNT and written_bytes(done) >= settings.amount_bytes:
        return "amount"
    return "time" if len(done) >= _sample_limit(settings) else None
