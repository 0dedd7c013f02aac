"""All tables of a report as one spreadsheet workbook, the same bytes each time."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import xlsxwriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.pages.model import DataTable, Report, Table

_SHEET_NAME_MAX = 31
_FACTS = "Report"
# Excel keeps this name for itself.
_RESERVED = ("history",)
_COLUMN_WIDTH = 16
_TEXT_WIDTH = 40


def workbook(report: Report, tables: Iterable[DataTable]) -> bytes:
    """Write one sheet per table of numbers, behind a sheet with the run's facts and its summary tables.

    Texts are written as texts, never as formulas.
    """
    target = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(target, options)
    book.set_properties({"title": report.title, "created": datetime(*report.date, tzinfo=UTC).replace(tzinfo=None)})
    bold = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1})
    _write_facts(book.add_worksheet(_FACTS), report, bold)
    shown = list(tables)
    for name, table in zip(sheet_names([table.name for table in shown]), shown, strict=True):
        _write_table(book.add_worksheet(name), table.columns, table.rows, bold)
    book.close()
    return target.getvalue()


def sheet_names(names: Sequence[str]) -> list[str]:
    """Names of sheets, each once whatever its case and at most 31 characters, as a workbook demands.

    A name that is longer, or taken, ends in ``~`` and its number among the sheets.
    Worked: ``["a" * 32, "b"]`` -> ``["a" * 29 + "~1", "b"]``.
    """
    taken = {_FACTS.lower(), *_RESERVED}
    found = []
    for place, name in enumerate(names, 1):
        if len(name) > _SHEET_NAME_MAX or name.lower() in taken:
            end = f"~{place}"
            found.append(name[: _SHEET_NAME_MAX - len(end)] + end)
        else:
            found.append(name)
        taken.add(found[-1].lower())
    return found


def _write_facts(sheet: Any, report: Report, bold: Any) -> None:
    """The summary tables and everything disclosed, one below the other."""
    sheet.set_column(0, 0, _TEXT_WIDTH)
    sheet.set_column(1, 20, _COLUMN_WIDTH)
    facts = [("Report", report.title), ("Conformity", report.label)]
    # The first page has the warnings of all tests.
    facts += [("Warnings", banner) for banner in (report.pages[0].banner,) if banner]
    for row, (name, text) in enumerate(facts):
        sheet.write_string(row, 0, name, bold)
        sheet.write_string(row, 1, text)
    row = len(facts) + 1
    for table in _printed_tables(report):
        sheet.write_string(row, 0, table.caption, bold)
        row = _write_rows(sheet, row + 1, table.columns, table.rows, bold) + 1


def _printed_tables(report: Report) -> list[Table]:
    summary = [block for page in report.pages if page.title.startswith("Summary Report") for block in page.blocks]
    return [block for block in (*summary, *report.appendix) if block.block == "table" and not block.folded]


def _write_table(sheet: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]], bold: Any) -> None:
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(columns) - 1, _COLUMN_WIDTH)
    _write_rows(sheet, 0, columns, rows, bold)


def _write_rows(sheet: Any, start: int, columns: Sequence[str], rows: Sequence[Sequence[Any]], bold: Any) -> int:
    """Returns the row behind the table."""
    for place, name in enumerate(columns):
        sheet.write_string(start, place, name, bold)
    for offset, values in enumerate(rows, start=start + 1):
        for place, value in enumerate(values):
            if isinstance(value, str):
                sheet.write_string(offset, place, value)
            else:
                sheet.write_number(offset, place, value)
    return start + 1 + len(rows)
