"""What the five steps say of the drive: what every study says, and how many of their rules it misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.saturation.record import falls
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


def five_steps_insights(test: StoredTest, five_steps: FiveSteps) -> Iterator[Insight]:
    """Rules that it misses, how far writes fall, and how soon sequential ones are back."""
    settings = test.settings_as(FiveStepsSettings)
    yield from study_insights(test, five_steps.study)
    if five_steps.study.withheld:
        return
    yield from rules_missed(five_steps.verdicts)
    if five_steps.saturation.samples.iops:
        yield from falls(pattern_subject(settings.stability.pattern), five_steps.saturation)
    if five_steps.change:
        yield slow_recovery(
            settings.variants[INDEPENDENCE], five_steps.study.variants[INDEPENDENCE].stages, five_steps.change
        )


def rules_missed(verdicts: Sequence[StepVerdict]) -> Iterator[Insight]:
    """How many of the rules failed, and the first that did; none where none did."""
    failed = [verdict for verdict in verdicts if verdict.finding.level == "warn"]
    if failed:
        yield insight(
            "held-against-missed",
            failed=len(failed),
            of=len(verdicts),
            share=len(failed) / len(verdicts),
            held="rules",
            worst=failed[0].name,
            undecided=sum(verdict.finding.level == "n/a" for verdict in verdicts) or None,
        )
