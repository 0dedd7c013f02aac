"""What host idle recovery says of the drive: what idle time gains, and whether more of it gains more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.hir.settings import IdleRecoverySettings
from assay.procedures.steadiness import not_steady
from assay.procedures.subjects import pattern_subject
from assay.procedures.waits import stalls, waited
from assay.results import all_step_times, missed_steady_state, ran_whole
from assay.summary.insight import insight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepRecord, StoredTest
    from assay.procedures.hir.result import IdleRecoveryResult, WaitState
    from assay.results import ResponseTimes
    from assay.summary.insight import Insight

EQUAL_SHARE = 0.01
"""A burst within this share of the burst after the longest idle time counts as equal to it."""
_SECOND_MS = 1000


def idle_insights(test: StoredTest, result: IdleRecoveryResult) -> Iterator[Insight]:
    """Everything that its bursts say; none where results are withheld."""
    if result.withheld:
        return
    settings = test.settings_as(IdleRecoverySettings)
    about = pattern_subject(settings.pattern)
    if result.window and missed_steady_state(test):
        count = len(result.preconditioning.samples.iops)
        yield from not_steady(((about, verdict) for verdict in result.window.verdicts.values()), count)
    yield from idle_gain(result.states)
    yield from stalls(about, [waited(*_bursts(test), settings.demand)])


def idle_gain(states: Sequence[WaitState]) -> Iterator[Insight]:
    """The gain of the shortest idle time that is within 1 % of the gain of the longest.

    Worked: bursts that gain 6.2 % after 5 s of idle time and after 50 s -> 6.2 % of 5 s, the same up to 50 s;
    none gains 1 % -> that idle time gains nothing.
    """
    result = sorted((state.idle_s, state.over_return) for state in states if state.over_return)
    gains = [over - 1 for _, over in result]
    if not result:
        return
    if max(map(abs, gains)) <= EQUAL_SHARE:
        yield insight("idle-no-gain", longest_ms=result[-1][0] * _SECOND_MS, least=min(gains), most=max(gains))
    else:
        longest, at_longest = result[-1]
        enough, gain = next((idle, over) for idle, over in result if abs(over - at_longest) <= EQUAL_SHARE * at_longest)
        same = longest * _SECOND_MS if enough < longest else None
        yield insight("idle-gain", idle_ms=enough * _SECOND_MS, gain=gain - 1, same_ms=same)


def _bursts(test: StoredTest) -> tuple[list[StepRecord], list[ResponseTimes]]:
    """Every burst that ran whole, with its histogram where that was read."""
    steps = test.steps("segment")
    times = all_step_times(test.stage("segment"))
    known = times if len(times) == len(steps) else []
    kept = [
        index
        for index, step in enumerate(steps)
        if ran_whole(step) and any(side.latency_io_count for side in step.sides)
    ]
    return [steps[place] for place in kept], [known[place] for place in kept if known]
