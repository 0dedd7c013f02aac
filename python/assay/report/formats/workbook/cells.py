"""How values stand in the cells of a workbook: numbers as numbers, to four significant digits, all else as text."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any

from assay.words.coded import Coded
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xlsxwriter

    from assay.summary.table import Column, Raw

_DIGITS, _DECIMALS_MAX = 4, 9
_WIDTH_MIN, _WIDTH_MAX = 9, 44
_WIDTH_ROWS = 200
"""Rows that a width is taken from."""
_MARKED = "#FCE8B2"


class Formats:
    """The formats of a workbook, each made once."""

    def __init__(self, book: xlsxwriter.Workbook) -> None:
        self._book, self._made = book, dict[tuple[str, bool], Any]()
        self.title = book.add_format({"bold": True, "font_size": 14})
        self.test = book.add_format({"bold": True, "font_size": 12, "font_color": "#FFFFFF", "bg_color": "#2F4B66"})
        self.caption = book.add_format({"bold": True})
        self.head = book.add_format(
            {"bold": True, "bg_color": "#E8EDF2", "bottom": 1, "text_wrap": True, "align": "right"}
        )
        self.key = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1, "text_wrap": True})
        self.note = book.add_format({"italic": True, "font_color": "#555555"})
        self.missing = book.add_format({"align": "right", "font_color": "#777777"})

    def number(self, value: float, *, marked: bool = False) -> Any:
        """The format of a number. marked : it is shaded."""
        form = number_format(value)
        if (form, marked) not in self._made:
            shade = {"bg_color": _MARKED} if marked else {}
            self._made[form, marked] = self._book.add_format({"num_format": form, **shade})
        return self._made[form, marked]


def number_format(value: float) -> str:
    """Whole numbers without a point, others to four significant digits.

    Worked: 24632.4 -> ``#,##0``, 33.25 -> ``#,##0.00``, 0.0604 -> ``#,##0.00000``, 8 -> ``#,##0``.
    """
    if value == int(value):
        return "#,##0"
    decimals = min(max(_DIGITS - 1 - floor(log10(abs(value))), 0), _DECIMALS_MAX)
    return f"#,##0.{'0' * decimals}" if decimals else "#,##0"


def write_value(
    sheet: Any,
    at: tuple[int, int],
    value: Raw,
    formats: Formats,
    *,
    missing: str = "",
    marked: bool = False,
    plain: bool = False,
) -> None:
    """Write a value.

    at : row and column, from 0. missing : what stands for None; nothing where it is empty. plain : a number has all its
    digits, as what tells rows apart.
    """
    shown = cell_value(value)
    if shown is None:
        if missing:
            sheet.write_string(*at, missing, formats.missing)
    elif isinstance(shown, str):
        sheet.write_string(*at, shown, formats.missing if isinstance(value, Coded) else None)
    else:
        sheet.write_number(*at, shown, None if plain else formats.number(shown, marked=marked))


def cell_value(value: Raw) -> float | str | None:
    """A number or a text; None for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return text(value) if isinstance(value, Coded) else value


def printed_alike(sheet: Any, header: str, footer: str, heading_rows: int) -> None:
    """Landscape, one page wide, with heading rows, header and footer on every page."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.set_margins(left=0.4, right=0.4)
    sheet.repeat_rows(0, heading_rows - 1)
    sheet.set_header(f"&L{_plain(header)}&R&A")
    sheet.set_footer(f"&L{_plain(footer)}&RPage &P of &N")


def _plain(text: str) -> str:
    """A text of a header, of which a spreadsheet takes 255 characters; ``&`` begins a command."""
    return text.replace("&", "&&")[:120]


def width_of(column: Column, index: int, rows: Sequence[tuple[Raw, ...]]) -> int:
    """How wide a column is, with the arrow of its filter."""
    widest = max((len(_shown(row[index])) for row in rows[:_WIDTH_ROWS]), default=0)
    return min(max(len(column.key) + 3, widest + 1, _WIDTH_MIN), _WIDTH_MAX)


def _shown(value: Raw) -> str:
    result = cell_value(value)
    return result if isinstance(result, str) else "" if result is None else f"{result:,.{_DIGITS - 1}f}"
