"""What a run says beside its single tests: what is withheld, disturbed or claimed, and how its tests compare."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, groupby, product
from math import inf
from typing import TYPE_CHECKING

from assay.procedures.depths import depth_insights
from assay.report.test_page.claims import baseline_of, judged_claims
from assay.results import missed_steady_state
from assay.spec.units import KIB
from assay.summary.insights import Insight, insight
from assay.summary.record import Missed
from assay.words.coded import quantity
from assay.words.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.report.test_page.claims import Compared
    from assay.summary.pages.test_record import TestRecord

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
