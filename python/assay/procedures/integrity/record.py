"""What data integrity shows: how much is wrong and where, then the rates of the passes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

from assay.engine.records.data_check import SECTOR_BYTES
from assay.procedures.integrity.result import first_wrong_lba, kind_counts, true_bytes, wrong_by_position, wrong_ranges
from assay.procedures.studies.record import TITLE, StudyReport
from assay.procedures.studies.result import study_result
from assay.results import withheld_reason
from assay.spec.units import GB, MB, SECOND_NS
from assay.summary.measures import quoted
from assay.summary.pages.data_tables import printed_table
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Figure, Series, figure_or_reason
from assay.summary.record import OWN_SLOTS, Measure, Tile
from assay.summary.table import Column, table_of
from assay.summary.verdict import framed
from assay.words.coded import coded
from assay.words.printed import NOT_AVAILABLE
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DataCheck, StoredRun, StoredTest
    from assay.procedures.integrity.result import KindCount, Wrong
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.model import Block, Page
    from assay.summary.record import Verdict
    from assay.summary.table import Declared, ResultTable
    from assay.words.coded import Coded

RANGES_SHOWN = 12
"""Rows of the printed list of ranges."""
_TILES = ("wrong_sectors", "checked_sectors", "first_wrong_lba", "true_capacity_gb")
_PASS, _SECTORS, _FIRST = Column("pass", "Pass", role="key"), Column("sectors", "Sectors"), "First LBA"
_KIND = Column("kind", "Kind", page_title="Returned instead", printer=lambda kind: text(coded(f"returned-{kind}")))
_CHECKED: Declared[DataCheck] = (
    (_PASS, attrgetter("after")),
    (Column("flushed", "Cache flush"), attrgetter("flushed")),
    (Column("checked_sectors", "Checked sectors"), attrgetter("checked_count")),
)
_WRONG: Declared[DataCheck] = (
    (Column("wrong_sectors", "Wrong sectors"), attrgetter("wrong_count")),
    (Column("first_wrong_lba", "First wrong LBA", page_title=_FIRST), first_wrong_lba),
)
_RATE: Declared[DataCheck] = (
    (
        Column("read_mb_per_s", "Read and compared", "MB/s", printer="{:,.0f}".format),
        lambda check: check.checked_count * SECTOR_BYTES * SECOND_NS / max(check.span_ns, 1) / MB,
    ),
)
_PASSES: Declared[DataCheck] = (
    *_CHECKED,
    *_WRONG,
    (Column("unlisted_sectors", "Wrong sectors in no range"), attrgetter("unlisted_count")),
    (Column("true_capacity_bytes", "True capacity at most", "B"), true_bytes),
    *_RATE,
)
_PAGE_PASSES: Declared[DataCheck] = (
    *_CHECKED,
    (
        Column("checked_gb", "Checked", "GB", printer="{:,.2f}".format),
        lambda check: check.checked_count * SECTOR_BYTES / GB,
    ),
    *_RATE,
    *_WRONG,
)
_KINDS: Declared[KindCount] = (
    (_PASS, attrgetter("check.after")),
    (replace(_KIND, role="key"), attrgetter("kind")),
    (_SECTORS, attrgetter("sector_count")),
    (Column("first_lba", _FIRST), attrgetter("first_lba")),
    (Column("last_lba", "Last LBA"), attrgetter("last_lba")),
)
_RANGE: Declared[Wrong] = (
    (_PASS, attrgetter("check.after")),
    (Column("lba", _FIRST), attrgetter("first_lba")),
    (_SECTORS, attrgetter("range.count")),
    (_KIND, attrgetter("range.kind")),
)
_RANGES: Declared[Wrong] = (
    _RANGE[0],
    (Column("sector", "First sector of 512 bytes", role="key"), attrgetter("range.sector")),
    *_RANGE[1:],
    (Column("distance_sectors", "Distance to the address written to", "sectors"), attrgetter("range.distance")),
)
_PAGE_RANGES: Declared[Wrong] = (*_RANGE, (Column("written_lba", "Written to LBA"), attrgetter("written_lba")))


# Without slots: what is withheld is kept in the instance, as that of every test is.
@dataclass(frozen=True, kw_only=True)
class IntegrityReport(StudyReport):
    """One study of data integrity on its way to pages."""

    @cached_property
    def withheld(self) -> Coded | None:
        """Why nothing of it may be printed. What it read back is true whatever withholds its rates."""
        return None if self.test.data_checks else withheld_reason(self.test)

    @cached_property
    def verdict(self) -> Verdict:
        """How it came out, wrong data included."""
        return framed(self.test, self.ruled, withheld_reason(self.test))

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        where = "Where are sectors wrong? Share of the checked sectors of each part of the drive"
        return {"map": f"{where} that did not return what was written last.", **super().readings}

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
            yield from super().main_figures()

    def _map(self, name: str) -> Figure | None:
        capacity = self.run.identity.capacity_bytes
        series = tuple(
            Series.through(list(wrong_by_position(check, capacity)), check.after, index, "lines")
            for index, check in enumerate(self.test.data_checks)
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
        title, checks = self.settings.title, self.test.data_checks
        sector = "A sector has 512 bytes, whatever the logical block."
        kinds = printed_table(self._kinds(), caption="Wrong Sectors by Kind")
        blocks: tuple[Block, ...] = (
            *self.strip(),
            figure_or_reason(self._map("map"), "nothing was read back"),
            printed_table(table_of("passes", "Data Read Back", _PAGE_PASSES, checks), notes=(sector,)),
            kinds if kinds.rows else replace(kinds, rows=(("none", *(NOT_AVAILABLE,) * 4),)),
        )
        parts, ranges = [(f"{title}: Data Read Back", blocks)], list(wrong_ranges(checks))
        if ranges:
            more = len(ranges) - RANGES_SHOWN
            notes = (f"{more:,} more ranges stand in the CSV file.",) if more > 0 else ()
            first = table_of("ranges", "First Wrong Ranges", _PAGE_RANGES, ranges[:RANGES_SHOWN])
            parts.append((f"{title}: Wrong Ranges", (printed_table(first, notes=notes),)))
        return (*self.pages(TITLE, tuple(parts)), *super().report_pages())

    def numbers(self) -> Iterator[Measure]:
        """What was wrong, in all passes and in each, then the rates of the passes."""
        checks = self.test.data_checks
        known = [capacity for check in checks if (capacity := true_bytes(check))]
        first = next((lba for check in checks if (lba := first_wrong_lba(check)) is not None), None)
        values = (
            ("wrong_sectors", "sectors", "Wrong sectors", sum(check.wrong_count for check in checks)),
            ("checked_sectors", "sectors", "Checked sectors", sum(check.checked_count for check in checks)),
            ("first_wrong_lba", "LBA", "First wrong LBA", first),
            ("true_capacity_gb", "GB", "True capacity, at most", min(known) / GB if known else None),
        )
        basis = coded("read-backs", count=len(checks))
        for key, unit, name, value in values:
            # Nothing is known without a read-back; a drive that returned all has no wrong LBA.
            if value is not None:
                yield quoted((), unit, name, value if checks else None, basis, key=key)
        for check in checks:
            cell, label, lba = (("pass", check.after),), check.after, first_wrong_lba(check)
            for key, unit, value in (("wrong_sectors", "sectors", check.wrong_count), ("first_wrong_lba", "LBA", lba)):
                if value is not None:
                    yield Measure(cell=cell, key=key, label=label, unit=unit, value=value, stat="count")
        yield from super().numbers()

    def insights(self) -> Iterator[Insight]:
        """What every study says, but for the passes held against each other: they do the same."""
        return (insight for insight in super().insights() if insight.kind != "setting-effect")

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """What was read back, then what every study has."""
        stem, checks = self.settings.test.replace("-", "_"), self.test.data_checks
        yield table_of(f"{stem}_passes{suffix}", "Data read back", _PASSES, checks, section="results")
        yield self._kinds(f"{stem}_kinds{suffix}")
        yield table_of(f"{stem}_ranges{suffix}", "Wrong ranges", _RANGES, wrong_ranges(checks))
        yield from super().tables(suffix)

    def _kinds(self, key: str = "kinds") -> ResultTable:
        return table_of(key, "Wrong sectors by kind", _KINDS, kind_counts(self.test.data_checks), section="results")


def integrity_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> IntegrityReport:
    """A stored study of data integrity with everything that its pages print."""
    return IntegrityReport(run=run, test=test, edition=edition, prefix=prefix, result=study_result(test))
