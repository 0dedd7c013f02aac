"""Summaries, selected performance, disclosure and workbook of a run of several tests."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import openpyxl
import pytest
from assay.engine.records import DriveCondition, SkippedTest, StoredRun
from assay.report import build_report, render
from assay.summary.pages.model import Box, Table
from report_run import HOSTILE, synthetic_run, synthetic_test
from saturation_run import saturation_test

if TYPE_CHECKING:
    from pathlib import Path

    from assay.summary.pages.model import Page

RATES = [50_000.0] * 100 + [2_500.0] * 1340


def suite(**changes: object) -> StoredRun:
    run = synthetic_run()
    return replace(run, tests=(saturation_test(RATES), synthetic_test()), **changes)  # type: ignore[arg-type]


def tables(page: Page) -> dict[str, Table]:
    return {block.caption: block for block in page.all_blocks if isinstance(block, Table)}


def test_the_order_is_summary_then_each_test_behind_its_own_summary() -> None:
    report = build_report(suite())
    titles = [page.title for page in report.pages]
    assert titles == [
        "Summary Report - All Tests",
        "Summary Report - Write Saturation (WSAT) - OPTIONAL",
        *["Client WSAT (OPTIONAL) - Report Page"] * 4,
        "Summary Report - IOPS - REQUIRED",
        *["Client IOPS (REQUIRED) - Report Page"] * 6,
        "Summary Performance - Selected",
    ]
    assert [page.place for page in report.pages] == [*(f"{n} of 13" for n in range(1, 14)), "A1"]
    assert [page.place for page in report.disclosure] == [f"A{n}" for n in range(2, 7)]


def test_the_summary_has_a_row_per_test_with_its_section_and_settings() -> None:
    rows = tables(build_report(suite()).pages[0])["Tests"].rows
    assert rows[0][:6] == ("7", "Write Saturation (WSAT) - OPTIONAL", "simulated purge", "RND", "2", "16")
    assert rows[0][-2:] == ("1,440 min / 2,052.1 GB", "YES")
    assert rows[1][:6] == ("8", "IOPS - REQUIRED", "simulated purge", "RND", "8", "1")
    assert rows[1][6:] == (
        "2X SEQ/128KiB", "100 %", "100 %", "Full IOPS Loop", "16 GiB", "2,048", "RND 4KiB 0/100", "1-5", "YES",
    )  # fmt: skip


def test_a_test_that_the_drive_cannot_run_is_a_row_with_the_reason() -> None:
    run = suite(
        skipped=(SkippedTest(test="lat", procedure="lat", reason="has 8.00 GB, the test range needs 19.33 GB"),)
    )
    row = tables(build_report(run).pages[0])["Tests"].rows[-1]
    assert (row[0], row[1]) == ("10", "Latency (LAT) - REQUIRED")
    assert row[-1] == "N/A: has 8.00 GB, the test range needs 19.33 GB"


def test_claims_stand_beside_measured_figures() -> None:
    run = suite(plan={"claims": {"rnd_4k_write_iops": 60000.0, "rnd_4k_read_iops": None}})
    page = build_report(run).pages[-1]
    rows = {(row[0], row[1]): row[2:] for row in tables(page)["Select Performance Data"].rows}
    assert rows["WSAT", "RND 4KiB 0/100, first sample"][:2] == ("IOPS", "50,000.0")
    basis = "average of the last five verdict samples, 32 outstanding; steady state"
    assert rows["WSAT", "RND 4KiB 0/100, settled"] == ("IOPS", "2,500.0", basis, "at least 60,000")
    assert rows["IOPS", "RND 4KiB W"][1::2] == ("3,147.0", "at least 60,000")
    assert rows["IOPS", "RND 4KiB W"][2].endswith("; steady state")
    assert rows["IOPS", "RND 4KiB R"][-1] == "not stated"
    boxes = [dict(block.entries) for block in page.blocks if isinstance(block, Box)]
    assert [(box["Test"], box["OIO - TC/QD"]) for box in boxes] == [
        ("WSAT", "32 - TC 16/QD 2"),
        ("IOPS", "8 - TC 1/QD 8"),
    ]


def test_the_sponsors_notes_are_printed_as_stated() -> None:
    note = {"item": "Bay", "notation": "3", "comments": HOSTILE[0]}
    found = tables(build_report(suite(plan={"special_notes": [note]})).pages[0])["Test Sponsor - Special Notes"]
    assert found.rows == (("Bay", "3", HOSTILE[0]),)


def test_condition_before_and_after_is_printed_once_where_it_did_not_change() -> None:
    conditions = (
        DriveCondition(link="SATA 6.0 Gbps", temperature_c=31.0, wear_used_pct=2.0),
        DriveCondition(link="SATA 6.0 Gbps", temperature_c=44.5, wear_used_pct=2.0),
    )
    page = build_report(suite(conditions=conditions)).pages[0]
    entries = dict(page.header.groups[-1].entries)
    assert entries == {"Link": "SATA 6.0 Gbps", "Temperature": "31 \u00b0C / 44.5 \u00b0C", "Wear Used": "2 %"}


def test_the_disclosure_counts_every_byte_and_error_per_test() -> None:
    pages = build_report(suite()).disclosure
    (_, table) = pages[1].columns[0]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["WSAT", "IOPS"]
    written = sum(round(rate * 60) * 4096 for rate in RATES)
    assert table.rows[0][:7] == ("WSAT", "1,440", "0", "0", "unknown", f"{written:,}", "unknown")


def test_the_workbook_holds_every_table_as_numbers_and_no_formula(tmp_path: Path) -> None:
    run = suite(identity=replace(suite().identity, serial="=1+1"))
    (path,) = render(run, tmp_path, formats=["xlsx"])
    book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()))
    assert book.sheetnames == [
        "Results", "Run", "wsat_samples", "wsat_marks", "wsat_sequences", "wsat_percentiles", "iops_matrix",
        "iops_rounds", "iops_response_times", "iops_sequences", "iops_percentiles", "findings", "Charts",
        "Chart points",
    ]  # fmt: skip
    samples = list(book["wsat_samples"].iter_rows(values_only=True))
    assert samples[0][:5] == ("minute", "iops", "mb_per_s", "tgbw_gb", "drive_fills")
    assert samples[1][:2] == (1, 50_000)
    assert len(samples) == 1441
    serials = {row[7] for row in book["iops_matrix"].iter_rows(min_row=2, values_only=True)}
    assert serials == {"=1+1"}
    assert {cell.data_type for row in book["iops_matrix"].iter_rows() for cell in row} <= {"s", "n"}


@pytest.mark.parametrize("edition", ["pts-0.9", "pts-c-2.0"])
def test_every_edition_s_write_saturation_renders(edition: str, tmp_path: Path) -> None:
    test = saturation_test(RATES, edition=edition)
    assert render(synthetic_run(test), tmp_path, formats=["pdf", "html"])


def test_a_loop_that_was_not_steady_says_so_beside_its_figures() -> None:
    falling = synthetic_test(tracked=(5000.0, 4500.0, 4000.0, 3500.0, 3000.0, 2600.0, 2200.0), ended="round-limit")
    page = build_report(replace(synthetic_run(), tests=(falling,))).pages[-1]
    table = tables(page)["Select Performance Data"]
    assert table.columns == ("Test", "Select Performance Data", "Unit", "Measured", "Basis")
    assert all("NOT STEADY" in row[4] and "steady state" not in row[4] for row in table.rows)
    assert all(row[3] != "n/a" for row in table.rows[:2])
