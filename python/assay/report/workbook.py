"""All tables of a report as one spreadsheet workbook, the same bytes each time."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import xlsxwriter

from assay.report.table_csv import cell_text
from assay.report.workbook_charts import CHARTS, POINTS, add_charts
from assay.summary.table import in_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.pages.model import Figure, Report, Table
    from assay.summary.table import ResultTable

_SHEET_NAME_MAX = 31
_FACTS = "Report"
# Excel keeps this name for itself.
_RESERVED = ("history",)
_WIDTH_MIN, _WIDTH_MAX, _TEXT_WIDTH = 9, 44, 40
_WIDTH_ROWS = 200
_NUMBER = re.compile(r"-?\d{1,3}(,\d{3})*(\.\d+)?|-?\d+(\.\d+)?")
# A number of more digits loses some in a spreadsheet, and one that begins with 0 is a name.
_DIGITS_MAX = 15
_WHOLE, _FRACTION, _SMALL = "#,##0", "#,##0.0##", "0.000000"
_SMALL_BELOW = 0.1
_COLUMNS_OF_NUMBERS = 3


def workbook(report: Report, tables: Iterable[ResultTable]) -> bytes:
    """Write one sheet per table of numbers, after a sheet with the run's facts and its summary tables.

    Texts are written as texts, never as formulas; in printed tables a text that is a number is written as that number.
    Every sheet of numbers has a filter, a frozen head and columns as wide as what they hold; the line figures follow as
    charts.
    """
    target = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(target, options)
    book.set_properties({"title": report.title, "created": datetime(*report.date, tzinfo=UTC).replace(tzinfo=None)})
    formats = _Formats(book)
    _write_facts(book.add_worksheet(_FACTS), report, formats)
    shown = list(tables)
    for name, table in zip(sheet_names([table.key for table in shown]), shown, strict=True):
        _write_table(book.add_worksheet(name), table, formats)
    add_charts(book, _figures(report), formats.head)
    book.close()
    return target.getvalue()


class _Formats:
    """The cell formats of a workbook."""

    def __init__(self, book: xlsxwriter.Workbook) -> None:
        self.head = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1})
        self._numbers = {form: book.add_format({"num_format": form}) for form in (_WHOLE, _FRACTION, _SMALL)}

    def number(self, value: float) -> Any:
        """Whole numbers without a point, small ones with six decimals, others with one to three."""
        small = value != 0 and abs(value) < _SMALL_BELOW
        return self._numbers[_WHOLE if value == int(value) else _SMALL if small else _FRACTION]


def sheet_names(names: Sequence[str]) -> list[str]:
    """Names of sheets, each once whatever its case and at most 31 characters, as a workbook demands.

    A name that is longer, or taken, ends in ``~`` and its number among the sheets.
    Worked: ``["a" * 32, "b"]`` -> ``["a" * 29 + "~1", "b"]``.
    """
    taken = {_FACTS.lower(), CHARTS.lower(), POINTS.lower(), *_RESERVED}
    found = []
    for place, name in enumerate(names, 1):
        if len(name) > _SHEET_NAME_MAX or name.lower() in taken:
            end = f"~{place}"
            found.append(name[: _SHEET_NAME_MAX - len(end)] + end)
        else:
            found.append(name)
        taken.add(found[-1].lower())
    return found


def number_of(text: str) -> float | None:
    """The number that a printed text is, None where it is none.

    Worked: ``"24,632.0"`` -> 24632.0; ``"007"``, ``"1-5"`` and a serial number of 16 digits -> None.
    """
    digits = text.replace(",", "").lstrip("-")
    if not _NUMBER.fullmatch(text) or len(digits.replace(".", "")) > _DIGITS_MAX:
        return None
    return None if digits.startswith("0") and digits[1:2].isdigit() else float(text.replace(",", ""))


def _write_facts(sheet: Any, report: Report, formats: _Formats) -> None:
    """The first page, the summary tables and everything disclosed, one below the other."""
    sheet.set_column(0, 0, _TEXT_WIDTH)
    sheet.set_column(1, 20, _WIDTH_MAX // 2)
    facts = [("Report", report.title), ("Conformity", report.label)]
    # The first page has the warnings of all tests.
    facts += [("Warnings", banner) for banner in (report.pages[0].banner,) if banner]
    for row, (name, text) in enumerate(facts):
        sheet.write_string(row, 0, name, formats.head)
        sheet.write_string(row, 1, text)
    row = len(facts) + 1
    for table in _printed_tables(report):
        sheet.write_string(row, 0, table.caption, formats.head)
        end = _write_rows(sheet, row + 1, table.columns, _read(table), formats)
        for place, note in enumerate(table.notes, end):
            # Beside the first column, so that it is no row of the table.
            sheet.write_string(place, 1, note)
        row = end + len(table.notes) + 1


def _read(table: Table) -> list[list[Any]]:
    """The rows of a printed table with its numbers as such; what stands beside a name may be a serial number."""
    if len(table.columns) < _COLUMNS_OF_NUMBERS:
        return [list(row) for row in table.rows]
    return [[text if (number := number_of(text)) is None else number for text in row] for row in table.rows]


def _figures(report: Report) -> list[tuple[str, Figure]]:
    found = ((page, block) for page in report.shown for block in page.all_blocks)
    return [(f"{page.title}: {page.subtitle}", block) for page, block in found if block.block == "figure"]


def _printed_tables(report: Report) -> list[Table]:
    summaries = [*report.opening, *(page for page in report.pages if page.title.startswith("Summary Report"))]
    disclosed = (block for block in report.appendix if block.block == "table" and not block.folded)
    return [*(block for page in summaries for block in page.all_blocks if block.block == "table"), *disclosed]


def _write_table(sheet: Any, table: ResultTable, formats: _Formats) -> None:
    sheet.freeze_panes(1, 0)
    kept = in_tables(table)
    names, rows = [one.key for one in kept.columns], [[cell_text(one, table.words) for one in row] for row in kept.rows]
    for place, name in enumerate(names):
        widest = max((len(_width_text(row[place])) for row in rows[:_WIDTH_ROWS]), default=0)
        # Room for the arrow of the filter.
        sheet.set_column(place, place, min(max(len(name) + 3, widest + 1, _WIDTH_MIN), _WIDTH_MAX))
    end = _write_rows(sheet, 0, names, rows, formats)
    sheet.autofilter(0, 0, max(end - 1, 1), len(names) - 1)


def _width_text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,.3f}"


def _write_rows(
    sheet: Any, start: int, columns: Sequence[str], rows: Sequence[Sequence[Any]], formats: _Formats
) -> int:
    """Returns the row after the table."""
    for place, name in enumerate(columns):
        sheet.write_string(start, place, name, formats.head)
    for offset, values in enumerate(rows, start=start + 1):
        for place, value in enumerate(values):
            if isinstance(value, str):
                sheet.write_string(offset, place, value)
            else:
                sheet.write_number(offset, place, value, formats.number(value))
    return start + 1 + len(rows)
