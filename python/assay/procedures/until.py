"""What tests do until something holds: rounds until steady, samples for a time, an amount, or until steady.

Each is a generator that yields the sequences to be run, is sent what they did, durably stored, and yields a verdict
behind each of them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.procedures.grid.result import demand_window, is_complete_round
from assay.procedures.loop.result import is_complete, measurement_window
from assay.procedures.saturation.result import (
    complete_samples,
    is_verdict_sample,
    saturation_window,
    verdict_sample,
    written_bytes,
)
from assay.records import Purge, Round, SetCache, StepRecord, StepSequence, Trim
from assay.window import error_count, is_void, issued_bytes, silent_cell, void_reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.records import DemandSettings, LoopSettings, MeasurementWindow, SaturationSettings

SAMPLES_MAX = 7 * 24 * 60
"""A write saturation that only the drive can end is ended after a week of samples."""

RECENT_SAMPLES = 5
"""The pace at which an amount is reckoned to be reached is the largest of so many samples."""

_BY_TIME, _BY_AMOUNT, _BY_VERDICT = {"first", "time", "rounds"}, {"first", "amount"}, {"first", "steady", "rounds"}

Until = Literal["steady", "round-limit", "time", "amount", "incomplete", "stalled", "no-completions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A round or a sequence of samples that ran, and the verdict up to it.

    stage, index : of the sequence. steps : what ran. window : None before five values.
    complete : the complete rounds so far. covered : indexes of the sequences of this stage that the window is of; empty
    without one.
    void : why it enters no verdict, None where it may. silent : the tracking cell in which no I/O completed, None where
    each has a value. ended : why nothing follows, None where more does.
    """

    stage: str
    index: int
    steps: tuple[StepRecord, ...]
    window: MeasurementWindow | None
    ended: Until | None
    complete: tuple[Round, ...] = ()
    covered: tuple[int, ...] = ()
    void: str | None = None
    silent: str | None = None


Action = StepSequence | Purge | Trim | SetCache | Judged
"""What a test asks of its run: a sequence to be run, or an act between two of them; or a verdict, to be stored."""

Records = Sequence[StepRecord]
"""What is sent back for a sequence; nothing for all else."""

Judging = Generator[Action, Records, Judged]


def until_steady(settings: LoopSettings, round_sequence: Callable[[int], StepSequence]) -> Judging:
    """Ask for rounds until all tracking cells are steady at once, or the round limit is reached.

    round_sequence : the sequence of the cells of round ``index``, from 1.
    Yields each round and then its verdict; returns the last. Ends after the first steady one, after the limit, after
    one that is not complete, or after one in which no I/O of a tracking cell completed; a void one is left out, and the
    window begins anew behind it, as often as the settings allow.
    Source: PTS-E 1.1 IOPS pseudo code step 3; at most 25 rounds.
    """
    return _judged_rounds(
        settings,
        round_sequence,
        complete=lambda steps: is_complete(steps, settings),
        judge=lambda done: measurement_window(done, settings),
    )


def until_demand_steady(settings: DemandSettings, round_sequence: Callable[[int], StepSequence]) -> Judging:
    """The same over a grid of demands, judged by the total IOPS of its tracking cell."""
    return _judged_rounds(
        settings,
        round_sequence,
        complete=lambda steps: is_complete_round(steps, settings),
        judge=lambda done: demand_window(done, settings),
    )


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
        judged = Judged(
            stage=sequence.stage,
            index=index,
            steps=steps,
            window=window,
            covered=_covered(settings, window, last_samples),
            void=void_reason(steps, settings),
            silent=silent,
            ended=ended,
        )
        yield judged
        if ended:
            return judged


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


def _judged_rounds(
    settings: LoopSettings | DemandSettings,
    round_sequence: Callable[[int], StepSequence],
    *,
    complete: Callable[[Sequence[StepRecord]], bool],
    judge: Callable[[Sequence[Round]], MeasurementWindow | None],
) -> Judging:
    done: list[Round] = []
    void_count, index = 0, 0
    while True:
        index += 1
        sequence = round_sequence(index)
        steps = tuple((yield sequence))
        void = void_reason(steps, settings)
        void_count += void is not None
        silent = None if void else _silent_round(settings, steps)
        whole = complete(steps)
        if whole:
            done.append(Round(index=index, cells=steps))
        window = judge(done) if whole else None
        ended: Until | None = "incomplete"
        if void_count > settings.void_limit:
            ended = "stalled"
        elif silent:
            ended = "no-completions"
        elif whole or void:
            ended = _round_ending(index, settings.round_limit, window)
        judged = Judged(
            stage=sequence.stage,
            index=index,
            steps=steps,
            window=window,
            complete=tuple(done),
            covered=window.rounds if window else (),
            void=void,
            silent=silent,
            ended=ended,
        )
        yield judged
        if ended:
            return judged


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


def _round_ending(index: int, limit: int, window: MeasurementWindow | None) -> Until | None:
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
) -> Until | None:
    if len(complete_samples(done)) < len(done):
        return "incomplete"
    if sum(is_void(sample, settings) for sample in done) > settings.void_limit:
        return "stalled"
    if settings.stop in _BY_VERDICT and window and window.reached:
        return "steady"
    if settings.stop in _BY_AMOUNT and written_bytes(done) >= settings.amount_bytes:
        return "amount"
    return "time" if len(done) >= _sample_limit(settings) else None
