"""Tables as CSV files. A leading apostrophe makes a cell inert that a spreadsheet would take for a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from assay.words.coded import Coded
from assay.words.text import text

if TYPE_CHECKING:
    from assay.summary.table import Raw, ResultTable, Words

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def table_csv(table: ResultTable) -> bytes:
    """Write a table as RFC 4180 text in UTF-8. Worked: a text ``"=1+1"`` is written ``'=1+1``."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(column.key for column in table.columns)
    writer.writerows([_inert(cell_text(cell, table.words)) for cell in row] for row in table.rows)
    return target.getvalue().encode("utf-8", "backslashreplace")


def cell_text(value: Raw, words: Words) -> Any:
    """A number as it is, all else as text."""
    if value is None:
        return words.none
    if isinstance(value, bool):
        return words.yes if value else words.no
    return text(value) if isinstance(value, Coded) else value


def _inert(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell
