"""Tables of a comparison share sheets, and long ones run on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pypdfium2
import pytest
from assay.report.comparison.figures import _unlike_amounts
from assay.report.first_page.front import Paper
from assay.report.formats.html import _entries
from assay.report.formats.pdf import report_pdf
from assay.summary.pages.model import Page, Report, Table, with_values


def table(caption: str, rows: int, columns: int = 2) -> Table:
    names = tuple(f"Column {place}" for place in range(columns))
    return Table(caption=caption, columns=names, rows=tuple((f"{caption} {row}", *names[1:]) for row in range(rows)))


def sheets(*tables: Table) -> list[str]:
    """The texts of the sheets of a report whose pages hold a table each and run on."""
    pages = tuple(
        Page(title="t", subtitle=one.caption, header=None, banner=None, blocks=(one,), runs_on=True) for one in tables
    )
    report = Report(title="t", label="l", colophon="c", date=(2000, 1, 1, 0, 0, 0), pages=pages, facts="f")
    document = pypdfium2.PdfDocument(report_pdf(Paper(report=report), {}))
    return [page.get_textpage().get_text_range() for page in document]


def test_short_tables_share_a_sheet_and_each_has_its_heading() -> None:
    (text,) = sheets(table("Numbers", 5, 3), table("Ratios", 5, 3), table("Ranks", 5, 12))
    assert [text.count(f"{name}\r\n") for name in ("Numbers", "Ratios", "Ranks")] == [1, 1, 1]
    assert "1 of 1" in text


def test_a_long_table_runs_on_and_repeats_its_heads() -> None:
    found = sheets(table("long", 90, 12))
    assert len(found) > 1
    assert all("Column 11" in text and f"{number} of {len(found)}" in text for number, text in enumerate(found, 1))
    assert [sum(f"long {row} " in text for text in found) for row in range(90)] == [1] * 90


def test_a_table_that_fits_a_sheet_is_not_parted() -> None:
    first, second = sheets(table("a", 20, 12), table("b", 20, 12))
    assert ("a 19 " in first, "b 0 " in first) == (True, False)
    assert ("b\r\n" in first, "b\r\n" in second, "b 19 " in second) == (False, True, True)


def test_a_column_without_a_value_is_left_out_and_one_with_a_single_value_stays() -> None:
    made = Table(
        caption="x",
        columns=("Test", "Value", "Claim", "Spread", "Kept"),
        rows=(("A", "1", "not stated", "n/a", "n/a"), ("B", "n/a", "n/a", "", "n/a")),
    )
    shown = with_values(made, kept=("Kept",))
    assert shown.columns == ("Test", "Value", "Kept")
    assert shown.rows == (("A", "1", "n/a"), ("B", "n/a", "n/a"))
    assert with_values(Table(caption="x", columns=("a", "b"), rows=())).columns == ("a", "b")


@pytest.mark.parametrize(
    ("capacities", "by_amount", "drawn"), [("AA", True, True), ("AB", True, False), ("AB", False, True)]
)
def test_curves_over_what_was_written_are_for_drives_of_one_size(capacities: str, by_amount: bool, drawn: bool) -> None:
    figure: Any = SimpleNamespace(by_amount=by_amount)
    curves: Any = [(SimpleNamespace(capacity=f"{size} GB"), figure) for size in capacities]
    assert (_unlike_amounts(curves) == "") is drawn
    if not drawn:
        assert "A GB, B GB" in _unlike_amounts(curves)


def test_contents_name_a_test_once_over_the_pages_that_begin_with_it() -> None:
    titles = ("What is compared", "WSAT: IOPS over Time", "WSAT: fresh against settled", "IOPS: all cells")
    pages: Any = [SimpleNamespace(anchor=str(place), subtitle=title) for place, title in enumerate(titles)]
    assert list(_entries("", pages)) == [
        ("0", "What is compared", []),
        ("", "WSAT", [("1", "IOPS over Time"), ("2", "fresh against settled")]),
        ("3", "IOPS: all cells", []),
    ]
    assert list(_entries("WSAT", pages[1:3])) == [("1", "WSAT", [("2", "WSAT: fresh against settled")])]
