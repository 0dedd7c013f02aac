"""What cross stimulus recovery says of the drive: how low writes restart, and when they are back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.slow_recovery import restarted
from assay.procedures.subjects import pattern_subject
from assay.procedures.waits import stalls, waited
from assay.procedures.xsr.result import sample_count
from assay.procedures.xsr.settings import CrossStimulusSettings
from assay.results import all_step_times
from assay.spec.units import MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.xsr.result import CrossStimulusResult
    from assay.summary.insight import Insight


def cross_stimulus_insights(test: StoredTest, result: CrossStimulusResult) -> Iterator[Insight]:
    """Everything that its samples say; none where results are withheld."""
    if result.withheld:
        return
    settings = test.settings_as(CrossStimulusSettings)
    yield from recovery(settings, result)
    for index, group in enumerate(settings.groups, 1):
        steps, times = test.steps("group", index), all_step_times(test.stage("group", index))
        if len(times) == len(steps):
            yield from stalls(pattern_subject(group.pattern), [waited(steps, times, settings.demand)])


def recovery(settings: CrossStimulusSettings, result: CrossStimulusResult) -> Iterator[Insight]:
    """How low the last group restarts behind the one before, and how long it takes.

    Worked: 13 % of the first group's mean in the lowest sample, back after 13 minutes -> 13 % kept, 780,000 ms.
    """
    kept, minutes = result.lowest_share, result.recovery_minutes
    if kept is None or len(settings.groups) == 1:
        return
    before, last = settings.groups[-2:]
    span_ms = sample_count(settings, last) * settings.sample_ns / MILLISECOND_NS
    about = pattern_subject(last.pattern), pattern_subject(before.pattern)
    yield restarted(*about, kept=kept, minutes=minutes, span_ms=span_ms)
