"""Rounds until steady, and what tests ask of their run meanwhile.

What a test does until something holds is a generator that yields the sequences to be run, is sent what they did,
durably stored, and yields a verdict after each of them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple

from assay.engine.records import CheckData, Ending, Purge, Round, SetCache, StepRecord, StepSequence, Trim
from assay.results.stall import no_completions_reason, silent_cell, void_reason
from assay.results.step import iops, ran_whole
from assay.spec.steady import WINDOW_ROUNDS
from assay.words.outcomes import NO_COMPLETIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from assay.engine.records import MeasurementWindow, TestSettings
    from assay.results.stall import Tracked
    from assay.words.coded import Coded


class TrackedValue(NamedTuple):
    """What a tracking cell gave in one round. unit : as printed."""

    label: str
    value: float
    unit: str


Until = Literal["steady", "round-limit", "time", "amount", "incomplete", "stalled", "no-completions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOutcome:
    """A round or a sequence of samples that ran, and the verdict up to it.

    stage, index : of the sequence. steps : what ran. window : None before five values.
    complete : the complete rounds so far. covered : indexes of the sequences of this stage that the window is of; empty
    without one.
    void : why it enters no verdict, None where it may. silent : the tracking cell in which no I/O completed, None where
    each has a value. ended : why nothing follows, None where more does.
    values : of the tracking cells in what ran, empty where it has none. gathered : values in a row that a verdict could
    be taken of, up to five.
    """

    stage: str
    index: int
    steps: tuple[StepRecord, ...]
    window: MeasurementWindow | None
    ended: Until | None
    values: tuple[TrackedValue, ...] = ()
    gathered: int = 0
    complete: tuple[Round, ...] = ()
    covered: tuple[int, ...] = ()
    void: Coded | None = None
    silent: Tracked | None = None

    def ending(self, *, reached: bool) -> Ending:
        """How a test ends that ends here. reached : whether it is steady where the specification requires it."""
        if self.silent:
            return Ending(reason=NO_COMPLETIONS, reached=False, detail=no_completions_reason(self.silent))
        return Ending(reason=str(self.ended), reached=reached)


Action = StepSequence | Purge | Trim | SetCache | CheckData | RoundOutcome
"""What a test asks of its run: a sequence to be run, or an act between two of them; or a verdict, to be stored."""

Records = Sequence[StepRecord]
"""What is sent back for a sequence; nothing for all else."""

Judging = Generator[Action, Records, RoundOutcome]


def until_steady(
    settings: TestSettings,
    round_sequence: Callable[[int], StepSequence],
    *,
    round_limit: int,
    round_least: int = 0,
    judge: Callable[[Sequence[Round]], MeasurementWindow | None],
    tracked: Callable[[Sequence[StepRecord]], Iterable[Tracked]],
    complete: Callable[[Sequence[StepRecord]], bool],
    value: Callable[[StepRecord], Fraction] = iops,
    unit: str = "IOPS",
) -> Judging:
    """Ask for rounds until all tracking cells are steady at once, or the round limit is reached.

    round_sequence : the sequence of round ``index``, from 1. judge : the window of the complete rounds so far.
    tracked : the steps of a round that steady state is decided by.
    complete : whether a round ran to its end and has a value in each of them.
    value, unit : of the tracking variable in such a step, for those who watch.
    round_least : no round before it ends the test as steady; 0 means any may.
    Yields each round and then its verdict; returns the last. Ends after the first steady one, after the limit, after
    one that is not complete, or after one in which no I/O of a tracking cell completed; a void one is left out, and the
    window begins anew behind it, as often as the settings allow.
    Source: PTS-E 1.1 IOPS pseudo code step 3; at most 25 rounds.
    """
    done: list[Round] = []
    void_count, index = 0, 0
    while True:
        index += 1
        sequence = round_sequence(index)
        steps = tuple((yield sequence))
        void = void_reason(steps, settings)
        void_count += void is not None
        silent = silent_cell(tracked(steps)) if void is None and all(map(ran_whole, steps)) else None
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
            ended = _round_ending(index, round_least, round_limit, window)
        judged = RoundOutcome(
            stage=sequence.stage,
            index=index,
            steps=steps,
            window=window,
            values=tuple(TrackedValue(one.label, float(value(one.step)), unit) for one in tracked(steps) if whole),
            gathered=_in_a_row(done) if whole else 0,
            complete=tuple(done),
            covered=window.rounds if window else (),
            void=void,
            silent=silent,
            ended=ended,
        )
        yield judged
        if ended:
            return judged


def _in_a_row(done: Sequence[Round]) -> int:
    """How many of the last rounds follow each other, up to five. Worked: rounds 1, 2, 4 and 5 -> 2."""
    last = [round_.index for round_ in done[-WINDOW_ROUNDS:]]
    return sum(1 for _ in takewhile(lambda pair: pair[1] == last[-1] - pair[0], enumerate(reversed(last))))


def _round_ending(index: int, least: int, limit: int, window: MeasurementWindow | None) -> Until | None:
    if window and window.reached and index >= least:
        return "steady"
    return "round-limit" if index == limit else None
