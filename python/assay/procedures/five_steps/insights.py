"""What the five steps say of the drive: what every study says, and how many of their rules it misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.saturation.insights import falls
from assay.procedures.five_steps.plan import INDEPENDENCE
from assay.procedures.five_steps.settings import FiveStepsSettings
from assay.procedures.studies.insights import slow_recovery, study_insights
from assay.procedures.subjects import pattern_subject
from assay.summary.insight import insight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredTest
    from assay.procedures.five_steps.result import FiveSteps, StepVerdict
    from assay.summary.insight import Insight


def five_steps_insights(test: StoredTest, found: FiveSteps) -> Iterator[Insight]:
    """Rules that it misses, how far writes fall, and how soon sequential ones are back."""
    settings = test.settings_as(FiveStepsSettings)
    yield from study_insights(test, found.study)
    if found.study.withheld:
        return
    yield from rules_missed(found.verdicts)
    if found.samples.iops:
        yield from falls(pattern_subject(settings.stability.pattern), found.samples)
    if found.change:
        yield slow_recovery(settings.variants[INDEPENDENCE], found.study.variants[INDEPENDENCE].stages, found.change)


def rules_missed(verdicts: Sequence[StepVerdict]) -> Iterator[Insight]:
    """How many of the rules failed, and the first that did; none where none did."""
    failed = [one for one in verdicts if one.finding.level == "warn"]
    if failed:
        yield insight(
            "held-against-missed",
            failed=len(failed),
            of=len(verdicts),
            share=len(failed) / len(verdicts),
            held="rules",
            worst=failed[0].name,
            undecided=sum(one.finding.level == "n/a" for one in verdicts) or None,
        )
