"""The tables of data integrity, printed and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.engine.records.data_check import SECTOR_BYTES
from assay.results.data_check import first_lba
from assay.spec.units import GB, MB, SECOND_NS
from assay.summary.pages.model import Table
from assay.summary.table import Column, table_of
from assay.words.coded import coded
from assay.words.printed import NOT_AVAILABLE
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import WrongRange
    from assay.procedures.integrity.result import Integrity, KindCount, PassResult
    from assay.summary.table import Declared, ResultTable

RANGES_SHOWN = 12
"""Rows of the printed list of ranges."""


class _Kind(NamedTuple):
    of: PassResult
    kind: KindCount


class _Range(NamedTuple):
    of: PassResult
    wrong: WrongRange


def pass_table(integrity: Integrity) -> Table:
    """What each read-back covered, how fast, and how much was wrong."""
    rows = tuple(
        (
            result.label,
            "yes" if result.check.flushed else "no",
            f"{result.check.checked_count:,}",
            f"{result.check.checked_count * SECTOR_BYTES / GB:,.2f}",
            f"{read_rate(result):,.0f}",
            f"{result.check.wrong_count:,}",
            NOT_AVAILABLE if result.first_lba is None else f"{result.first_lba:,}",
        )
        for result in integrity.passes
    )
    columns = (
        "Pass",
        "Cache flush",
        "Checked sectors",
        "Checked (GB)",
        "Read and compared (MB/s)",
        "Wrong sectors",
        "First LBA",
    )
    notes = ("A sector has 512 bytes, whatever the logical block.",)
    return Table(caption="Data Read Back", columns=columns, rows=rows, notes=notes)


def kind_table(integrity: Integrity) -> Table:
    """Wrong sectors by kind."""
    rows = tuple(
        (
            result.label,
            kind_words(kind.kind),
            f"{kind.count:,}",
            *(_lba(lba) for lba in (kind.first_lba, kind.last_lba)),
        )
        for result in integrity.passes
        for kind in result.kinds
    )
    columns = ("Pass", "Returned instead", "Sectors", "First LBA", "Last LBA")
    return Table(caption="Wrong Sectors by Kind", columns=columns, rows=rows or (("none", *(NOT_AVAILABLE,) * 4),))


def range_table(integrity: Integrity) -> Table | None:
    """The first ranges of wrong sectors; None where there are none."""
    ranges = [_Range(result, wrong) for result in integrity.passes for wrong in result.check.ranges]
    if not ranges:
        return None
    rows = tuple(
        (
            row.of.label,
            _lba(first_lba(row.of.check, row.wrong)),
            f"{row.wrong.count:,}",
            kind_words(row.wrong.kind),
            _from(row),
        )
        for row in ranges[:RANGES_SHOWN]
    )
    more = len(ranges) - len(rows)
    notes = (f"{more:,} more ranges stand in the CSV file.",) if more else ()
    columns = ("Pass", "First LBA", "Sectors", "Returned instead", "Written to LBA")
    return Table(caption="First Wrong Ranges", columns=columns, rows=rows, notes=notes)


def kind_words(kind: str) -> str:
    """A kind as printed. Worked: ``other-run`` -> ``"the data of an earlier run"``."""
    return text(coded(f"returned-{kind}"))


def read_rate(result: PassResult) -> float:
    """MB/s at which a pass was read and compared."""
    return result.check.checked_count * SECTOR_BYTES * SECOND_NS / max(result.check.span_ns, 1) / MB


def _from(row: _Range) -> str:
    if row.wrong.kind != "misdirected":
        return NOT_AVAILABLE
    return _lba((row.wrong.sector + row.wrong.distance) * SECTOR_BYTES // row.of.check.block_bytes)


def _lba(lba: int | None) -> str:
    return NOT_AVAILABLE if lba is None else f"{lba:,}"


_PASSES: Declared[PassResult] = (
    (Column("pass", "Pass", role="key"), lambda result: result.label),
    (Column("flushed", "Cache flush"), lambda result: result.check.flushed),
    (Column("checked_sectors", "Checked sectors"), lambda result: result.check.checked_count),
    (Column("wrong_sectors", "Wrong sectors"), lambda result: result.check.wrong_count),
    (Column("first_wrong_lba", "First wrong LBA"), lambda result: result.first_lba),
    (Column("unlisted_sectors", "Wrong sectors in no range"), lambda result: result.check.unlisted_count),
    (Column("true_capacity_bytes", "True capacity at most", "B"), lambda result: result.true_bytes),
    (Column("read_mb_per_s", "Read and compared", "MB/s"), read_rate),
)
_KINDS: Declared[_Kind] = (
    (Column("pass", "Pass", role="key"), lambda row: row.of.label),
    (Column("kind", "Kind", role="key"), lambda row: row.kind.kind),
    (Column("sectors", "Sectors"), lambda row: row.kind.count),
    (Column("first_lba", "First LBA"), lambda row: row.kind.first_lba),
    (Column("last_lba", "Last LBA"), lambda row: row.kind.last_lba),
)
_RANGES: Declared[_Range] = (
    (Column("pass", "Pass", role="key"), lambda row: row.of.label),
    (Column("sector", "First sector of 512 bytes", role="key"), lambda row: row.wrong.sector),
    (Column("lba", "First LBA"), lambda row: first_lba(row.of.check, row.wrong)),
    (Column("sectors", "Sectors"), lambda row: row.wrong.count),
    (Column("kind", "Kind"), lambda row: row.wrong.kind),
    (Column("distance_sectors", "Distance to the address written to", "sectors"), lambda row: row.wrong.distance),
)


def integrity_data(integrity: Integrity, name: str, suffix: str) -> Iterator[ResultTable]:
    """Passes, kinds and ranges, unrounded."""
    passes = integrity.passes
    yield table_of(f"{name}_passes{suffix}", "Data read back", _PASSES, passes, section="results")
    kinds = (_Kind(result, kind) for result in passes for kind in result.kinds)
    yield table_of(f"{name}_kinds{suffix}", "Wrong sectors by kind", _KINDS, kinds, section="results")
    ranges = (_Range(result, wrong) for result in passes for wrong in result.check.ranges)
    yield table_of(f"{name}_ranges{suffix}", "Wrong ranges", _RANGES, ranges)
