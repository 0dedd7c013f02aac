"""When a write saturation ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.plan.until import RoundOutcome, TrackedValue
from assay.procedures.families.saturation.result import (
    SaturationSettings,
    complete_samples,
    is_verdict_sample,
    saturation_window,
    verdict_sample,
    written_bytes,
)
from assay.results.stall import Tracked, is_void, silent_cell, void_reason
from assay.results.step import iops, issued_bytes, ran_whole
from assay.spec.steady import WINDOW_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import MeasurementWindow, StepRecord, StepSequence
    from assay.plan.until import Judging, Until


SAMPLES_MAX = 7 * 24 * 60
"""A write saturation that only the drive can end is ended after a week of samples."""

RECENT_SAMPLES = 5
"""The pace at which an amount is reckoned to be reached is the largest of so many samples."""

BY_TIME, BY_AMOUNT, BY_VERDICT = {"first", "time", "rounds"}, {"first", "amount"}, {"first", "steady", "rounds"}


def until_saturated(settings: SaturationSettings, samples: Callable[[int, int, int], StepSequence]) -> Judging:
    """Ask for samples until the stop rule ends them: time, amount written, five-point rule, or the first of them.

    samples : sequence ``index`` (from 1) of ``count`` samples, the first of which is number ``first`` (from 1).
    Yields each sequence and then what is known behind it, with a verdict where it ends at a verdict sample; returns the
    last. A sequence ends at a verdict sample, or before where the time or the amount may be reached at the pace of the
    last five samples; the amount is exceeded by less than a sample, or by a few where a drive gets faster just then. A
    void sample makes the five-point rule begin anew behind it.
    Source: SNIA PTS session 202-C (2013) names the three ways; a published summary of PTS-E 1.1 takes the first.
    """
    done: list[StepRecord] = []
    last_samples: list[int] = []
    while True:
        index = len(last_samples) + 1
        sequence = samples(index, len(done) + 1, _next_count(settings, done))
        steps = tuple((yield sequence))
        done += steps
        last_samples.append(len(done))
        judging = is_verdict_sample(len(done), settings)
        window = saturation_window(complete_samples(done), settings) if judging else None
        silent = _silent_samples(settings, done) if judging else None
        ended = _sample_ending(settings, done, window)
        if silent and ended is None:
            ended = "no-completions"
        judged = RoundOutcome(
            stage=sequence.stage,
            index=index,
            steps=steps,
            window=window,
            values=_values(settings, steps),
            gathered=_gathered(settings, done),
            covered=_covered(settings, window, last_samples),
            void=void_reason(steps, settings),
            silent=silent,
            ended=ended,
        )
        yield judged
        if ended:
            return judged


def _values(settings: SaturationSettings, steps: Sequence[StepRecord]) -> tuple[TrackedValue, ...]:
    """The IOPS of the last sample, which is that of the verdict where there is one."""
    last = steps[-1]
    return (TrackedValue(settings.label, float(iops(last)), "IOPS"),) if ran_whole(last) else ()


def _gathered(settings: SaturationSettings, done: Sequence[StepRecord]) -> int:
    """Verdict samples since the last void one, up to five."""
    last_void = max((number for number, sample in enumerate(done, 1) if is_void(sample, settings)), default=0)
    verdicts = sum(is_verdict_sample(number, settings) for number in range(last_void + 1, len(done) + 1))
    return min(verdicts, WINDOW_ROUNDS)


def _covered(
    settings: SaturationSettings, window: MeasurementWindow | None, last_samples: Sequence[int]
) -> tuple[int, ...]:
    """The sequences of samples between the first and the last verdict sample of a window.

    last_samples : of each sequence so far. Worked: sequences of 31 samples and a window of the 31st to the 155th -> the
    first five.
    """
    if window is None:
        return ()
    first, last = (verdict_sample(number, settings) for number in (window.rounds[0], window.rounds[-1]))
    begins = [1, *(sample + 1 for sample in last_samples)]
    ends = zip(begins, last_samples, strict=False)
    return tuple(index for index, (begin, end) in enumerate(ends, 1) if end >= first and begin <= last)


def _silent_samples(settings: SaturationSettings, done: Sequence[StepRecord]) -> Tracked | None:
    """The last sample where no I/O completed in any since the last but one of the rule that can end the test.

    A single empty one is none: samples follow each other without a gap, and a deep queue fills before it drains.
    """
    recent = done[-settings.samples_per_verdict :]
    whole = len(recent) == settings.samples_per_verdict and len(complete_samples(recent)) == len(recent)
    if settings.stop not in BY_VERDICT or not whole or any(is_void(sample, settings) for sample in recent):
        return None
    samples = [silent_cell([Tracked(settings.label, sample)]) for sample in recent]
    return samples[-1] if all(samples) else None


def _next_count(settings: SaturationSettings, done: Sequence[StepRecord]) -> int:
    """Samples of the next sequence: to the next verdict, the time limit, or where the amount may be reached."""
    every = settings.samples_per_verdict
    to_verdict = every - (len(done) - verdict_sample(1, settings)) % every
    counts = [to_verdict, _sample_limit(settings) - len(done)]
    if settings.stop in BY_AMOUNT:
        recent = done[-RECENT_SAMPLES:]
        largest = max((issued_bytes(sample.write) for sample in recent), default=settings.amount_bytes)
        counts.append((settings.amount_bytes - written_bytes(done)) // max(largest, 1))
    return max(min(counts), 1)


def _sample_limit(settings: SaturationSettings) -> int:
    return max(round(settings.time_ns / settings.sample_ns), 1) if settings.stop in BY_TIME else SAMPLES_MAX


def _sample_ending(
    settings: SaturationSettings, done: Sequence[StepRecord], window: MeasurementWindow | None
) -> Until | None:
    if len(complete_samples(done)) < len(done):
        return "incomplete"
    if sum(is_void(sample, settings) for sample in done) > settings.void_limit:
        return "stalled"
    if settings.stop in BY_VERDICT and window and window.reached:
        return "steady"
    if settings.stop in BY_AMOUNT and written_bytes(done) >= settings.amount_bytes:
        return "amount"
    return "time" if len(done) >= _sample_limit(settings) else None
