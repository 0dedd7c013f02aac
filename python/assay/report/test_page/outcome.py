"""How tests came out, in the words of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results import withheld_reason
from assay.summary.pages.label import beside
from assay.words.text import text

if TYPE_CHECKING:
    from assay.summary.pages.test_report import TestReport


def verdict(test_report: TestReport) -> str:
    """How a test came out. Worked: ``"steady state: YES, rounds 1-5"``; ``"WITHHELD: 1 I/O error in the test"``.

    Of a test whose other cells moved: ``"steady state: YES, rounds 1-5; 5 other cells moved"``; of one that the test
    system disturbed: ``"steady state: YES, rounds 1-5; host disturbed 2 of 5"``.
    """
    withheld = withheld_reason(test_report.test)
    if withheld:
        return f"WITHHELD: {text(withheld)}"
    told = ", ".join(filter(None, (f"steady state: {test_report.facts.steady}", test_report.facts.window)))
    return "; ".join((told, *beside(test_report.test, len(test_report.moved_cells()))))
