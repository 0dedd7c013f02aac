"""What data integrity shows: how much is wrong and where, then the rates of the passes."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from assay.engine.records.watched import SECTOR_BYTES
from assay.procedures.integrity.result import first_wrong_lba, kind_counts, true_bytes, wrong_by_position, wrong_ranges
from assay.procedures.studies.record import study_shown
from assay.procedures.studies.run import StudySettings
from assay.results.outcome import withheld_reason
from assay.spec.units import GB, MB, SECOND_NS
from assay.summary.measures import quoted
from assay.summary.pages.figures import MainFigure
from assay.summary.pages.model import Figure, Series, figure_or_reason
from assay.summary.pages.test_record import PagePart, Shown, Source, own_tiles
from assay.summary.record import Measure, Tile
from assay.summary.table import Column, printed_table, table_of
from assay.words.coded import coded
from assay.words.printed import NOT_AVAILABLE
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import DataCheck, StoredTest
    from assay.procedures.integrity.result import KindCount, Wrong
    from assay.summary.table import Declared, ResultTable

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


def integrity_shown(source: Source) -> Shown:
    """What a stored study of data integrity shows: how much is wrong and where, then what every study shows.

    What it read back is true whatever withholds its rates.
    """
    study, test = study_shown(source), source.test
    where = "Where are sectors wrong? Share of the checked sectors of each part of the drive"
    return replace(
        study,
        parts=(*_parts(source), *study.parts),
        readings={"map": f"{where} that did not return what was written last.", **study.readings},
        drawn=_main_figures(source, study.drawn or ()),
        numbers=_numbers(test, study.numbers),
        tiled=_tiles,
        # The passes do the same: none is held against another.
        seen=(insight for insight in study.seen if insight.kind != "setting-effect"),
        tables=lambda: chain(_tables(test, source.suffix), study.tables()),
        shows_withheld=bool(test.data_checks),
    )


def _tiles(measures: Sequence[Measure]) -> Iterator[Tile]:
    """Wrong and checked sectors, the first wrong LBA, and the true capacity."""
    known = {measure.key: measure for measure in measures if measure.quoted and measure.value is not None}
    return own_tiles([known[key] for key in _TILES if key in known])


def _main_figures(source: Source, of_study: Iterable[MainFigure]) -> Iterator[MainFigure]:
    """The map of wrong sectors, then the rates of the passes where none is wrong."""
    if figure := _map(source, "main-map"):
        yield MainFigure(kind="curve", title="Wrong sectors over the drive", figure=figure)
    if withheld_reason(source.test) is None:
        yield from of_study


def _map(source: Source, name: str) -> Figure | None:
    capacity = source.run.identity.capacity_bytes
    series = tuple(
        Series.through(list(wrong_by_position(check, capacity)), check.after, index, "lines")
        for index, check in enumerate(source.test.data_checks)
    )
    if not series:
        return None
    return Figure(
        name=f"{source.prefix}-{name}",
        kind="lines",
        alt="share of wrong sectors over the drive, a curve per pass",
        x_title="Position (GB)",
        y_title="Wrong Sectors (% of Checked)",
        series=series,
        aspect=2.4,
    )


def _parts(source: Source) -> Iterator[PagePart]:
    """What was read back, before the pages of any study."""
    title, checks = source.test.settings_as(StudySettings).title, source.test.data_checks
    sector = "A sector has 512 bytes, whatever the logical block."
    kinds = printed_table(_kinds(source.test), caption="Wrong Sectors by Kind")
    yield (
        f"{title}: Data Read Back",
        (
            *source.plan_box(),
            figure_or_reason(_map(source, "map"), "nothing was read back"),
            printed_table(table_of("passes", "Data Read Back", _PAGE_PASSES, checks), notes=(sector,)),
            kinds if kinds.rows else replace(kinds, rows=(("none", *(NOT_AVAILABLE,) * 4),)),
        ),
    )
    if ranges := list(wrong_ranges(checks)):
        more = len(ranges) - RANGES_SHOWN
        notes = (f"{more:,} more ranges stand in the CSV file.",) if more > 0 else ()
        first = table_of("ranges", "First Wrong Ranges", _PAGE_RANGES, ranges[:RANGES_SHOWN])
        yield f"{title}: Wrong Ranges", (printed_table(first, notes=notes),)


def _numbers(test: StoredTest, of_study: Iterable[Measure]) -> Iterator[Measure]:
    """What was wrong, in all passes and in each, then the rates of the passes."""
    checks = test.data_checks
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
    yield from of_study


def _tables(test: StoredTest, suffix: str) -> Iterator[ResultTable]:
    """What was read back."""
    stem, checks = test.settings.test.replace("-", "_"), test.data_checks
    yield table_of(f"{stem}_passes{suffix}", "Data read back", _PASSES, checks, section="results")
    yield _kinds(test, f"{stem}_kinds{suffix}")
    yield table_of(f"{stem}_ranges{suffix}", "Wrong ranges", _RANGES, wrong_ranges(checks))


def _kinds(test: StoredTest, key: str = "kinds") -> ResultTable:
    return table_of(key, "Wrong sectors by kind", _KINDS, kind_counts(test.data_checks), section="results")
