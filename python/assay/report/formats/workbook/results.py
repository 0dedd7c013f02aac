"""The sheet of results of a workbook: a block per test, its tables below each other as they are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from assay.report.formats.workbook.cells import cell_value, write_value
from assay.summary.table import pivoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.report.formats.workbook.cells import Formats
    from assay.summary.table import Column, Pivoted, ResultTable

_SPAN = 12
"""Columns that the title of a test is drawn over."""
_MISSING = "n/a"


class Block(NamedTuple):
    """One test. lines : what stands below its title, each a name and a text. tables : of numbers, a sheet each.

    first : a table above them that has no sheet.
    """

    title: str
    lines: tuple[tuple[str, str], ...]
    tables: tuple[ResultTable, ...]
    first: ResultTable | None = None


def write_block(sheet: Any, row: int, block: Block, formats: Formats) -> int:
    """Write a test from a row on; the row behind it."""
    for place in range(_SPAN):
        sheet.write_string(row, place, "" if place else block.title, formats.test)
    for line, (name, said) in enumerate(block.lines, row + 1):
        sheet.write_string(line, 0, name, formats.caption)
        sheet.write_string(line, 1, said)
    end = row + 1 + len(block.lines)
    for table in (block.first, *block.tables):
        if table and table.section == "results" and table.rows:
            end = _write_views(sheet, end + 1, table, formats)
    return end


def _write_views(sheet: Any, row: int, table: ResultTable, formats: Formats) -> int:
    """A table by its pivots; whole where it has none, or one has two rows in a cell."""
    views = [pivoted(table, pivot) for pivot in table.pivots]
    result = [view for view in views if view]
    if not result or len(result) < len(views):
        return _write_whole(sheet, row, table, formats)
    for view in (one for one in result if any(value is not None for _, values in one.rows for value in values)):
        row = _write_pivot(sheet, row, table.title, view, formats) + 1
    return row - 1


def _write_whole(sheet: Any, row: int, table: ResultTable, formats: Formats) -> int:
    sheet.write_string(row, 0, table.title, formats.caption)
    if len(table.columns) > _SPAN and len(table.rows) < _SPAN:
        return _write_across(sheet, row + 1, table, formats)
    _write_heads(sheet, row + 1, table.columns, formats)
    for line, values in enumerate(table.rows, row + 2):
        for index, value in enumerate(values):
            plain = table.columns[index].role == "key"
            write_value(sheet, (line, index), value, formats, missing=_MISSING, plain=plain)
    return row + 2 + len(table.rows)


def _write_across(sheet: Any, row: int, table: ResultTable, formats: Formats) -> int:
    """A table of many columns and few rows, each row as a column under what tells it apart."""
    keys = [index for index, column in enumerate(table.columns) if column.role == "key"]
    sheet.write_string(row, 0, ", ".join(table.columns[key].heading for key in keys), formats.key)
    for across, values in enumerate(table.rows, 1):
        heading = ", ".join(str(cell_value(values[key])) for key in keys if values[key] is not None)
        sheet.write_string(row, across, heading, formats.head)
    shown = [place for place in range(len(table.columns)) if place not in keys]
    for line, place in enumerate(shown, row + 1):
        sheet.write_string(line, 0, table.columns[place].heading)
        for across, values in enumerate(table.rows, 1):
            write_value(sheet, (line, across), values[place], formats, missing=_MISSING)
    return row + 1 + len(shown)


def _write_pivot(sheet: Any, row: int, title: str, view: Pivoted, formats: Formats) -> int:
    """The title with the unit, what stands across, its values, and a row each for what stands down."""
    named = view.value.heading
    first = len(view.down)
    sheet.write_string(row, 0, named if title == named else f"{title}: {named}", formats.caption)
    sheet.write_string(row + 1, first, view.across.heading, formats.note)
    _write_heads(sheet, row + 2, view.down, formats)
    for index, heading in enumerate(view.headings, first):
        if isinstance(heading, str):
            sheet.write_string(row + 2, index, heading, formats.head)
        else:
            sheet.write(row + 2, index, heading, formats.head)
    for line, (keys, values) in enumerate(view.rows):
        for index, value in enumerate((*keys, *values)):
            marked = (line, index - first) in view.marked
            at = (row + 3 + line, index)
            write_value(sheet, at, value, formats, missing=_MISSING, marked=marked, plain=index < first)
    end = row + 3 + len(view.rows)
    if view.mark and view.marked:
        sheet.write_string(end, 0, f"Shaded: {view.mark.heading[:1].lower()}{view.mark.heading[1:]}.", formats.note)
        end += 1
    return end


def _write_heads(sheet: Any, row: int, columns: Sequence[Column], formats: Formats) -> None:
    for index, column in enumerate(columns):
        sheet.write_string(row, index, column.heading, formats.key if column.role == "key" else formats.head)
