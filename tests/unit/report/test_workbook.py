"""The workbook: results by test as they are printed, facts, tables, and charts whose series have names."""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import openpyxl
import pytest
from assay.report import render
from assay.report.formats.workbook import number_format
from assay.summary.table import BLOCK_KIB, IOPS, READ_PCT, Column, Pivot, pivoted, table_of_columns
from report_run import synthetic_run, synthetic_test
from saturation_run import saturation_test

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun

RATES = [50_000.0] * 100 + [2_500.0] * 1340


def suite() -> StoredRun:
    return replace(synthetic_run(), tests=(saturation_test(RATES), synthetic_test()))


def written(run: StoredRun, folder: Path) -> bytes:
    (path,) = render(run, folder, formats=["xlsx"])
    return path.read_bytes()


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(suite(), tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def book(content: bytes) -> Any:
    return openpyxl.load_workbook(BytesIO(content))


def rows_of(sheet: Any) -> list[tuple[Any, ...]]:
    return list(sheet.iter_rows(values_only=True))


def place(rows: list[tuple[Any, ...]], first: str, after: int = 0) -> int:
    return next(number for number, row in enumerate(rows) if number >= after and row[0] == first)


def test_the_first_sheet_has_a_block_per_test_with_its_verdict_demand_and_key_results(book: Any) -> None:
    rows = rows_of(book["Results"])
    assert book.sheetnames[:2] == ["Results", "Run"]
    assert place(rows, "WSAT") < place(rows, "IOPS") < place(rows, "All tests")
    of_iops = rows[place(rows, "IOPS") :]
    assert dict(row[:2] for row in of_iops[1:3]) == {"Verdict": "steady, rounds 1-5", "Demand": "8 - TC 1/QD 8"}
    assert next(row for row in of_iops if row[0] == "RND 4KiB W")[1:3] == (3147.046, "IOPS")


def test_a_matrix_has_sizes_down_and_mixes_across_with_units_in_the_headings(book: Any) -> None:
    rows = rows_of(book["Results"])
    head = place(rows, "Transfer size (KiB)", place(rows, "IOPS"))
    assert rows[head - 1][:2] == (None, "Reads (%)")
    assert rows[head][:8] == ("Transfer size (KiB)", 0, 5, 35, 50, 65, 95, 100)
    assert [row[0] for row in rows[head + 1 : head + 9]] == [0.5, 4, 8, 16, 32, 64, 128, 1024]
    assert rows[head + 2][1] == 3147.046
    assert any(row[0] == "Response times: Mean response time (ms)" for row in rows)


def test_a_view_has_its_keys_ascending_and_says_which_cells_are_marked() -> None:
    columns = ((BLOCK_KIB, (8, 4, 4)), (READ_PCT, (0, 100, 0)), (IOPS, (3, 2, 1)), (Column("far"), (None, True, False)))
    view = pivoted(table_of_columns("t", "T", columns), Pivot(("block_kib",), "read_pct", "iops", "far"))
    assert view is not None
    assert (view.headings, view.rows, view.marked) == ((0, 100), (((4,), (1, 2)), ((8,), (3, None))), {(0, 1)})


def test_a_view_with_two_rows_in_a_cell_is_none() -> None:
    table = table_of_columns("t", "T", ((BLOCK_KIB, (4, 4)), (READ_PCT, (0, 0)), (IOPS, (1, 2))))
    assert pivoted(table, Pivot(("block_kib",), "read_pct", "iops")) is None


@pytest.mark.parametrize(
    ("value", "form"),
    [
        *[(24632.4, "#,##0"), (33.25, "#,##0.00"), (0.0604, "#,##0.00000"), (8.0, "#,##0"), (-1.5, "#,##0.000")],
        *[(1234.5, "#,##0"), (0.0, "#,##0"), (1e-12, "#,##0.000000000")],
    ],
)
def test_numbers_have_four_significant_digits(value: float, form: str) -> None:
    assert number_format(value) == form


def test_every_sheet_of_numbers_is_frozen_filtered_and_set_up_for_print(book: Any) -> None:
    for sheet in (one for one in book.worksheets if one.title not in {"Charts", "Chart points"}):
        assert sheet.page_setup.orientation == "landscape"
        # One page wide, which is what a file says by saying nothing of it, and as high as it is long.
        assert (sheet.page_setup.fitToWidth or 1, sheet.page_setup.fitToHeight) == (1, 0)
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.print_title_rows
        assert sheet.oddFooter.right.text == "Page &P of &N"
        assert sheet.freeze_panes
    assert book["iops_matrix"].freeze_panes == "C2"
    assert book["iops_matrix"].auto_filter.ref
    assert book["Results"].print_title_rows == "$1:$2"


def test_what_is_unknown_is_an_empty_cell_of_a_sheet_and_said_among_the_results(book: Any) -> None:
    head, *rows = rows_of(book["wsat_percentiles"])
    unknown = head.index("latency_ms_p99.999")
    assert {row[unknown] for row in rows} == {None}
    results = rows_of(book["Results"])
    # A table of more columns than a page holds has them below each other.
    assert set(results[place(results, "99.999 % (ms)")][1 : 1 + len(rows)]) == {"n/a"}


def test_every_series_of_a_chart_has_a_name_and_points_in_the_sheet(content: bytes, book: Any) -> None:
    assert len(book["Charts"]._charts) > 3
    with ZipFile(BytesIO(content)) as parts:
        charts = [parts.read(name).decode() for name in parts.namelist() if name.startswith("xl/charts/chart")]
    series = [one for chart in charts for one in re.findall(r"<c:ser>.*?</c:ser>", chart, re.DOTALL)]
    assert series
    assert all("<c:tx>" in one and "<c:xVal>" in one for one in series)
    named = [cell.value for cell in book["Chart points"][1]][1::2]
    assert len(named) == len(series)
    assert all(named)
    assert {"4 KiB", "1,024 KiB"} <= set(named)


def test_facts_come_from_values(book: Any) -> None:
    facts = {row[:2]: row[2] for row in rows_of(book["Run"])[1:]}
    assert facts["Drive", "capacity bytes"] == suite().identity.capacity_bytes
    assert facts["Run", "conformity"]
    assert ("Deviation", "1") in facts or not suite().deviations


def test_the_same_run_gives_the_same_bytes(content: bytes, tmp_path: Path) -> None:
    assert written(suite(), tmp_path) == content


def test_results_that_are_withheld_are_said_to_be_so_and_have_no_value(tmp_path: Path) -> None:
    test = replace(synthetic_test(), ended="drive-changed", ended_detail="firmware changed")
    rows = rows_of(
        openpyxl.load_workbook(BytesIO(written(replace(synthetic_run(), tests=(test,)), tmp_path)))["Results"]
    )
    key = place(rows, "RND 4KiB W")
    assert rows[key][1] == "n/a"
    assert not any(
        row[0] == "Transfer size (KiB)" and isinstance(rows[at + 1][1], float) for at, row in enumerate(rows)
    )
