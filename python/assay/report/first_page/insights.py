"""The insights of a run and of its tests, gravest first, as outputs show them: each once."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, groupby, product
from typing import TYPE_CHECKING

from assay.procedures.traits import depth_insights
from assay.report.first_page.claims import baseline_of, judged_claims
from assay.results.ended import missed_steady_state
from assay.results.neighbours import link_mb_per_s
from assay.spec.units import KIB
from assay.summary.insights import KINDS, RUN_MAX, TEST_MAX, Insight, in_words, insight, lead, ordered, said
from assay.summary.record import Missed
from assay.words.coded import Subject, coded, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Held, Spoken
    from assay.words.coded import Coded

    _Tested = tuple[TestRecord, Subject, float]


def cross_insights(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """Everything that no test can say alone, each with the labels of its tests."""
    yield from _claims(run, tests)
    yield from _baseline(run, tests)
    judged = [test for test in tests if not missed_steady_state(test.test)]
    rates = [(test, *rated) for test in judged for rated in test.rates]
    yield from _depths(rates)
    yield from _orders(rates)
    yield from _disagreeing(judged)


def _claims(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """How many claims of the data sheet are missed, and the worst of them."""
    claims = judged_claims(run, tests)
    missed = [claim for claim in claims if claim.met is False]
    if missed:
        worst = max(missed, key=lambda claim: claim.shortfall)
        undecided = sum(claim.met is None for claim in claims)
        measure = worst.measure
        beyond = Missed(name=measure.printed, value=measure.value or 0.0, bound=worst.stated, unit=measure.unit)
        missed_claims = missed_insight("claims", len(missed), len(claims), undecided, beyond)
        yield _of_tests(missed_claims, [claim.test for claim in missed])


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


def _baseline(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """How many numbers are worse than in the baseline, and by how much the worst."""
    compared = [(pair, pair.worse) for pair in baseline_of(run, tests) if pair.worse is not None]
    worse = [pair for pair, apart in compared if apart > 0]
    if worse:
        worst, apart = max(compared, key=lambda each: each[1])
        better = sum(apart < 0 for _, apart in compared) or None
        name = worst.measure.printed
        change = insight("baseline-change", worse=len(worse), of=len(compared), better=better, worst=apart, name=name)
        yield _of_tests(change, [pair.test for pair in worse])


def _depths(rates: Sequence[_Tested]) -> Iterator[Insight]:
    """Accesses that several tests measured at different depths, where the deepest brings no more than the first."""
    closed = sorted(rates, key=lambda rate: (_kind(rate[1]), rate[1].depth or 0))
    for _, same in groupby(closed, key=lambda rate: _kind(rate[1])):
        by_depth = {rate[1].depth or 0: rate for rate in same}
        if len(by_depth) > 1:
            depths = [(depth, iops, None) for depth, (_, _, iops) in by_depth.items()]
            measured = [test for test, _, _ in by_depth.values()]
            (_, first, _), *_ = by_depth.values()
            yield from (_of_tests(each, measured) for each in depth_insights(first, depths))


def _orders(rates: Sequence[_Tested]) -> Iterator[Insight]:
    """How much more large transfers move in order than at random places, most of each direction."""
    random = [rate for rate in rates if rate[1].order == "RND"]
    ordered = [rate for rate in rates if rate[1].order == "SEQ"]
    for (near, slow, slow_iops), (far, fast, fast_iops) in product(random, ordered):
        if _kind(slow)[1:] == _kind(fast)[1:]:
            depths = (fast.depth, slow.depth) if fast.depth != slow.depth else (None, None)
            values = {"times": fast_iops / slow_iops, "depth": depths[0], "other_depth": depths[1]}
            yield _of_tests(insight("sequential-gain", replace(fast, depth=None), **values), [far, near])


def _disagreeing(tests: Sequence[TestRecord]) -> Iterator[Insight]:
    """Numbers of one claim that two tests measured and that lie apart. Worked: 100 and 60 IOPS -> 40 %."""
    measured = [
        (measure.claim, test, float(measure.value))
        for test in tests for measure in test.key_results if measure.claim and measure.value
    ]  # fmt: skip
    for (claim, test, first), (other_claim, other, second) in combinations(measured, 2):
        if claim == other_claim and test is not other:
            apart = 1 - min(first, second) / max(first, second)
            pairs = (
                ("preconditioning", test.facts.independent_label, other.facts.independent_label),
                ("range", test.facts.test_range, other.facts.test_range),
            )
            conditions = "; ".join(f"{name} {mine} and {its}" for name, mine, its in pairs if mine != its) or None
            names = {"first": test.label, "second": other.label}
            subject = _CLAIMS.get(claim, Subject())
            disagreement = insight("tests-disagree", subject, **names, apart=apart, conditions=conditions)
            yield _of_tests(disagreement, [test, other])


_CLAIMS = {
    "rnd_4k_read_iops": Subject(order="RND", read_pct=100, size_bytes=4 * KIB),
    "rnd_4k_write_iops": Subject(order="RND", read_pct=0, size_bytes=4 * KIB),
    "seq_read_mb_per_s": Subject(order="SEQ", read_pct=100),
    "seq_write_mb_per_s": Subject(order="SEQ", read_pct=0),
    "read_latency_ms": Subject(read_pct=100, size_bytes=4 * KIB),
    "write_latency_ms": Subject(read_pct=0, size_bytes=4 * KIB),
}


def _kind(subject: Subject) -> tuple[str, int, int]:
    return subject.order or "", subject.read_pct or 0, subject.size_bytes or 0


def _of_tests(one: Insight, tests: Iterable[TestRecord]) -> Insight:
    return replace(one, tests=tuple(dict.fromkeys(test.label for test in tests)))


def run_insights(run: StoredRun, tests: Sequence[TestRecord], held: Held | None = None) -> tuple[Insight, ...]:
    """Insights of the run and of all its tests, ordered; at most five. held : how the limits of its plan came out."""
    limits, across = [], list(cross_insights(run, tests))
    if held and held.worst:
        of = held.met + held.missed + held.undecided
        limits = [missed_insight("limits and claims", held.missed, of, held.undecided, held.worst)]
        # Claims are among what the limits of a plan count.
        across = [one for one in across if one.kind != "held-against-missed"]
    return ordered((*limits, *across, *(one for test in tests for one in test.insights)))[:RUN_MAX]


def insights_of_test(test: TestRecord) -> tuple[Insight, ...]:
    """The insights of one test, ordered; at most three."""
    return ordered((*cross_insights(test.run, [test]), *test.insights))[:TEST_MAX]


def run_said(run: StoredRun, tests: Sequence[TestRecord], insights: Sequence[Insight]) -> tuple[Spoken, ...]:
    """What a run says, gravest first, each behind the labels of its tests, none of all; at most five.

    insights : its insights. What leads is what the drive is good for, where nothing is worse than a fact.
    """
    lines = [(insight.tests, said(insight)) for insight in insights]
    # The gravest, else what bounds the run, else what the drive is good for.
    bounds = (one for one in insights if one.values.get("link") or KINDS[one.kind].leads)
    bounded = next(map(said, bounds), None)
    first = lead(insights, bounded or strength(run, tests))
    leads = [line for line in lines if line[1] == first] or ([((), first)] if first else [])
    return tuple([*leads, *(line for line in lines if line not in leads)][:RUN_MAX])


def further_said(insights: Sequence[Insight], test: TestRecord) -> tuple[Coded, ...]:
    """The insights of one of several tests that the run does not say already; at most three. insights : of the run."""
    shown = {(insight.kind, label) for insight in insights for label in insight.tests}
    own = (one for one in insights_of_test(test) if (one.kind, test.label) not in shown)
    return tuple(map(said, own))


def strength(run: StoredRun, tests: Sequence[TestRecord]) -> Coded | None:
    """The most MB/s beside the link, where that is known; else the first number that a data sheet claims, or is quoted.

    Worked: sequential reads of 150 MB/s at a link of 300 -> ``SEQ 128KiB R: 150 MB/s, 50 % of its link``.
    """
    known = [measure for test in tests for measure in test.key_results if measure.value]
    moved, link = [one for one in known if one.unit == "MB/s"], link_mb_per_s(run)
    most = max(moved, key=lambda one: float(one.value or 0)) if moved and link else None
    first = most or next((one for one in known if one.claim), next(iter(known), None))
    if first is None:
        return None
    share = first.share_of(link) if most and link else None
    return coded("good-for", name=first.printed, value=quantity(first.value, first.unit), share=share)


def sentences(insights: Sequence[Insight]) -> tuple[str, ...]:
    """Insights as sentences."""
    return tuple(in_words(said(insight)) for insight in insights)
