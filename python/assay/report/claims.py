"""What the data sheet claims of the numbers that people quote, and whether they are that."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

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
from assay.pages.model import Bars, DataTable, Table
from assay.pages.printed import NOT_AVAILABLE, demand_label, outstanding, paragraph
from assay.results import missed_steady_state
from assay.spec.units import count_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.pages.headline import Headline
    from assay.pages.test_report import TestReport

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


def baseline_facts(run: StoredRun, tests: Sequence[TestReport]) -> list[dict[str, Any]]:
    """The same in ``results.json``, unrounded; none where the plan states none."""
    return [
        {
            "test": one.test.settings.test,
            "item": headline.item,
            "unit": headline.unit,
            "measured": headline.value,
            "baseline": was,
            "share": share_of(headline, was),
        }
        for one, headline, was in _with_baseline(run, tests)
    ]


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


def claim_facts(run: StoredRun, tests: Sequence[TestReport]) -> list[dict[str, Any]]:
    """Each claim in ``results.json``, unrounded; none where the plan states none. met : null where it is not judged."""
    return [
        {
            "test": one.test.settings.test,
            "item": headline.item,
            "unit": headline.unit,
            "measured": headline.value,
            "outstanding": outstanding(one.test.settings.demand),
            "claimed": claimed(run, headline),
            "bound": "most" if headline.unit == "ms" else "least",
            "share": claim_share(run, headline),
            "met": {"YES": True, "NO": False}.get(claim_verdict(run, one, headline)),
        }
        for one, headline in _claimed(run, tests)
    ]


def claim_data(run: StoredRun, tests: Sequence[TestReport]) -> tuple[DataTable, ...]:
    """Claims and baseline as tables of numbers, none without either."""
    found = (("claims", claim_facts(run, tests)), ("baseline", baseline_facts(run, tests)))
    return tuple(_data(name, facts) for name, facts in found if facts)


def _data(name: str, facts: Sequence[dict[str, Any]]) -> DataTable:
    rows = tuple(tuple("" if value is None else value for value in one.values()) for one in facts)
    return DataTable(name=name, columns=tuple(facts[0]), rows=rows)


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
