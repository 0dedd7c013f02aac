"""The insights of a run and of its tests, gravest first, as outputs show them: each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.first_page.cross_test import cross_insights, missed_insight
from assay.results.link import link_mb_per_s
from assay.summary.insights import KINDS, RUN_MAX, TEST_MAX, in_words, lead, ordered, said
from assay.words.coded import coded, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.insights import Insight
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Held, Measure, Spoken
    from assay.words.coded import Coded


def run_insights(run: StoredRun, tests: Sequence[TestRecord], held: Held | None = None) -> tuple[Insight, ...]:
    """Those of the run and of all its tests, ordered; at most five. held : how the limits of its plan came out."""
    own = (one for report in tests for one in report.insights)
    limits, across = tuple(_missed(held)), cross_insights(run, tests)
    # Claims are among what the limits of a plan count.
    others = [one for one in across if not limits or one.kind != "held-against-missed"]
    return ordered((*limits, *others, *own))[:RUN_MAX]


def _missed(held: Held | None) -> Iterator[Insight]:
    if held and held.worst:
        of = held.met + held.missed + held.undecided
        yield missed_insight("limits and claims", held.missed, of, held.undecided, held.worst)


def insights_of_test(report: TestRecord) -> tuple[Insight, ...]:
    """Those of one test, ordered; at most three."""
    return ordered((*cross_insights(report.run, [report]), *report.insights))[:TEST_MAX]


def run_said(run: StoredRun, tests: Sequence[TestRecord], insights: Sequence[Insight]) -> tuple[Spoken, ...]:
    """What a run says, gravest first, each behind the labels of its tests, none of all; at most five.

    insights : its insights. What leads is what the drive is good for, where nothing is worse than a fact.
    """
    lines = [(insight.tests, said(insight)) for insight in insights]
    first = _lead(run, tests, insights)
    leads = [line for line in lines if line[1] == first] or ([((), first)] if first else [])
    return tuple([*leads, *(line for line in lines if line not in leads)][:RUN_MAX])


def further_said(insights: Sequence[Insight], report: TestRecord) -> tuple[Coded, ...]:
    """The insights of one of several tests that the run does not say already; at most three. insights : of the run."""
    shown = {(insight.kind, label) for insight in insights for label in insight.tests}
    own = (one for one in insights_of_test(report) if (one.kind, report.label) not in shown)
    return tuple(map(said, own))


def _lead(run: StoredRun, tests: Sequence[TestRecord], insights: Sequence[Insight]) -> Coded | None:
    """What the sentence of a run says: the gravest, else what bounds it, else what the drive is good for."""
    bounded = next(
        (said(insight) for insight in insights if insight.values.get("link") or KINDS[insight.kind].leads), None
    )
    return lead(insights, bounded or strength(run, tests))


def strength(run: StoredRun, tests: Sequence[TestRecord]) -> Coded | None:
    """The most MB/s beside the link, where that is known; else the first number that a data sheet claims, or is quoted.

    Worked: sequential reads of 150 MB/s at a link of 300 -> ``SEQ 128KiB R: 150 MB/s, 50 % of its link``.
    """
    known = [measure for report in tests for measure in report.measures if measure.quoted and measure.value]
    moved, link = [one for one in known if one.unit == "MB/s"], link_mb_per_s(run)
    if moved and link:
        most = max(moved, key=lambda one: float(one.value or 0))
        return _good_for(most, float(most.value or 0) / link)
    claimed = (one for one in known if one.claim)
    first = next(claimed, next(iter(known), None))
    return _good_for(first, None) if first else None


def _good_for(measure: Measure, share: float | None) -> Coded:
    return coded("good-for", name=measure.printed, value=quantity(measure.value, measure.unit), share=share)


def sentences(insights: Sequence[Insight]) -> tuple[str, ...]:
    """Insights as sentences."""
    return tuple(in_words(said(insight)) for insight in insights)
