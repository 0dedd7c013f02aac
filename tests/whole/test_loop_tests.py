"""Throughput and latency beside IOPS in one suite on the simulated drive, scaled."""

from pathlib import Path
from typing import Any

import pytest
from assay.archive.rendering import render_run
from assay.engine.records import Cell, StoredTest
from assay.procedures.families.loop.result import latency_maxima, loop_result
from assay.report import FORMATS, build_report
from assay.results.step import max_latency_ns
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run
from session_runs import copied_run


def stored(folder: Path, **keys: Any) -> tuple[StoredTest, ...]:
    plan = load_plan(None, {"drive": "sim:client-2011?capacity=1GB", "seed": 1, "scale": 0.01, **keys})
    copied_run(plan, folder)
    return read_run(folder).tests


@pytest.fixture(scope="module")
def enterprise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "enterprise"
    stored(folder, suite="enterprise")
    return folder


def test_settings_base_of_a_suite_has_its_own_purge_and_preconditioning(enterprise: Path) -> None:
    tests = read_run(enterprise).tests
    assert [test.settings.test for test in tests] == ["wsat", "iops", "tp-128", "tp-1024", "lat"]
    for test in tests[1:]:
        assert test.purge is not None
        (fill,) = test.preconditioning
        assert fill.write.window_bytes + fill.write.tail_bytes == 2 * 10**9
        assert test.ended in {"steady", "round-limit"}


@pytest.mark.long
def test_pages_titles_and_tables_are_those_of_each_test(enterprise: Path) -> None:
    report = build_report(read_run(enterprise))
    assert report.pages[-2].place == "30 of 30"
    subtitles = [page.subtitle for page in report.pages]
    assert "Enterprise 128KiB Throughput - ALL RW Mix & BS - Tabular Data & 2D Plot" in subtitles
    assert "Enterprise 1024KiB Throughput - ALL RW Mix & BS - Tabular Data & 2D Plot" in subtitles
    assert "Steady State Convergence - Maximum Latency - 100% Writes" in subtitles
    names = {path.name for path in render_run(enterprise, FORMATS)}
    assert {"iops_matrix.csv", "tp_128_matrix.csv", "tp_1024_matrix.csv", "lat_matrix.csv"} <= names


def test_megabytes_are_base_ten(enterprise: Path) -> None:
    (test,) = [test for test in read_run(enterprise).tests if test.settings.test == "tp-128"]
    cell = test.rounds[-1].cells[0]
    megabytes = (cell.read.window_bytes + cell.write.window_bytes) / 1e6
    assert loop_result(test).by_round[test.settings.cells[0]][-1] == pytest.approx(megabytes / (cell.span_ns / 1e9))


def test_the_maximum_is_the_largest_and_the_mean_of_maxima_has_its_own_name(enterprise: Path) -> None:
    (test,) = [test for test in read_run(enterprise).tests if test.settings.test == "lat"]
    maxima = latency_maxima(test, loop_result(test))
    cell = Cell(read_pct=0, transfer_bytes=4096)
    place = test.settings.cells.index(cell)
    last = [max_latency_ns(round_.cells[place]) or 0 for round_ in test.rounds[-5:]]
    assert maxima.largest[cell] == max(last) / 1e6
    assert maxima.mean_of_maxima[cell] == pytest.approx(sum(last) / 5 / 1e6)


def test_latency_is_one_outstanding_io(enterprise: Path) -> None:
    (test,) = [test for test in read_run(enterprise).tests if test.settings.test == "lat"]
    assert all(cell.outstanding_ns == cell.span_ns for round_ in test.rounds for cell in round_.cells)


def test_edition_2_0_preconditions_throughput_with_the_tested_size(tmp_path: Path) -> None:
    tests = stored(tmp_path / "run", edition="pts-e-2.0", tests=["tp"])
    labels = [test.preconditioning[0].label for test in tests]
    assert labels == ["WIPC SEQ 128KiB 0/100", "WIPC SEQ 1024KiB 0/100"]


@pytest.mark.long
def test_edition_2_0_has_its_own_header_and_eight_iops_pages(tmp_path: Path) -> None:
    stored(tmp_path / "run", edition="pts-e-2.0", scale=0.005)
    report = build_report(read_run(tmp_path / "run", histograms=True))
    own = [page for page in report.pages if page.title.endswith("- Report Page")]
    assert [sum(page.title.startswith(name) for page in own) for name in ("WSAT", "IOPS", "Through", "Lat")] == [
        6,
        8,
        8,
        9,
    ]
    assert {page.header.form for page in own} == {"2.0"}
    assert render_run(tmp_path / "run", ["pdf"])
