"""How tests came out, in the words of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results import withheld_reason
from assay.spec.units import SECOND_NS, duration_label
from assay.summary.pages.label import beside, host_label
from assay.words.text import text

if TYPE_CHECKING:
    from assay.summary.pages.model import Table
    from assay.summary.pages.test_report import TestReport

_HOST = "Disturbed by the host"
VERDICT_COLUMNS = ("Test", "Verdict", "Rounds or time/GB", _HOST)
_NOT_WATCHED = "not watched"


def time_text(driven_s: float, *, simulated: bool) -> str:
    """How long the drive was driven. Worked: 7,200 s -> ``"Time on the drive: 2 h."``, 10.8019 s -> ``... 10.8 s.``."""
    whose = "simulated drive, in simulated time" if simulated else "drive"
    return f"Time on the {whose}: {duration_label(round(round(driven_s, 1 if driven_s >= 1 else 3) * SECOND_NS))}."


def without_host(table: Table) -> Table:
    """A table of verdicts without its column on the host where nobody watched that in any test; a note says so.

    Worked: two tests, ``not watched`` in both -> one column less and the note ``Disturbed by the host: not watched.``
    """
    place = VERDICT_COLUMNS.index(_HOST)
    if {row[place] for row in table.rows} - {_NOT_WATCHED, ""}:
        return table
    return replace(table.without(_HOST), notes=(f"{_HOST}: {_NOT_WATCHED}.",))


def disturbed_label(test_report: TestReport) -> str:
    """How many of the measured parts the host disturbed. Worked: nobody watched it -> ``"not watched"``."""
    return host_label(test_report.test) or _NOT_WATCHED


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
