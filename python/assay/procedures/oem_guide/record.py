"""What the OEM guide's method shows: the guide's table, its checks, the cycling of depths, and the comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from assay.procedures.oem_guide.plan import ALIGNED, COMPRESSIBLE, CORNERS, OFF, STORED_SHARE
from assay.procedures.oem_guide.result import corner_row, guide_checks, guide_rows
from assay.procedures.studies.figures import study_figures
from assay.procedures.studies.plan import over_places
from assay.procedures.studies.record import IOPS_AND_MEAN, StudyReport, of_settled
from assay.procedures.studies.result import study_result
from assay.results.finding import Finding
from assay.summary import columns as of
from assay.summary.measures import quoted
from assay.summary.pages.data_tables import printed_pivot, printed_table
from assay.summary.pages.model import Table, Text
from assay.summary.pages.test_report import TestReport
from assay.summary.table import Column, picked, table_of
from assay.words.coded import coded
from assay.words.printed import NOT_APPLICABLE, NOT_AVAILABLE, one_decimal, paragraph, rate_or_na

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.oem_guide.plan import Corner
    from assay.procedures.oem_guide.result import GuideRow
    from assay.spec.edition import Edition
    from assay.summary.pages.main_figure import MainFigure
    from assay.summary.pages.model import Page
    from assay.summary.record import Measure
    from assay.summary.table import Declared, ResultTable

TITLE = "OEM Guide - Report Page (no test of the specification)"
_ROWS: Declared[Any] = (
    (of.VARIANT, attrgetter("variant")),
    (Column("access_specification", "Access specification", role="key"), attrgetter("corner.name")),
    (of.DEPTH, attrgetter("depth")),
    (replace(of.IOPS, page_title="IOps"), of_settled("iops")),
    (Column("mibps", "Throughput", "MiB/s", page_title="MBps (2^20 B)"), attrgetter("mibps")),
    (replace(of.MB_PER_S, page_title="MB/s"), of_settled("throughput")),
    (replace(of.MEAN, page_title="Average response (ms)"), of_settled("latency_ms_mean")),
    (replace(of.MAXIMUM, page_title="Maximum response (ms)"), of_settled("latency_ms_max")),
    (Column("errors", "Errors"), attrgetter("errors")),
    (Column("cpu_pct", "CPU", "%", page_title="% CPU", printer="{:.2f}".format), attrgetter("cpu_pct")),
    (
        Column("cpu_effectiveness", "CPU effectiveness", "IOPS/%", page_title="CPU effectiveness"),
        attrgetter("effectiveness"),
    ),
)
_GUIDE = (
    "access_specification", "iops", "mibps", "mb_per_s", "latency_ms_mean", "latency_ms_max", "errors", "queue_depth",
    "cpu_pct", "cpu_effectiveness",
)  # fmt: skip
_CHECKS: Declared[tuple[str, Finding]] = (
    (Column("check", "Demand of the guide", role="key", page_title="Check"), lambda check: check[0]),
    (Column("level", "Level", page_title="Result"), lambda check: check[1].level),
    (Column("reason", "Reason", page_title="Value", missing=""), lambda check: check[1].words or None),
    (Column("measured", "Measured"), lambda check: check[1].measured),
    (Column("limit", "Limit"), lambda check: check[1].limit),
)


def guide_table(rows: Sequence[GuideRow]) -> Table:
    """The four corner tests as the guide prints them."""
    notes = (
        "MBps is base 2, as Iometer prints it; MB/s is base 10. Queue depth: outstanding I/Os per worker.",
        "% CPU: share of a single CPU, used by the thread that issues the I/Os. CPU effectiveness: IOps per % CPU.",
    )
    corners = [row for corner in CORNERS if (row := corner_row(rows, ALIGNED, corner))]
    title = "The Guide's Table: Four Corner Tests, Aligned to 4KiB"
    return printed_table(table_of("guide", title, picked(_ROWS, *_GUIDE), corners), notes=notes)


def depth_table(rows: Sequence[GuideRow]) -> Table:
    """IOPS and mean response time of every corner at every depth."""
    note = (
        "The depths run from 1 to 32 without a new burn-in, as the guide has it: the first random writes find a drive "
        "that was written sequentially, and what falls with the depth may be the drive's change of state."
    )
    table = table_of("depths", "Queue Depth Cycling", (*_ROWS, IOPS_AND_MEAN), [row for row in rows if row.cycled])
    return printed_pivot(
        table,
        of.DEPTH.key,
        "access_specification",
        IOPS_AND_MEAN[0].key,
        spanner="IOPS / mean response time (ms)",
        notes=(note,),
    )


def comparison_table(rows: Sequence[GuideRow], not_run: Mapping[str, str]) -> Table:
    """The corners off the alignment and with data that compress, against those of the first table."""
    variants = (ALIGNED, OFF, COMPRESSIBLE)
    before = (
        "Before each of the last two columns the drive was purged and written sequentially with the column's data, as "
        "the burn-in leaves it. In brackets: share of the first column."
    )
    notes = (
        f"Entropy 0 %: data that compress to {STORED_SHARE * 100:g} %, the least that the stimulus makes.",
        before,
        *(f"{label} not run: {reason}." for label, reason in not_run.items()),
    )
    return Table(
        caption="Entropy and Alignment",
        columns=("Access specification", "", *(f"{variant[0].upper()}{variant[1:]}" for variant in variants)),
        rows=tuple(_comparison(rows, corner) for corner in CORNERS),
        notes=notes,
    )


def _comparison(rows: Sequence[GuideRow], corner: Corner) -> tuple[str, ...]:
    first = corner_row(rows, ALIGNED, corner)
    base = first.rate if first else None
    others = (_against(base, corner_row(rows, variant, corner)) for variant in (OFF, COMPRESSIBLE))
    return (corner.name, corner.unit, rate_or_na(base), *others)


def _against(base: float | None, row: GuideRow | None) -> str:
    if row is None:
        return NOT_APPLICABLE
    if row.rate is None:
        return NOT_AVAILABLE
    return one_decimal(row.rate) + (f" ({100 * row.rate / base:.1f} %)" if base else "")


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
        plots = over_places("Queue Depth", "log", "iops", "response")
        figures = study_figures(self.prefix, plots, self.result)
        nothing = Text(paragraphs=("n/a: no test ran to its end",))
        checks = table_of("checks", "Checks of the Guide", _CHECKS[:3], self.checks.items())
        return self.pages(
            TITLE,
            (
                ("The Guide's Table", (*self.strip(), guide_table(self.rows), printed_table(checks), asked)),
                ("Queue Depth: IOPS and Response Time", figures or (nothing,)),
                ("Queue Depth: Table", (depth_table(self.rows),)),
                ("Entropy and Alignment", (comparison_table(self.rows, dict(self.settings.not_run)),)),
            ),
        )

    def numbers(self) -> Iterator[Measure]:
        """The four corners, the lowest share that is left off the alignment, and what every study has."""
        corners = [row for corner in CORNERS if (row := corner_row(self.rows, ALIGNED, corner))]
        for row in corners:
            corner, value = row.corner, row.rate
            basis = coded("not-whole-run") if value is None else coded("corner", name=corner.name, outstanding=32)
            cell = (("corner", corner.name),)
            yield quoted(cell, corner.unit, f"OEM guide, {corner.title}", value, basis, claim=corner.claim)
        pairs = [(corner_row(self.rows, OFF, row.corner), row.rate) for row in corners]
        if shares := [off.rate / rate for off, rate in pairs if off and off.rate is not None and rate]:
            name = "OEM guide, slowest corner off the alignment over aligned"
            yield quoted((), "x", name, min(shares), coded("off-alignment"))
        yield from (replace(number, quoted=False, name="") for number in StudyReport.numbers(self) if number.cell)

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """The guide's rows and demands, then what every study has."""
        yield table_of(f"study_oem_guide_table{suffix}", "The guide's tests", _ROWS, self.rows, section="results")
        yield table_of(f"study_oem_guide_checks{suffix}", "Demands of the guide", _CHECKS, self.checks.items())
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
