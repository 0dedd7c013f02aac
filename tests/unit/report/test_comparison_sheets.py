"""Tables of a comparison share pages: narrow ones beside each other, wide ones one above the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from assay.report.comparison.pages import Sheet, _paged
from assay.report.comparison.tests import _unlike_amounts
from assay.report.formats.html import _entries
from assay.summary.pages.model import Table, with_values


def table(caption: str, rows: int, width: int = 10, spanner: str = "") -> Table:
    return Table(caption=caption, columns=("a", "b"), rows=(("x", "y" * width),) * rows, spanner=spanner)


def shape(found: list[Sheet]) -> list[tuple[int, list[int]]]:
    return [(len(one.blocks), [len(column) for column in one.columns]) for one in found]


def test_narrow_tables_stand_in_two_columns_and_keep_their_order() -> None:
    found = _paged((table(name, 14), name) for name in ("Numbers", "Ratios", "Ranks"))
    assert shape(found) == [(0, [1, 1]), (1, [])]
    assert [one.title for one in found] == ["Numbers; Ratios", "Ranks"]


def test_short_tables_share_a_column_and_wide_ones_a_page() -> None:
    assert shape(_paged((table(name, 3), name) for name in "abc")) == [(0, [3])]
    (wide,) = _paged((table(name, 3, width=120), name) for name in "abc")
    assert (len(wide.blocks), wide.title) == (3, "a to c")
    assert all(isinstance(one, Table) and one.titled for one in wide.blocks)


def test_a_long_table_is_parted_and_a_matrix_has_a_page_of_its_own() -> None:
    parts = [one for sheet in _paged([(table("long", 40, width=120), "long")]) for one in sheet.blocks]
    assert sum(len(one.rows) for one in parts if isinstance(one, Table)) == 40
    assert shape(_paged((table(name, 8, spanner="Mix"), name) for name in "ab")) == [(1, []), (1, [])]


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
