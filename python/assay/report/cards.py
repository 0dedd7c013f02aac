"""The cards of the first page: one for each test, with its verdict, numbers, sentences and picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.pages.headline import baseline_of, claim_text, claimed, number_text, share_of, share_text
from assay.pages.model import Card, Quote
from assay.procedures.registry import find_procedure
from assay.report.claims import claim_verdict
from assay.report.headline_tables import by_subject, with_mean_time
from assay.report.insights import further_sentences, run_insights, run_sentences
from assay.report.unusual import beside_verdict
from assay.words.printed import NOT_AVAILABLE, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.pages.distribution import Distribution
    from assay.pages.headline import Headline
    from assay.pages.test_report import TestReport

NO_BREAK = "\N{NO-BREAK SPACE}"
SPREAD_SAID = "\N{UP DOWN ARROW} least and greatest of what a number is the average of; ! what was unusual."
_TOGETHER_LEAD = 5
"""So many sentences on all tests are on every form of the first page; with more its pictures have no room."""
_ALL_IOS = "percentiles and maximum of all I/Os of the rounds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A test and where its pages are.

    pages : their numbers, such as ``"2-7"``. anchor : of the first. spread : of its response times, if it has any.
    """

    report: TestReport
    pages: str
    anchor: str
    spread: Distribution | None


def cards(
    run: StoredRun, tests: Sequence[Placed], outcomes: Sequence[str], of_run: Sequence[tuple[str, str]]
) -> tuple[Card, ...]:
    """A card of what concerns all tests where there is any of it, one for each test, and one for each that was not run.

    outcomes : how the tests came out, then why others were not run. of_run : what was unusual in the run as a whole, as
    name and sentence.
    """
    reports = [one.report for one in tests]
    several = len(reports) > 1
    lines = tuple(sentence for _, sentence in run_sentences(run, reports))
    said, found = (lines, run_insights(run, reports)) if several else ((), ())
    unusual = tuple(line for _, line in of_run)
    skipped = tuple(
        Card(name=one.test.upper(), title=_title(one.procedure), outcome=outcome)
        for one, outcome in zip(run.skipped, outcomes[len(tests) :], strict=True)
    )
    own = tuple(
        _card(one, outcome, further_sentences(found, one.report) if several else lines)
        for one, outcome in zip(tests, outcomes, strict=False)
    )
    title = "Key findings" if said else "All tests"
    together = (
        (Card(name="all", title=title, said=said, lead=_TOGETHER_LEAD, unusual=unusual),) if said or unusual else ()
    )
    return (*together, *own, *skipped)


def _card(placed: Placed, outcome: str, said: tuple[str, ...]) -> Card:
    one = placed.report
    basis, quotes = _shared(tuple(_quotes(one)))
    return Card(
        name=one.label,
        title=_title(one.test.settings.procedure),
        outcome=outcome,
        facts=(_extent(one), f"pages {placed.pages}"),
        quotes=quotes,
        basis=basis,
        said=said,
        unusual=tuple(beside_verdict(one)),
        picture=one.picture(),
        anchor=placed.anchor,
    )


def _extent(test_report: TestReport) -> str:
    """How far it went. Worked: rounds 4 to 8 -> ``"rounds 4-8"``; of write saturation ``"65 min / 128.7 GB"``."""
    facts = test_report.facts
    return facts.window if facts.rounds == facts.extent else paragraph(facts.extent)


def _title(procedure: str) -> str:
    """The title of a procedure without its short name. Worked: ``Latency (LAT)`` -> ``"Latency"``."""
    return find_procedure(procedure).title.partition(" (")[0]


def _quotes(test_report: TestReport) -> Iterator[tuple[Quote, str]]:
    """Each number with what it comes from: rates, then the response times of a demand as one."""
    found = test_report.headlines()
    for one, waited in with_mean_time(found):
        yield _quote(test_report, one, _spread(one)), f"{waited}{paragraph(one.basis)}"
    for subject, times in by_subject(found).items():
        first, *others = times.values()
        told = (_told(name, time) for name, time in list(times.items())[1:])
        lines = (*_spread(first), *told)
        basis = paragraph(first.basis) + (f"; {_ALL_IOS}" if others else "")
        yield _quote(test_report, first, lines, of=subject, unit=f"{first.unit} {first.part}"), basis


def _told(name: str, time: Headline) -> str:
    """One of several response times, not to be broken. Worked: ``99.9 %`` of 6.009 ms -> ``"99.9 % 6.009 ms"``."""
    unit = "" if time.value is None else f" {time.unit}"
    return f"{name} {time.text}{unit}".replace(" ", NO_BREAK)


def _spread(one: Headline) -> tuple[str, ...]:
    r"""Least and greatest of its parts, none without. Worked: 90, 100, 110 IOPS -> ``\u2195 90.0 - 110.0``."""
    return () if one.spread == NOT_AVAILABLE else (f"\N{UP DOWN ARROW}{NO_BREAK}{one.spread}",)


def _quote(test_report: TestReport, one: Headline, lines: tuple[str, ...], of: str = "", unit: str = "") -> Quote:
    run = test_report.run
    claim, baseline = claimed(run, one), baseline_of(run, one)
    quote = Quote(of=of or one.item, value=one.text, unit="" if one.value is None else unit or one.unit, lines=lines)
    if claim is not None:
        met, told = claim_verdict(run, test_report, one), f"claimed {claim_text(claim, one.unit)}"
        return replace(quote, claim=f"{told}{_share(one, claim)}", met=met, share=share_of(one, claim))
    if baseline is not None:
        told = f"baseline {number_text(baseline, one.unit)}{_change(one, baseline)}"
        return replace(quote, claim=told, share=share_of(one, baseline))
    return quote


def _change(one: Headline, whole: float) -> str:
    """Worked: 109.2 of 100 IOPS -> ``": +9.2 %"``, 1.06 of 1 ms -> ``": +6.0 %, slower"``; nothing without a number."""
    share = share_of(one, whole)
    if share is None:
        return ""
    said = "" if one.unit != "ms" else ", slower" if share > 1 else ", faster"
    return f": {(share - 1) * 100:+.1f} %{said}"


def _share(one: Headline, whole: float) -> str:
    """Worked: 45,000 of 50,000 IOPS -> ``": 90 %"``; nothing of a number that is not known."""
    share = share_of(one, whole)
    return "" if share is None else f": {share_text(share)}"


def _shared(found: Sequence[tuple[Quote, str]]) -> tuple[str, tuple[Quote, ...]]:
    """What all numbers come from, once where it is the same of all; else below each number."""
    if len({basis for _, basis in found}) == 1:
        return found[0][1], tuple(quote for quote, _ in found)
    return "", tuple(_with_line(quote, basis) for quote, basis in found)


def _with_line(quote: Quote, basis: str) -> Quote:
    return replace(quote, lines=(*quote.lines, basis.removeprefix(f"{NOT_AVAILABLE}: ")))
