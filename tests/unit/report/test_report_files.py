"""The files of a report: names, byte identity, inert texts, one sheet per page."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.engine.records import Cell
from assay.errors import StoreError
from assay.procedures.custom import DataTable
from assay.report import FORMATS, build_report, records_of_tests, render
from assay.report.first_page.front import Paper, report_front
from assay.report.first_page.run_summary import summarise_run
from assay.report.formats.data import table_csv
from assay.report.formats.pdf import begin, figure_svg, verify_sheet_count
from assay.spec.units import KIB
from report_run import FALLING, HOSTILE, synthetic_run, synthetic_step, synthetic_test
from result_rows import table_rows

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.report import Format

TABLES = [
    "iops_matrix.csv", "iops_rounds.csv", "iops_response_times.csv", "iops_sequences.csv", "iops_percentiles.csv",
    "findings.csv",
]  # fmt: skip
NAMES = ["report.pdf", "report.html", *TABLES, "report.xlsx", "results.json"]


def rendered(run: StoredRun, folder: Path, *formats: Format) -> dict[str, bytes]:
    """Render formats, every one where none is named, and return the files' contents by name."""
    return {path.name: path.read_bytes() for path in render(run, folder, formats=formats or FORMATS)}


def rows_of(content: bytes) -> list[dict[str, str]]:
    """Read CSV text back."""
    return list(csv.DictReader(content.decode().splitlines()))


@pytest.mark.parametrize("edition", ["pts-c-1.0", "pts-e-2.0"])
def test_two_renders_of_a_run_are_byte_identical(edition: str, tmp_path: Path) -> None:
    run = synthetic_run(synthetic_test(edition))
    first, second = rendered(run, tmp_path / "a"), rendered(run, tmp_path / "b")
    assert list(first) == NAMES
    assert first == second
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(NAMES)


def test_only_the_formats_asked_for_are_written(tmp_path: Path) -> None:
    paths = render(synthetic_run(), tmp_path, formats=["csv"])
    assert [path.name for path in paths] == TABLES


@pytest.mark.parametrize(("tracked", "ended"), [(FALLING, "round-limit"), (FALLING[:2], None), ((), "interrupted")])
def test_runs_that_ended_badly_render_in_every_format(
    tracked: tuple[float, ...], ended: str | None, tmp_path: Path
) -> None:
    files = rendered(synthetic_run(synthetic_test(tracked=tracked, ended=ended)), tmp_path)
    assert files["report.pdf"].startswith(b"%PDF-")
    assert files["report.html"].count(b'class="banner"') == 9


@pytest.mark.parametrize("edition", ["pts-c-1.0", "pts-c-2.0"])
def test_a_drive_that_completed_nothing_still_renders(edition: str, tmp_path: Path) -> None:
    why = "no I/O of RND 4KiB 0/100 completed within a step of 1 min, which is too short for this drive and demand"
    test = replace(synthetic_test(edition, (0.0,), ended="no-completions"), ended_detail=why)
    files = rendered(synthetic_run(test), tmp_path, "html", "csv")
    assert b"n/a: no I/O of RND " in files["report.html"]
    assert b"NO HEADLINE: no I/O of RND " in files["report.html"]
    assert rows_of(files["iops_rounds.csv"]) == []
    assert {row["iops"] for row in rows_of(files["iops_matrix.csv"])} == {"n/a"}


def test_a_cell_without_a_completion_has_no_value(tmp_path: Path) -> None:
    test = synthetic_test()
    empty = synthetic_step(Cell(read_pct=100, transfer_bytes=1 << 20), 0.0)
    sequences = tuple(
        replace(one, steps=(empty, *one.steps[1:])) if one.stage == "round" else one for one in test.sequences
    )
    files = rendered(synthetic_run(replace(test, sequences=sequences)), tmp_path, "html", "csv", "json")
    values = {(row["block_kib"], row["read_pct"]): row["iops"] for row in rows_of(files["iops_matrix.csv"])}
    assert [cell for cell, value in values.items() if value == "n/a"] == [("1024", "100")]
    assert b"1 cell n/a: no I/O completed inside; the cell is too short" in files["report.html"]
    (test_results,) = json.loads(files["results.json"])["tests"]
    assert [cell["iops"] for cell in table_rows(test_results, "matrix")].count(None) == 1


def test_texts_from_drive_and_plan_are_inert_in_html(tmp_path: Path) -> None:
    hostile = " ".join(HOSTILE)
    run = synthetic_run(serial=hostile, model_number=hostile, description={"sponsor": hostile, "notes": hostile})
    page = rendered(run, tmp_path, "html")["report.html"].decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("</script>") == 2


def test_hostile_texts_inside_figures_cannot_end_their_script(tmp_path: Path) -> None:
    run = synthetic_run(description={"objective": HOSTILE[2]}, deviations=HOSTILE[:3])
    page = rendered(run, tmp_path, "html")["report.html"].decode()
    (figures,) = re.findall(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert set(json.loads(figures)) >= {"iops-1-convergence", "iops-1-columns"}
    assert "<" not in figures


def test_the_html_allows_its_own_two_scripts_and_no_network(tmp_path: Path) -> None:
    page = rendered(synthetic_run(), tmp_path, "html")["report.html"].decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!#|data:)', markup)


def test_a_long_list_of_deviations_still_fits_each_page(tmp_path: Path) -> None:
    many = tuple(f"deviation {index}: something departs from the specification" for index in range(80))
    run = synthetic_run(synthetic_test("pts-e-2.0", errors=1), deviations=many, serial="x" * 400)
    page = rendered(run, tmp_path, "pdf", "html")["report.html"].decode()
    assert page.count(many[-1]) >= 3


def test_a_page_that_spills_onto_another_sheet_is_refused() -> None:
    verify_sheet_count(6, 6)
    with pytest.raises(StoreError, match="6 pages came out on 7 sheets"):
        verify_sheet_count(7, 6)


def test_the_matrix_table_begins_with_block_read_share_and_iops(tmp_path: Path) -> None:
    content = rendered(synthetic_run(), tmp_path, "csv")["iops_matrix.csv"]
    assert content.decode().startswith("block_kib,read_pct,iops,write_pct,rounds,")
    rows = rows_of(content)
    assert len(rows) == 56
    keys = [(float(row["block_kib"]), int(row["read_pct"])) for row in rows]
    assert keys == sorted(keys)
    assert float(rows[7]["iops"]) == 3147.046
    assert (rows[7]["block_kib"], rows[7]["read_pct"], rows[7]["rounds"]) == ("4", "0", "1-5")
    assert rows[7]["steady_state"] == "reached"


def test_the_matrix_table_says_why_a_size_or_a_value_is_missing(tmp_path: Path) -> None:
    test = synthetic_test(sizes_bytes=(4 * KIB,), not_applicable={512: "4096-byte blocks"}, errors=1)
    rows = rows_of(rendered(synthetic_run(test), tmp_path, "csv")["iops_matrix.csv"])
    assert {(row["block_kib"], row["iops"], row["note"]) for row in rows} == {
        ("0.5", "N/A", "4096-byte blocks"),
        ("4", "n/a", "n/a: 5 I/O errors in the test"),
    }


def test_the_rounds_table_has_a_row_per_cell_and_round(tmp_path: Path) -> None:
    content = rendered(synthetic_run(), tmp_path, "csv")["iops_rounds.csv"]
    rows = rows_of(content)
    assert len(rows) == 5 * 56
    assert rows[0]["round"] == "1"
    assert (rows[0]["latency_ms_mean"], rows[0]["latency_ms_max"], rows[0]["error_count"]) == (
        "2.5",
        "41.0",
        "0",
    )


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_a_text_that_a_spreadsheet_would_run_is_prefixed(text: str) -> None:
    assert (
        table_csv(DataTable(name="x", columns=("a",), rows=[(text,)])).decode().split("\r\n", 1)[1].strip('"\r\n')
        == f"'{text}"
    )


def test_negative_numbers_stay_numbers() -> None:
    assert table_csv(DataTable(name="x", columns=("a",), rows=[(-1.5,)])) == b"a\r\n-1.5\r\n"


def test_the_serial_of_the_drive_is_inert_in_the_matrix_table(tmp_path: Path) -> None:
    rows = rows_of(rendered(synthetic_run(serial="=1+1"), tmp_path, "csv")["iops_matrix.csv"])
    assert rows[0]["drive_serial"] == "'=1+1"


def test_results_json_is_unrounded_and_carries_label_and_verdict(tmp_path: Path) -> None:
    results = json.loads(rendered(synthetic_run(), tmp_path, "json")["results.json"])
    (test,) = results["tests"]
    (verdict,) = test["window"]["verdicts"].values()
    assert verdict["average"] == 3147.046
    assert verdict["steady"] is True
    assert results["label"] == "simulated drive"
    assert len(table_rows(test, "matrix")) == 56
    assert table_rows(test, "steps")[-1]["iops_numerator"] > 0


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StoreError):
        render(synthetic_run(), tmp_path / "taken", formats=["json"])


def test_a_report_begun_before_its_figures_is_the_same_file(tmp_path: Path) -> None:
    run = synthetic_run()
    paper = Paper(
        report=build_report(run),
        front=report_front(run, tests := records_of_tests(run), summarise_run(run, tests, None)),
    )
    pictures = {figure.name: figure_svg(figure) for figure in paper.figures}
    (path,) = render(run, tmp_path, formats=["pdf"])
    with begin(paper) as begun:
        assert begun.finish(pictures) == path.read_bytes()
        assert not (begun._root / "draft/report.pdf").exists()
    assert not begun._root.exists()


def test_a_report_that_is_given_up_leaves_no_process_and_no_folder() -> None:
    with begin(Paper(report=build_report(synthetic_run()))) as begun:
        assert begun._root.exists()
    assert begun._process.returncode is not None
    assert not begun._root.exists()
