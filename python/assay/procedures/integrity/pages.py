"""The pages of data integrity: how much is wrong and where, then the rates of the passes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from assay.procedures.integrity.result import integrity_result, wrong_by_position
from assay.procedures.integrity.tables import integrity_data, kind_table, pass_table, range_table
from assay.procedures.studies.pages import TITLE, StudyReport
from assay.results import withheld_reason
from assay.summary.measures import quoted
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Figure, Series, Text
from assay.summary.record import OWN_SLOTS, Measure, Tile
from assay.summary.verdict import framed
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.integrity.result import Integrity, PassResult
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.model import Block, Page
    from assay.summary.record import Verdict
    from assay.summary.table import ResultTable
    from assay.words.coded import Coded

_TILES = ("wrong_sectors", "checked_sectors", "first_wrong_lba", "true_capacity_gb")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report(StudyReport):
    """What the class below adds to."""

    integrity: Integrity


# Without slots: what is withheld is kept in the instance, as that of every test is.
@dataclass(frozen=True, kw_only=True)
class IntegrityReport(_Report):
    """One study of data integrity on its way to pages."""

    @cached_property
    def withheld(self) -> Coded | None:
        """Why nothing of it may be printed. What it read back is true whatever withholds its rates."""
        return None if self.integrity.passes else withheld_reason(self.test)

    @cached_property
    def verdict(self) -> Verdict:
        """How it came out, wrong data included."""
        return framed(self.test, self.ruled, withheld_reason(self.test))

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        return {
            "map": "Where are sectors wrong? Share of the checked sectors of each part of the drive that did not "
            "return what was written last.",
            **StudyReport.readings.fget(self),  # type: ignore[attr-defined]
        }

    def tiles(self) -> Iterator[Tile]:
        """Wrong and checked sectors, the first wrong LBA, and the true capacity."""
        known = {measure.key: measure for measure in self.measures if measure.quoted and measure.value is not None}
        listed = [known[key] for key in _TILES if key in known]
        for slot, measure in zip(OWN_SLOTS, listed, strict=False):
            yield Tile(slot=slot, title=coded("tile-own", name=measure.printed), value=measure.identity)

    def main_figures(self) -> Iterator[MainFigure]:
        """The map of wrong sectors, then the rates of the passes where none is wrong."""
        if figure := self._map("main-map"):
            yield MainFigure(kind="curve", title="Wrong sectors over the drive", figure=figure)
        if withheld_reason(self.test) is None:
            yield from StudyReport.main_figures(self)

    def _map(self, name: str) -> Figure | None:
        capacity = self.run.identity.capacity_bytes
        series = tuple(
            Series.through(list(wrong_by_position(result.check, capacity)), result.label, index, "lines")
            for index, result in enumerate(self.integrity.passes)
        )
        if not series:
            return None
        return Figure(
            name=f"{self.prefix}-{name}",
            kind="lines",
            alt="share of wrong sectors over the drive, a curve per pass",
            x_title="Position (GB)",
            y_title="Wrong Sectors (% of Checked)",
            series=series,
            aspect=2.4,
        )

    def report_pages(self) -> tuple[Page, ...]:
        """What was read back first, then the pages of any study."""
        figure = self._map("map")
        nothing, title = Text(paragraphs=("n/a: nothing was read back",)), self.settings.title
        blocks: tuple[Block, ...] = (
            *self.strip(),
            figure or nothing,
            pass_table(self.integrity),
            kind_table(self.integrity),
        )
        ranges = range_table(self.integrity)
        parts = ((f"{title}: Data Read Back", blocks), *(((f"{title}: Wrong Ranges", (ranges,)),) if ranges else ()))
        return (*self.pages(TITLE, parts), *StudyReport.report_pages(self))

    def numbers(self) -> Iterator[Measure]:
        """What was wrong, in all passes and in each, then the rates of the passes."""
        integrity = self.integrity
        basis = coded("read-backs", count=len(integrity.passes))
        values = (
            ("wrong_sectors", "sectors", "Wrong sectors", integrity.wrong_count),
            ("checked_sectors", "sectors", "Checked sectors", integrity.checked_count),
            ("first_wrong_lba", "LBA", "First wrong LBA", integrity.first_lba),
            ("true_capacity_gb", "GB", "True capacity, at most", integrity.true_gb),
        )
        for key, unit, name, value in values:
            # Nothing is known without a read-back; a drive that returned all has no wrong LBA.
            if value is not None:
                yield quoted((), unit, name, value if integrity.passes else None, basis, key=key)
        for result in integrity.passes:
            yield from _of_pass(result)
        yield from StudyReport.numbers(self)

    def insights(self) -> Iterator[Insight]:
        """What every study says, but for the passes held against each other: they do the same."""
        return (insight for insight in StudyReport.insights(self) if insight.kind != "setting-effect")

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """What was read back, then what every study has."""
        yield from integrity_data(self.integrity, self.settings.test.replace("-", "_"), suffix)
        yield from StudyReport.tables(self, suffix)


def _of_pass(result: PassResult) -> Iterator[Measure]:
    cell = (("pass", result.label),)
    for key, unit, value in (
        ("wrong_sectors", "sectors", result.check.wrong_count),
        ("first_wrong_lba", "LBA", result.first_lba),
    ):
        if value is not None:
            yield Measure(cell=cell, key=key, label=result.label, unit=unit, value=value, stat="count")


def integrity_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> IntegrityReport:
    """A stored study of data integrity with everything that its pages print."""
    integrity = integrity_result(test)
    return IntegrityReport(
        run=run, test=test, edition=edition, prefix=prefix, result=integrity.study, integrity=integrity
    )
