"""What a write saturation says of the drive: how far writes fall, whether they still do, and how long I/Os wait."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.families.saturation.facts import is_fresh
from assay.procedures.families.saturation.result import complete_samples
from assay.procedures.families.saturation.settings import SaturationSettings
from assay.procedures.steadiness import not_steady
from assay.procedures.subjects import pattern_subject
from assay.procedures.waits import stalls, tails, waited
from assay.results import all_step_times, merged, missed_steady_state
from assay.summary.insight import insight
from assay.summary.ranking import is_raised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.families.saturation.result import SaturationResult
    from assay.summary.insight import Insight
    from assay.words.subject import Subject

_LAST_SHARE = 0.1
"""The samples at the end whose response times are those of a written drive."""


def saturation_insights(test: StoredTest, result: SaturationResult) -> Iterator[Insight]:
    """Everything that its samples say; none where results are withheld."""
    settings = test.settings_as(SaturationSettings)
    count = len(result.samples.iops)
    if result.withheld or not count:
        return
    about = pattern_subject(settings.pattern)
    if result.window and missed_steady_state(test):
        yield from not_steady(((about, verdict) for verdict in result.window.verdicts.values()), count)
    yield from falls(about, result)
    samples = complete_samples(test.steps("sample"))
    times = all_step_times(test.stage("sample"))[: len(samples)]
    if len(times) == len(samples):
        last = times[-max(round(len(times) * _LAST_SHARE), 1) :]
        yield from tails(pattern_subject(settings.pattern, settings.demand), merged(last))
        yield from stalls(about, [waited(samples, times, settings.demand)])


def falls(about: Subject, result: SaturationResult) -> Iterator[Insight]:
    """How far writes fall from the first sample to where they settle, or that they still fall at the end.

    Worked: 24,632 IOPS fresh, 3,953 where it settles -> 16 % kept; 3,953 and 25 % less per drive fill -> still falling.
    """
    rates = result.samples.iops
    first, last = rates[0], result.steady_iops or rates[-1]
    change = None if result.steady_iops else last_fill_change(result)
    if not first or not rates[1:]:
        return
    kept = last / first
    share = {"kept" if is_fresh(result.fills[0]) else "kept_of_first": kept}
    falling = insight("still-falling", about, **share, lost=1 - kept, per_fill=-(change or 0.0))
    settled = insight("settled-fall", replace(about, depth=None), **share, lost=1 - kept, first=first, settled=last)
    yield falling if is_raised(falling) else settled


def last_fill_change(result: SaturationResult) -> float | None:
    """How much IOPS changed over the last drive fill, a share; None where there was none before it.

    What it had a drive fill before its end is on the line between the two samples around that.

    Worked: 5,000 IOPS a fill before the end and 4,000 in the last sample -> -0.2.
    """
    end = result.fills[-1] if result.fills else 0
    before = [index for index, fills in enumerate(result.fills) if fills <= end - 1]
    if not before or before[-1] + 1 == len(result.fills):
        return None
    place, rates = before[-1], result.samples.iops
    (least, most), (old, new) = result.fills[place : place + 2], rates[place : place + 2]
    then = old + (new - old) * (end - 1 - least) / (most - least) if most > least else old
    return rates[-1] / then - 1 if then else None
