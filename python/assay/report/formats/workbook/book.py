"""Results and tables of numbers as one spreadsheet workbook, the same bytes each time."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import xlsxwriter

from assay.report.formats.workbook.cells import (
    CHARTS,
    POINTS,
    Formats,
    add_charts,
    printed_alike,
    width_of,
    write_value,
)
from assay.report.formats.workbook.results import Block, write_block

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from assay.summary.table import ResultTable

_SHEET_NAME_MAX = 31
RESULTS, FACTS = "Results", "Run"
# Excel keeps this name for itself.
_RESERVED = ("history",)
_KEY_WIDTH, _WIDTH, _COLUMNS = 34, 13, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A workbook. label : below its title. footer : of printed pages. facts : a sheet behind the results, if any."""

    title: str
    label: str
    footer: str
    date: datetime
    blocks: tuple[Block, ...]
    facts: ResultTable | None = None


def workbook(book: Book) -> bytes:
    """Write a sheet of results, a block per test, one of facts, one per table, and charts of what tables draw.

    Texts are written as texts, never as formulas. Every sheet has frozen heads, widths that fit and a print set-up.
    """
    target = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    made = xlsxwriter.Workbook(target, options)
    made.set_properties({"title": book.title, "created": book.date.replace(tzinfo=None)})
    formats = Formats(made)
    _write_results(made.add_worksheet(RESULTS), book, formats)
    if book.facts:
        _write_table(made.add_worksheet(FACTS), book.facts, book, formats)
    tables = [table for block in book.blocks for table in block.tables]
    for name, table in zip(sheet_names([table.key for table in tables]), tables, strict=True):
        _write_table(made.add_worksheet(name), table, book, formats)
    add_charts(made, [(block.title, table) for block in book.blocks for table in block.tables], formats.key)
    made.close()
    return target.getvalue()


def sheet_names(names: Sequence[str]) -> list[str]:
    """Names of sheets, each once whatever its case and at most 31 characters, as a workbook demands.

    A name that is longer, or taken, ends in ``~`` and its number among the sheets.
    Worked: ``["a" * 32, "b"]`` -> ``["a" * 29 + "~1", "b"]``.
    """
    taken = {*(name.lower() for name in (RESULTS, FACTS, CHARTS, POINTS)), *_RESERVED}
    result = []
    for index, name in enumerate(names, 1):
        if len(name) > _SHEET_NAME_MAX or name.lower() in taken:
            end = f"~{index}"
            result.append(name[: _SHEET_NAME_MAX - len(end)] + end)
        else:
            result.append(name)
        taken.add(result[-1].lower())
    return result


def _write_results(sheet: Any, book: Book, formats: Formats) -> None:
    sheet.set_column(0, 0, _KEY_WIDTH)
    sheet.set_column(1, _COLUMNS, _WIDTH)
    sheet.write_string(0, 0, book.title, formats.title)
    sheet.write_string(1, 0, book.label)
    sheet.freeze_panes(2, 1)
    row = 3
    for block in book.blocks:
        row = write_block(sheet, row, block, formats) + 2
    printed_alike(sheet, book.title, book.footer, 2)


def _write_table(sheet: Any, table: ResultTable, book: Book, formats: Formats) -> None:
    """A table as its CSV file has it, with a filter; the columns at its begin that tell rows apart stay in view."""
    keys = next((index for index, column in enumerate(table.columns) if column.role != "key"), 0)
    sheet.freeze_panes(1, keys)
    for place, column in enumerate(table.columns):
        sheet.set_column(place, place, width_of(column, place, table.rows))
        sheet.write_string(0, place, column.key, formats.key)
    for row, values in enumerate(table.rows, 1):
        for place, value in enumerate(values):
            write_value(sheet, (row, place), value, formats, plain=place < keys)
    sheet.autofilter(0, 0, max(len(table.rows), 1), len(table.columns) - 1)
    printed_alike(sheet, f"{book.title}: {table.title}", book.footer, 1)
