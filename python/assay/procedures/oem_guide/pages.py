"""The pages of the OEM guide's method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.procedures.oem_guide.checks import guide_checks
from assay.procedures.oem_guide.plan import ALIGNED, CORNERS, OFF
from assay.procedures.oem_guide.tables import (
    check_data,
    checks_table,
    comparison_table,
    corner_row,
    depth_table,
    guide_data,
    guide_rows,
    guide_table,
)
from assay.procedures.studies.figures import study_figure
from assay.procedures.studies.pages import StudyReport
from assay.procedures.studies.result import study_result
from assay.procedures.studies.settings import StudyPlot
from assay.results.finding import Finding
from assay.summary.measures import quoted
from assay.summary.pages.model import Text
from assay.summary.pages.test_report import TestReport
from assay.words.coded import coded
from assay.words.printed import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.oem_guide.tables import GuideRow
    from assay.spec.edition import Edition
    from assay.summary.pages.main_figure import MainFigure
    from assay.summary.pages.model import Block, Page
    from assay.summary.record import Key, Measure
    from assay.summary.table import ResultTable

TITLE = "OEM Guide - Report Page (no test of the specification)"
PLOTS = (
    StudyPlot(kind="places", variable="iops", x_title="Queue Depth", x_scale="log"),
    StudyPlot(kind="places", variable="response", x_title="Queue Depth", x_scale="log"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideReport(StudyReport):
    """The OEM guide's method on its way to pages. checks : by name."""

    rows: tuple[GuideRow, ...]
    checks: dict[str, Finding]

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the two figures."""
        how = "the four corner tests at 1 to 32 outstanding I/Os"
        return {
            "1": f"How much does the drive gain from more outstanding I/Os? Shown are the IOPS of {how}. Where a line "
            "is level, the drive is saturated. Random writes also change the drive from depth to depth.",
            "2": f"What does a deeper queue cost? Shown is the mean response time of {how}. Above saturation it rises "
            "in proportion to the depth.",
        }

    def main_figures(self) -> Iterator[MainFigure]:
        """Those of its pages."""
        return TestReport.main_figures(self)

    def report_pages(self) -> tuple[Page, ...]:
        """The guide's table, the cycling of queue depths, and the comparison of entropy and alignment."""
        asked = Text(paragraphs=(paragraph(self.settings.question), paragraph(self.settings.outline)))
        figures: list[Block] = [
            figure
            for index, plot in enumerate(PLOTS, 1)
            if (figure := study_figure(f"{self.prefix}-{index}", plot, self.result)) is not None
        ]
        nothing = Text(paragraphs=("n/a: no test ran to its end",))
        return self.pages(
            TITLE,
            (
                ("The Guide's Table", (*self.strip(), guide_table(self.rows), checks_table(self.checks), asked)),
                ("Queue Depth: IOPS and Response Time", tuple(figures or [nothing])),
                ("Queue Depth: Table", (depth_table(self.rows),)),
                ("Entropy and Alignment", (comparison_table(self.rows, dict(self.settings.not_run)),)),
            ),
        )

    def numbers(self) -> Iterator[Measure]:
        """The four corners, the lowest share that is left off the alignment, and what every study has."""
        numbers = [row for corner in CORNERS if (row := corner_row(self.rows, ALIGNED, corner))]
        for row in numbers:
            value, unit = row.rate
            cell: Key = (("corner", row.corner.name),)
            basis = coded("not-whole-run") if value is None else coded("corner", name=row.corner.name, outstanding=32)
            yield quoted(cell, unit, f"OEM guide, {row.corner.title}", value, basis, claim=row.corner.claim)
        yield from self._off_alignment(numbers)
        yield from (replace(number, quoted=False, name="") for number in StudyReport.numbers(self) if number.cell)

    def _off_alignment(self, found: list[GuideRow]) -> Iterator[Measure]:
        pairs = [(corner_row(self.rows, OFF, row.corner), row) for row in found]
        shares = [off.rate[0] / row.rate[0] for off, row in pairs if off and off.rate[0] is not None and row.rate[0]]
        if shares:
            name = "OEM guide, slowest corner off the alignment over aligned"
            yield quoted((), "x", name, min(shares), coded("off-alignment"))

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """The guide's rows, then what every study has."""
        yield guide_data(self.rows, suffix)
        yield check_data(self.checks, suffix)
        # Zero arguments of super() name the class that slots replaced.
        yield from StudyReport.tables(self, suffix)


def guide_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> GuideReport:
    """A stored test with everything that its pages print; I/Os of others before it stand over every page."""
    results = study_result(test)
    checks = guide_checks(run, test, results.outstanding_error)
    others = checks["Idle before the test"]
    reason = coded("not-idle", what=others.reason)
    warned = (Finding(level="warn", reason=reason),) if others.level == "warn" else ()
    result = replace(results, findings=(*results.findings, *warned))
    rows = guide_rows(test, result)
    return GuideReport(run=run, test=test, edition=edition, prefix=prefix, result=result, rows=rows, checks=checks)
