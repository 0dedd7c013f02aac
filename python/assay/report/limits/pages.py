"""The pages of a run held against limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.conformity_label import conformity_label
from assay.report.limits.facts import COLUMNS, limit_row, summary
from assay.report.test_page.summary import summary_header
from assay.summary.pages.model import Page, Report, Table
from assay.words.printed import capacity_label, paragraph, printable, utc_datetime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun
    from assay.report.limits.facts import ShownLimits
    from assay.summary.pages.test_report import TestReport

_EXPLANATION = (
    """Numbers are compared unrounded, and a bound itself is allowed. Not decided, which is never a pass: the number is
    n/a, its results are withheld, or a required steady state was not reached.""",
    """A bound for each TB is multiplied by the user capacity, in TB of 10^12 bytes. Of a health value the worst of the
    run counts. A claim is what the plan states of the data sheet.""",
)


def limits_report(run: StoredRun, tests: Sequence[TestReport], shown_limits: ShownLimits) -> Report:
    """Lay out verdicts as a report of their own; the same run and limits give the same pages."""
    rows = tuple(tuple(paragraph(text) if text else "" for text in row) for row in map(limit_row, shown_limits.limits))
    notes = tuple(paragraph(text) for text in _EXPLANATION)
    drive = (
        f"{printable(run.identity.model_number or run.identity.path)}, {capacity_label(run.identity.capacity_bytes)}"
    )
    page = Page(
        title="Limits",
        chapter="Limits",
        subtitle=f"{drive} - {paragraph(shown_limits.title)}",
        header=summary_header(run, tests[0].edition),
        banner=None if shown_limits.failed + shown_limits.undecided == 0 else summary(shown_limits),
        blocks=(Table(caption=summary(shown_limits), columns=COLUMNS, rows=rows, notes=notes),),
        runs_on=True,
        place="1 of 1",
    )
    return Report(
        title=f"{printable(run.identity.model_number or run.identity.path)} {printable(run.identity.id)} - limits",
        label=conformity_label(run),
        colophon=f"{printable(run.platform.tool)} {printable(run.platform.tool_version)} - run {printable(run.run_id)}",
        date=utc_datetime(run.started_wall_ns).timetuple()[:6],
        pages=(page,),
    )
