"""The OEM guide's method and the five steps on simulated drives: what the drive's physics show, in every output."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.rendering import render_run
from assay.procedures.five_steps.plan import LABELS
from assay.report import build_report
from assay.results.audit import sequence_audits
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run
from assay.summary.pages.model import Figure, Table
from openpyxl import load_workbook
from result_rows import table_rows
from session_runs import copied_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.summary.pages.model import Page

DRIVE = "sim:client-2011?capacity=512MB"


def suite_run(name: str, folder: Path) -> StoredRun:
    plan = load_plan(None, {"drive": DRIVE, "suite": name, "seed": 1, "scale": 0.004})
    assert copied_run(plan, folder) == 0
    render_run(folder, formats=("json", "csv", "xlsx"))
    run = read_run(folder, histograms=True)
    assert all(one.write_bytes[0] == one.write_bytes[1] for one in sequence_audits(run.tests[0]))
    return run


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredRun, Path]:
    folder = tmp_path_factory.mktemp("guide") / "run"
    return suite_run("oem-guide", folder), folder


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredRun, Path]:
    folder = tmp_path_factory.mktemp("steps") / "run"
    return suite_run("five-steps", folder), folder


def own_pages(run: StoredRun, begins: str) -> list[Page]:
    return [page for page in build_report(run).pages if page.title.startswith(begins)]


def tables(run: StoredRun, begins: str) -> dict[str, Table]:
    found = (block for page in own_pages(run, begins) for block in page.all_blocks)
    return {block.caption: block for block in found if isinstance(block, Table)}


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"report/{name}.csv").open() as file:
        return list(csv.DictReader(file))


def results(folder: Path) -> Any:
    return json.loads((folder / "report/results.json").read_text())["tests"][0]


def by_test(found: list[dict[str, str]], variant: str) -> Iterator[tuple[str, int, float]]:
    for one in found:
        if one["variant"] == variant:
            yield one["access_specification"], int(one["queue_depth"]), float(one["iops"])


def test_the_guides_pages_have_its_table_the_depths_and_the_comparison(guide: tuple[StoredRun, Path]) -> None:
    run, _ = guide
    subtitles = [page.subtitle for page in own_pages(run, "OEM Guide")]
    assert subtitles == [
        "The Guide's Table",
        "Queue Depth: IOPS and Response Time",
        "Queue Depth: Table",
        "Entropy and Alignment",
    ]
    figures = [block for page in own_pages(run, "OEM Guide") for block in page.all_blocks if isinstance(block, Figure)]
    assert [(one.x_title, one.y_title) for one in figures] == [
        ("Queue Depth", "IOPS"),
        ("Queue Depth", "Average Response Time (ms)"),
    ]
    assert all(one.x == (1.0, 2.0, 4.0, 8.0, 16.0, 32.0) for figure in figures for one in figure.series)
    checks = {row[0]: row[1] for row in tables(run, "OEM Guide")["Checks of the Guide"].rows}
    assert checks["Idle before the test"] == checks["No I/Os of others during the test"] == "pass"
    assert (checks["Burn-in"], checks["Secondary drive"]) == ("warn", "n/a")


def test_the_guides_table_obeys_little_and_its_units(guide: tuple[StoredRun, Path]) -> None:
    _, folder = guide
    found = rows(folder, "study_oem_guide_table")
    assert len(found) == 4 + 24 + 4 + 4
    for one in found:
        size = 131072 if one["access_specification"].startswith("128k") else 4096
        assert float(one["iops"]) * size / 2**20 == pytest.approx(float(one["mibps"]))
        assert float(one["mibps"]) * 2**20 == pytest.approx(float(one["mb_per_s"]) * 1e6)
        held = float(one["iops"]) * float(one["latency_ms_mean"]) / 1000
        # Runs of 0.12 s: what is outstanding at their ends is a good part of them.
        assert held == pytest.approx(int(one["queue_depth"]), rel=0.1)


def test_reads_gain_from_depth_and_writes_off_the_alignment_lose(guide: tuple[StoredRun, Path]) -> None:
    _, folder = guide
    found = rows(folder, "study_oem_guide_table")
    aligned = [one for one in by_test(found, "entropy 100 % aligned") if one[0] == "4k_ran_100rd"]
    depths = {depth: rate for _, depth, rate in aligned[1:]}
    assert depths[8] > 3 * depths[1]
    corners = {name: rate for name, _, rate in list(by_test(found, "entropy 100 % aligned"))[:4]}
    off = {name: rate for name, _, rate in by_test(found, "entropy 100 % offset 32,256 B")}
    assert off["4k_ran_100wr"] < 0.8 * corners["4k_ran_100wr"]
    assert off["128k_seq_100rd"] > 0.9 * corners["128k_seq_100rd"]
    # This drive does not compress.
    same = {name: rate for name, _, rate in by_test(found, "entropy 0 % aligned")}
    assert same["128k_seq_100wr"] == pytest.approx(corners["128k_seq_100wr"], rel=0.1)


def test_the_guides_corners_are_headlines_measures_and_sheets(guide: tuple[StoredRun, Path]) -> None:
    run, folder = guide
    found = results(folder)
    items = [one["name"] for one in found["measures"] if one["quoted"]]
    assert items[:2] == ["OEM guide, SEQ 128KiB reads", "OEM guide, SEQ 128KiB writes"]
    assert len(table_rows(found, "guide_table")) == 36
    checks = {row["check"]: row["level"] for row in table_rows(found, "guide_checks")}
    assert checks["Idle before the test"] == "pass"
    assert "study_oem_guide_table" in load_workbook(folder / "report/report.xlsx").sheetnames
    assert run.deviations[-1] == "oem-guide: burn-in of 28.8 s instead of 2 h"


def test_the_five_steps_have_a_page_each_and_end_with_their_verdicts(steps: tuple[StoredRun, Path]) -> None:
    run, _ = steps
    pages = own_pages(run, "Five Steps")
    assert [page.subtitle.partition(":")[0] for page in pages] == [
        *(f"Step {n}" for n in range(1, 6)),
        "Verdict per Step",
    ]
    verdicts = tables(run, "Five Steps")["Verdict per Step"]
    assert [row[0] for row in verdicts.rows] == list(LABELS)
    assert {row[1] for row in verdicts.rows} <= {"pass", "fail"}
    assert all(row[3] for row in verdicts.rows)
    assert [one.kind for page in pages for one in page.all_blocks if isinstance(one, Figure)].count("columns") == 1


def test_the_verdicts_follow_from_the_figures_beside_them(steps: tuple[StoredRun, Path]) -> None:
    run, folder = steps
    found = results(folder)
    words = {one["step"]: one["verdict"] for one in table_rows(found, "verdicts")}
    # The drive has one frontier for all writes: random ones spoil what sequential ones find.
    assert words["4 workload independence"] == "fail"
    (change,) = table_rows(found, "change")
    assert change["drop_share"] == pytest.approx(1 - change["after"] / change["before"])
    assert change["drop_share"] > 0.3
    (verdict,) = run.tests[0].verdict.verdicts.values() if run.tests[0].verdict else ()
    (score,) = (one["measured"] for one in table_rows(found, "verdicts") if one["step"] == "3 stability")
    assert words["3 stability"] == ("pass" if verdict.steady and score >= 0.9 else "fail")
    assert [one["verdict"] for one in rows(folder, "study_five_steps_verdicts")] == list(words.values())


def test_the_surface_is_whole_and_reads_are_faster_than_writes(steps: tuple[StoredRun, Path]) -> None:
    _, folder = steps
    cells = {
        (float(one["block_kib"]), int(one["read_pct"])): float(one["iops"])
        for one in rows(folder, "study_five_steps_surface")
    }
    assert len(cells) == 84
    assert cells[4, 100] > cells[4, 0]
    assert cells[4, 100] > 10 * cells[1024, 100]
    # Below the drive's own unit a write costs a read as well.
    assert cells[0.5, 0] <= 1.05 * cells[4, 0]


def test_composite_workloads_have_their_sizes_and_mix(steps: tuple[StoredRun, Path]) -> None:
    run, _ = steps
    stages = [step for one in run.tests[0].stage("variant", 5) for step in one.steps]
    file_server = [step for step in stages if step.label.startswith("File server")]
    reads = sum(step.read.latency_io_count for step in file_server)
    writes = sum(step.write.latency_io_count for step in file_server)
    assert reads / (reads + writes) == pytest.approx(0.8, abs=0.02)
    moved = sum(step.read.window_bytes + step.write.window_bytes for step in file_server)
    count = sum(step.read.window_io_count + step.write.window_io_count for step in file_server)
    assert moved / count / 1024 == pytest.approx(11.08, rel=0.05)
    web = [step for step in stages if step.label.startswith("Web server")]
    assert not sum(step.write.window_io_count for step in web)
