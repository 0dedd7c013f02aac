"""What the data sheet claims of the numbers that people quote, and whether they are that."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from assay.pages.headline import (
    baseline_of,
    claim_met,
    claim_share,
    claim_text,
    claimed,
    number_text,
    share_of,
    share_text,
)
from assay.pages.model import Bars, Table
from assay.pages.printed import NOT_AVAILABLE, demand_label, outstanding, paragraph
from assay.results import missed_steady_state
from assay.spec.units import count_label
from assay.summary.columns import UNIT
from assay.summary.table import Column, Words, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.pages.headline import Headline
    from assay.pages.test_report import TestReport
    from assay.summary.table import Declared, ResultTable

_COLUMNS = ("Test", "Figure", "Measured", "Unit", "Claimed", "Of the claim", "Claim met")
_NOT_JUDGED = "not judged"
_GRAVEST = ("NO", "YES", _NOT_JUDGED)


def claims_table(run: StoredRun, tests: Sequence[TestReport]) -> tuple[Table, ...]:
    """Each claim beside what was measured, none where the plan states none.

    Worked: 45,000 IOPS where 50,000 are claimed -> ``45,000.0``, ``at least 50,000``, ``90 %``, ``NO``.
    """
    found = _claimed(run, tests)
    if not found:
        return ()
    shares = tuple(claim_share(run, headline) for _, headline in found)
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
        for (one, headline), share in zip(found, shares, strict=True)
    )
    return (
        Table(
            caption="Claims of the data sheet",
            columns=_COLUMNS,
            rows=rows,
            merged=("Test",),
            bars=Bars(column="Of the claim", shares=shares),
            notes=(_demands(found),),
        ),
    )


def baseline_table(run: StoredRun, tests: Sequence[TestReport]) -> tuple[Table, ...]:
    """Each number beside what it was in the baseline of the plan, none where that states none.

    Worked: 18,085.7 IOPS where the baseline has 16,563 -> ``18,085.7``, ``16,563.0``, ``109 %``.
    """
    found = _with_baseline(run, tests)
    if not found:
        return ()
    shares = tuple(share_of(headline, was) for _, headline, was in found)
    rows = tuple(
        (one.label, headline.item, _measured(headline), headline.unit, number_text(was, headline.unit), _told(share))
        for (one, headline, was), share in zip(found, shares, strict=True)
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
    found = _with_baseline(run, tests)
    return table_of("baseline", "Against the baseline", columns, found, words=_WORDS, section="results")


def _with_baseline(run: StoredRun, tests: Sequence[TestReport]) -> list[tuple[TestReport, Headline, float]]:
    return [
        (one, headline, was) for one in tests for headline in one.headlines() if (was := baseline_of(run, headline))
    ]


def _measured(headline: Headline) -> str:
    """A time with four digits, as a claim may lie near. Worked: 0.11957 ms beside 0.12 -> ``"0.1196"``."""
    return f"{headline.value:.4g}" if headline.unit == "ms" and headline.value is not None else headline.text


def _claimed(run: StoredRun, tests: Sequence[TestReport]) -> list[tuple[TestReport, Headline]]:
    return [(one, headline) for one in tests for headline in one.headlines() if claimed(run, headline) is not None]


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
    found = _claimed(run, tests)
    return table_of("claims", "Claims of the data sheet", columns, found, words=_WORDS, section="results")


_MET = {"YES": True, "NO": False}


def claims_text(run: StoredRun, tests: Sequence[TestReport]) -> Iterator[str]:
    """All claims in a sentence, none without any; one that two tests judge is met where it is in both.

    Worked: YES, NO, NO of three claims -> ``"Data sheet: 1 of 3 claims met, 2 missed."``
    """
    verdicts: dict[str | None, list[str]] = {}
    for one, headline in _claimed(run, tests):
        verdicts.setdefault(headline.claim, []).append(claim_verdict(run, one, headline))
    if verdicts:
        twice = sum(len(found) > 1 for found in verdicts.values())
        told = f"; {twice} of them judged by two tests" if twice else ""
        yield f"Data sheet: {_counted([min(found, key=_GRAVEST.index) for found in verdicts.values()])}{told}."


def baseline_text(run: StoredRun, tests: Sequence[TestReport]) -> Iterator[str]:
    """How many numbers are better and worse than the baseline, and the farthest of both; none without any.

    Worked: 110.6 and 93.1 IOPS where the baseline has 100 of both -> ``"Against the baseline: 1 better, +10.6 % (IOPS
    RND 4KiB W); 1 worse, -6.9 % (WSAT RND 4KiB 0/100, first sample)."``
    """
    sides: dict[str, list[tuple[float, str]]] = {"better": [], "worse": [], "the same": []}
    for one, headline, was in _with_baseline(run, tests):
        if (share := share_of(headline, was)) is not None:
            told = f"{(share - 1) * 100:+.1f} % ({one.label} {headline.item})"
            sides[_side(share, headline.unit)].append((abs(share - 1), told))
    parts = [f"{len(found)} {name}{_farthest(found)}" for name, found in sides.items() if found]
    if parts:
        yield f"Against the baseline: {'; '.join(parts)}."


def _side(share: float, unit: str) -> str:
    """Worked: 1.1 times the IOPS is better, 1.1 times the response time is worse."""
    if share == 1:
        return "the same"
    return "better" if (share > 1) != (unit == "ms") else "worse"


def _farthest(found: Sequence[tuple[float, str]]) -> str:
    change, told = max(found)
    return f", {'most ' if found[1:] else ''}{told}" if change else ""


def _counted(verdicts: Sequence[str]) -> str:
    count = Counter(verdicts)
    parts = [f"{count['YES']} of {count_label(len(verdicts), 'claim')} met"]
    parts += [f"{count[word]} {said}" for word, said in (("NO", "missed"), (_NOT_JUDGED, _NOT_JUDGED)) if count[word]]
    return ", ".join(parts)
