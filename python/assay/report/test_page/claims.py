"""What the data sheet claims of the numbers that people quote, and whether they are that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.results import missed_steady_state
from assay.summary.columns import UNIT
from assay.summary.pages.headline import (
    baseline_of,
    claim_met,
    claim_share,
    claim_text,
    claimed,
    number_text,
    share_of,
    share_text,
)
from assay.summary.pages.model import Bars, Table
from assay.summary.table import Column, Words, table_of
from assay.words.printed import NOT_AVAILABLE, demand_label, outstanding, paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun
    from assay.summary.pages.headline import Headline
    from assay.summary.pages.test_report import TestReport
    from assay.summary.table import Declared, ResultTable

_COLUMNS = ("Test", "Figure", "Measured", "Unit", "Claimed", "Of the claim", "Claim met")
_NOT_JUDGED = "not judged"
_MET = {"YES": True, "NO": False}
_GRAVEST = (False, True, None)


def claims_table(run: StoredRun, tests: Sequence[TestReport]) -> tuple[Table, ...]:
    """Each claim beside what was measured, none where the plan states none.

    Worked: 45,000 IOPS where 50,000 are claimed -> ``45,000.0``, ``at least 50,000``, ``90 %``, ``NO``.
    """
    result = _claimed(run, tests)
    if not result:
        return ()
    shares = tuple(claim_share(run, headline) for _, headline in result)
    rows = tuple(
        (
            one.label,
            headline.item,
            _measured(headline),
            headline.unit,
            claim_text(claimed(run, headline) or 0, headline.unit),
            _told(share),
            claim_verdict(run, one, headline),
        )
        for (one, headline), share in zip(result, shares, strict=True)
    )
    return (
        Table(
            caption="Claims of the data sheet",
            columns=_COLUMNS,
            rows=rows,
            merged=("Test",),
            bars=Bars(column="Of the claim", shares=shares),
            notes=(_demands(result),),
        ),
    )


def baseline_table(run: StoredRun, tests: Sequence[TestReport]) -> tuple[Table, ...]:
    """Each number beside what it was in the baseline of the plan, none where that states none.

    Worked: 18,085.7 IOPS where the baseline has 16,563 -> ``18,085.7``, ``16,563.0``, ``109 %``.
    """
    result = _with_baseline(run, tests)
    if not result:
        return ()
    shares = tuple(share_of(headline, was) for _, headline, was in result)
    rows = tuple(
        (one.label, headline.item, _measured(headline), headline.unit, number_text(was, headline.unit), _told(share))
        for (one, headline, was), share in zip(result, shares, strict=True)
    )
    named = paragraph(run.description.get("baseline"))
    return (
        Table(
            caption="Against the baseline",
            columns=("Test", "Figure", "Measured", "Unit", "Baseline", "Of the baseline"),
            rows=rows,
            merged=("Test",),
            bars=Bars(column="Of the baseline", shares=shares),
            notes=(f"Baseline: {named}; nothing is judged by it.",),
        ),
    )


def _told(share: float | None) -> str:
    return NOT_AVAILABLE if share is None else share_text(share)


_TEST, _ITEM = Column("test", "Test", role="key"), Column("item", "Number", role="key")
_MEASURED, _SHARE = Column("measured", "Measured"), Column("share", "Measured over it")
_WORDS = Words(none="", yes="True", no="False")


def baseline_data(run: StoredRun, tests: Sequence[TestReport]) -> ResultTable:
    """The same as a table of numbers; without a row where the plan states none."""
    columns: Declared[tuple[TestReport, Headline, float]] = (
        (_TEST, lambda one: one[0].test.settings.test),
        (_ITEM, lambda one: one[1].item),
        (UNIT, lambda one: one[1].unit),
        (_MEASURED, lambda one: one[1].value),
        (Column("baseline", "Baseline"), lambda one: one[2]),
        (_SHARE, lambda one: share_of(one[1], one[2])),
    )
    result = _with_baseline(run, tests)
    return table_of("baseline", "Against the baseline", columns, result, words=_WORDS, section="results")


def _with_baseline(run: StoredRun, tests: Sequence[TestReport]) -> list[tuple[TestReport, Headline, float]]:
    return [
        (test, headline, was) for test in tests for headline in test.headlines() if (was := baseline_of(run, headline))
    ]


def _measured(headline: Headline) -> str:
    """A time with four digits, as a claim may lie near. Worked: 0.11957 ms beside 0.12 -> ``"0.1196"``."""
    return f"{headline.value:.4g}" if headline.unit == "ms" and headline.value is not None else headline.text


def _claimed(run: StoredRun, tests: Sequence[TestReport]) -> list[tuple[TestReport, Headline]]:
    return [(test, headline) for test in tests for headline in test.headlines() if claimed(run, headline) is not None]


def _demands(found: Sequence[tuple[TestReport, Headline]]) -> str:
    """At how many outstanding I/Os each test measured; a data sheet may mean others."""
    each = {one.label: demand_label(one.test.settings.demand) for one, _ in found}
    told = "; ".join(f"{name} {demand}" for name, demand in each.items())
    return f"Measured at the demand of each test, a claim may mean another: {told}."


def claim_verdict(run: StoredRun, test_report: TestReport, headline: Headline) -> str:
    """Whether a claim is met: ``YES``, ``NO`` or ``not judged``, as of a test that did not get steady."""
    met = claim_met(run, headline)
    return _NOT_JUDGED if not met or missed_steady_state(test_report.test) else met


def claim_data(run: StoredRun, tests: Sequence[TestReport]) -> ResultTable:
    """Each claim as numbers; without a row where the plan states none. met : None where it is not judged."""
    columns: Declared[tuple[TestReport, Headline]] = (
        (_TEST, lambda one: one[0].test.settings.test),
        (_ITEM, lambda one: one[1].item),
        (UNIT, lambda one: one[1].unit),
        (_MEASURED, lambda one: one[1].value),
        (Column("outstanding", "Outstanding"), lambda one: outstanding(one[0].test.settings.demand)),
        (Column("claimed", "Claimed"), lambda one: claimed(run, one[1])),
        (Column("bound", "At"), lambda one: "most" if one[1].unit == "ms" else "least"),
        (_SHARE, lambda one: claim_share(run, one[1])),
        (Column("met", "Met"), lambda one: _MET.get(claim_verdict(run, *one))),
    )
    result = _claimed(run, tests)
    return table_of("claims", "Claims of the data sheet", columns, result, words=_WORDS, section="results")


_MET = {"YES": True, "NO": False}


class HeldClaim(NamedTuple):
    """A claim and what a test measured. met : None where it is not judged. share : measured over claimed."""

    test: str
    name: str
    met: bool | None
    measured: float | None
    claimed: float
    unit: str


def held_claims(run: StoredRun, tests: Sequence[TestReport]) -> tuple[HeldClaim, ...]:
    """Every claim once; one that two tests judge as the one that misses it, where one does."""
    claims: dict[str | None, list[HeldClaim]] = {}
    for one, headline in _claimed(run, tests):
        met = _MET.get(claim_verdict(run, one, headline))
        claim = claimed(run, headline) or 0
        held = HeldClaim(one.label, headline.item, met, headline.value, claim, headline.unit)
        claims.setdefault(headline.claim, []).append(held)
    return tuple(min(same, key=lambda one: _GRAVEST.index(one.met)) for same in claims.values())


class HeldNumber(NamedTuple):
    """A number and how much worse than in the baseline it is: a share of that, negative where it is better."""

    test: str
    name: str
    worse: float


def held_to_baseline(run: StoredRun, tests: Sequence[TestReport]) -> tuple[HeldNumber, ...]:
    """Every number that the baseline has. Worked: 93.1 IOPS where it has 100 -> 0.069 worse; 1.1 of 1 ms -> 0.1."""
    return tuple(
        HeldNumber(one.label, headline.item, share - 1 if headline.unit == "ms" else 1 - share)
        for one, headline, was in _with_baseline(run, tests)
        if (share := share_of(headline, was)) is not None
    )
