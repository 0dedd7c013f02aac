"""How a test came out and what was unusual in it, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.checks import figure_text
from assay.procedures.conformity import short_window_text
from assay.procedures.run_findings import SEE_FINDINGS, checks_beyond
from assay.report.first_page.insights import insights_of_test, sentences
from assay.results import void_places, withheld_reason
from assay.spec.units import count_label
from assay.summary.pages.model import Table
from assay.summary.verdict import annex_caveats, host_words
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.results.finding import Checked
    from assay.summary.pages.test_record import TestRecord


_NAMED = 3
_FOUND = "What was found"


def found_table(test_record: TestRecord) -> tuple[Table, ...]:
    """Both of one test, for its summary."""
    rows = [("Key findings", line) for line in sentences(insights_of_test(test_record))]
    rows += [("Unusual", line) for line in of_test(test_record)]
    return (Table(caption=_FOUND, columns=(_FOUND, ""), rows=tuple(rows), merged=(_FOUND,)),) if rows else ()


def of_test(test_record: TestRecord) -> Iterator[str]:
    """What was unusual in one test: that its results are withheld, then all else."""
    withheld = withheld_reason(test_record.test)
    if withheld:
        yield f"results withheld, {text(withheld)}"
    yield from unusual(test_record)


def unusual(test_record: TestRecord) -> Iterator[str]:
    """What a reader must know of a test beside whether its results are withheld: findings, void parts, the host."""
    yield from beside_verdict(test_record)
    if words := host_words(test_record.verdict):
        yield f"the {words} measured parts; see {SEE_FINDINGS}"


def beside_verdict(test_record: TestRecord) -> Iterator[str]:
    """The same where the verdict is read with it, which says whether results are withheld and what the host did."""
    test = test_record.test
    voids = void_places(test)
    yield from (finding.words for finding in test_record.findings)
    yield from (f"{place} void, {text(reason)}" for place, reason in voids[:_NAMED])
    if voids[_NAMED:]:
        yield f"{len(voids) - _NAMED} more void"
    yield from map(text, test_record.remarks)
    moved = len(test_record.moved)
    if moved:
        cells = "1 cell that is not tracked" if moved == 1 else f"{moved} cells that are not tracked"
        where = f"; {test_record.moved_where}" if test_record.moved_where else ""
        yield f"{cells} moved by more than 20 % of the average in the window{where}; see {SEE_FINDINGS}"
    yield from short_window_text(test)
    beyond = checks_beyond(test_record)
    if beyond:
        named = ", ".join(map(_check_text, beyond[:_NAMED])) + (", and others" if beyond[_NAMED:] else "")
        yield f"{count_label(len(beyond), 'check')} beyond the limit: {named}; see {SEE_FINDINGS}"


def _check_text(check: Checked) -> str:
    """A check by its title, in how many places, and how far.

    Worked: ``"Gaps between sequences (5 of 17, worst 34.000 ms, limit 10.000 ms)"``.
    """
    worst, limit = (figure_text(value, check.check.unit) for value in (check.finding.measured, check.finding.limit))
    places = f"{check.marked:,} of {check.judged:,}" if check.judged > 1 else ""
    told = ", ".join(filter(None, (places, worst and f"worst {worst}", limit and f"limit {limit}")))
    return f"{check.check.title} ({told})" if told else check.check.title


def verdict(test_record: TestRecord) -> str:
    """How a test came out. Worked: ``"steady state: YES, rounds 1-5"``; ``"WITHHELD: 1 I/O error in the test"``.

    Of a test whose other cells moved: ``"steady state: YES, rounds 1-5; 5 other cells moved"``; of one that the test
    system disturbed: ``"steady state: YES, rounds 1-5; host disturbed 2 of 5"``.
    """
    withheld = withheld_reason(test_record.test)
    if withheld:
        return f"WITHHELD: {text(withheld)}"
    told = ", ".join(filter(None, (f"steady state: {test_record.facts.steady}", test_record.facts.window)))
    return "; ".join((told, *annex_caveats(test_record.verdict)))
