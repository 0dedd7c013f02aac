"""The insights of a run and of its tests, gravest first, as outputs show them: each once."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, groupby, product
from math import inf
from typing import TYPE_CHECKING

from assay.procedures.depths import depth_insights
from assay.report.first_page.claims import baseline_of, judged_claims
from assay.results import missed_steady_state
from assay.results.link import link_mb_per_s
from assay.spec.units import KIB
from assay.summary.insights import KINDS, RUN_MAX, TEST_MAX, Insight, in_words, insight, lead, ordered, said
from assay.summary.record import Missed
from assay.words.coded import coded, quantity
from assay.words.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.report.first_page.claims import Compared
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Held, Measure, Spoken
    from assay.words.coded import Coded

    _Tested = tuple[TestRecord, Subject, float]


def cross_insights(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """Everything that no test can say alone, each with the labels of its tests."""
    yield from _claims(run, tests)
    yield from _baseline(run, tests)
    judged = [test for test in tests if not missed_steady_state(test.test)]
    rates = [(report, *rated) for report in judged for rated in report.rates]
    yield from _depths(rates)
    yield from _orders(rates)
    yield from _disagreeing(judged)


def _claims(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """How many claims of the data sheet are missed, and the worst of them."""
    claims = judged_claims(run, tests)
    missed = [claim for claim in claims if claim.met is False]
    if missed:
        worst = max(missed, key=_short)
        undecided = sum(claim.met is None for claim in claims)
        measure = worst.measure
        beyond = Missed(name=measure.printed, value=measure.value or 0.0, bound=worst.stated, unit=measure.unit)
        one = missed_insight("claims", len(missed), len(claims), undecided, beyond)
        yield _at(one, tuple(claim.report.label for claim in missed))


def missed_insight(held: str, failed: int, of: int, undecided: int, worst: Missed) -> Insight:
    """How many numbers miss what they are held against, and the worst. held : in words what that is."""
    return insight(
        "held-against-missed",
        failed=failed,
        of=of,
        share=failed / of,
        held=held,
        undecided=undecided or None,
        worst=worst.name,
        measured=quantity(worst.value, worst.unit),
        bound=quantity(worst.bound, worst.unit),
    )


def _short(claim: Compared) -> float:
    """How far a claim is missed, as a ratio."""
    ratio = claim.share or 0.0 if claim.stated else 1.0
    return ratio if claim.measure.unit == "ms" else 1 / ratio if ratio else inf


def _baseline(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """How many numbers are worse than in the baseline, and by how much the worst."""
    result = [(one, one.worse) for one in baseline_of(run, tests) if one.worse is not None]
    worse = [pair for pair in result if pair[1] > 0]
    if worse:
        worst, apart = max(worse, key=lambda pair: pair[1])
        values = {
            "worse": len(worse),
            "of": len(result),
            "better": sum(apart < 0 for _, apart in result) or None,
            "worst": apart,
            "name": worst.measure.printed,
        }
        labels = tuple(dict.fromkeys(one.report.label for one, _ in worse))
        yield Insight(kind="baseline-change", values=values, tests=labels)


def _depths(rates: Sequence[_Tested]) -> Iterator[Insight]:
    """Accesses that several tests measured at different depths, where the deepest brings no more than the first."""
    closed = sorted(rates, key=lambda rate: (_kind(rate[1]), rate[1].depth or 0))
    for _, same in groupby(closed, key=lambda rate: _kind(rate[1])):
        found = {subject.depth or 0: (report, subject, iops) for report, subject, iops in same}
        if len(found) > 1:
            depths = [(depth, iops, None) for depth, (_, _, iops) in found.items()]
            labels = tuple(dict.fromkeys(report.label for report, _, _ in found.values()))
            (_, first, _), *_ = found.values()
            yield from (_at(depth_insight, labels) for depth_insight in depth_insights(first, depths))


def _orders(rates: Sequence[_Tested]) -> Iterator[Insight]:
    """How much more large transfers move in order than at random places, most of each direction."""
    random = [rate for rate in rates if rate[1].order == "RND"]
    ordered = [rate for rate in rates if rate[1].order == "SEQ"]
    for (near, slow, slow_iops), (far, fast, fast_iops) in product(random, ordered):
        if _kind(slow)[1:] == _kind(fast)[1:]:
            depths = (fast.depth, slow.depth) if fast.depth != slow.depth else (None, None)
            values = {"times": fast_iops / slow_iops, "depth": depths[0], "other_depth": depths[1]}
            yield _at(insight("sequential-gain", replace(fast, depth=None), **values), (far.label, near.label))


def _disagreeing(tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """Numbers of one claim that two tests measured and that lie apart. Worked: 100 and 60 IOPS -> 40 %."""
    result = [
        (measure.claim, report, float(measure.value))
        for report in tests for measure in report.measures if measure.quoted and measure.claim and measure.value
    ]  # fmt: skip
    for (claim, one, first), (other, two, second) in combinations(result, 2):
        if claim == other and one is not two:
            apart = 1 - min(first, second) / max(first, second)
            values = {"first": one.label, "second": two.label, "apart": apart, "conditions": _conditions(one, two)}
            yield Insight(
                kind="tests-disagree", subject=_CLAIMS.get(claim, Subject()), values=values,
                tests=(one.label, two.label),
            )  # fmt: skip


_CLAIMS = {
    "rnd_4k_read_iops": Subject(order="RND", read_pct=100, size_bytes=4 * KIB),
    "rnd_4k_write_iops": Subject(order="RND", read_pct=0, size_bytes=4 * KIB),
    "seq_read_mb_per_s": Subject(order="SEQ", read_pct=100),
    "seq_write_mb_per_s": Subject(order="SEQ", read_pct=0),
    "read_latency_ms": Subject(read_pct=100, size_bytes=4 * KIB),
    "write_latency_ms": Subject(read_pct=0, size_bytes=4 * KIB),
}


def _conditions(test_record: TestRecord, two: TestRecord) -> str | None:
    """In which conditions beside the demand two tests differ; None where in none."""
    pairs = zip(_conditions_of(test_record), _conditions_of(two), strict=True)
    apart = [f"{name} {first} and {second}" for (name, first), (_, second) in pairs if first != second]
    return "; ".join(apart) or None


def _conditions_of(report: TestRecord) -> tuple[tuple[str, str], ...]:
    facts = report.facts
    return ("preconditioning", facts.independent), ("range", facts.test_range)


def _kind(subject: Subject) -> tuple[str, int, int]:
    return subject.order or "", subject.read_pct or 0, subject.size_bytes or 0


def _at(one: Insight, labels: tuple[str, ...]) -> Insight:
    return Insight(kind=one.kind, values=one.values, subject=one.subject, tests=tuple(dict.fromkeys(labels)))


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
