"""Tests at a stated rate of arrivals on simulated drives: judged by queueing theory, and told in the report."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from assay.archive.rendering import render_run
from assay.engine.records import Cell, StoredTest
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import loop_result, offered_rates, open_loop_times
from assay.report import FORMATS, build_report
from assay.results.histogram import intended_times
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run
from assay.summary.pages.model import Table
from result_rows import table_rows
from session_runs import copied_run

RND_4K_R = Cell(read_pct=100, transfer_bytes=4096)
SERVICE_MS = 0.011204
"""Of a 4 KiB read of ``sim:ideal``, always the same with one outstanding."""


def conducted(folder: Path, arrival: str, choices: dict[str, Any] | None = None, **keys: Any) -> StoredTest:
    overrides = {"drive": "sim:ideal?capacity=1GB", "seed": 1, "scale": 0.01, "tests": ("lat",), **keys}
    plan = load_plan(None, overrides, {"arrival": arrival, **(choices or {})})
    copied_run(plan, folder)
    return read_run(folder, histograms=True).tests[0]


@pytest.fixture(scope="module")
def poisson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "poisson"
    conducted(folder, "poisson:62000")
    return folder


def test_the_wait_of_poisson_arrivals_is_that_of_a_queue_with_constant_service(poisson: Path) -> None:
    (test,) = read_run(poisson, histograms=True).tests
    found = open_loop_times(test, loop_result(test))[RND_4K_R]
    # Pollaczek and Khinchine: constant service S at load r waits r S / (2 (1 - r)) on average.
    load = 62_000 * SERVICE_MS / 1000
    expected = SERVICE_MS * (1 + load / (2 * (1 - load)))
    assert found.service.latency_ms_mean == pytest.approx(SERVICE_MS, rel=1e-4)
    assert found.intended.latency_ms_mean == pytest.approx(expected, rel=0.03)
    nines = list(found.intended.percentiles_ms.values())
    assert nines == sorted(nines)
    assert (found.intended.latency_ms_max or 0) >= (nines[-1] or 0) > SERVICE_MS


def test_fixed_arrivals_below_what_the_drive_does_never_wait(tmp_path: Path) -> None:
    test = conducted(tmp_path / "run", "fixed:50000")
    result = loop_result(test)
    for rate in offered_rates(test, result).values():
        assert rate.offered_per_s == 50_000
        assert rate.achieved_per_s == pytest.approx(50_000, rel=1e-3)
        assert rate.level == "pass"
    for times in open_loop_times(test, result).values():
        assert times.intended == times.service


def test_what_the_drive_cannot_take_is_told_on_every_page(tmp_path: Path) -> None:
    test = conducted(tmp_path / "run", "fixed:100000")
    rate = offered_rates(test, loop_result(test))[RND_4K_R]
    assert rate.achieved_per_s == pytest.approx(1000 / SERVICE_MS, rel=1e-3)
    assert rate.level == "invalid"
    # 0.5 KiB comes near: 98.5 % of what is offered.
    small = offered_rates(test, loop_result(test))[Cell(read_pct=100, transfer_bytes=512)]
    assert (small.level, round(small.share, 3)) == ("warn", 0.985)
    report = build_report(read_run(tmp_path / "run"))
    lat = [page for page in report.pages if page.title.startswith("Client Latency")]
    assert {page.banner for page in lat} == {"OFFERED RATE NOT REACHED in 6 of 9 cells"}


def test_the_report_gives_both_latencies_and_both_rates_of_every_cell(poisson: Path) -> None:
    report = build_report(read_run(poisson, histograms=True))
    page = report.pages[-2]
    assert page.subtitle == "Open Loop - poisson arrivals, 62000 I/Os per second over all threads"
    (table,) = [block for block in page.blocks if isinstance(block, Table)]
    assert [row[0] for row in table.rows[::2]][4] == "RND 4KiB 65/35"
    assert [row[5] for row in table.rows] == ["service", "intended"] * 9
    assert {row[4] for row in table.rows[::2]} == {"PASS"}
    assert "open loop: poisson arrivals, 62000 I/Os per second over all threads, at most 1 outstanding" in report.label
    render_run(poisson, FORMATS)
    with (poisson / "report/lat_open_loop.csv").open() as file:
        rows = list(csv.DictReader(file))
    facts = table_rows(json.loads((poisson / "report/results.json").read_text())["tests"][0], "open_loop")
    assert len(rows) == len(facts) == 9
    assert {row["verdict"] for row in rows} == {fact["verdict"] for fact in facts} == {"pass"}
    by_cell = {(float(row["block_kib"]), int(row["read_pct"])): row for row in rows}
    for fact in facts:
        row = by_cell[fact["block_kib"], fact["read_pct"]]
        assert float(row["intended_ms_mean"]) == fact["intended_ms_mean"]
        assert float(row["achieved_per_s"]) == fact["achieved_per_s"]


def test_counts_from_when_the_ios_were_due_are_kept_beside_the_others(poisson: Path) -> None:
    (test,) = read_run(poisson, histograms=True).tests
    (fill,) = test.stage("precondition")
    assert fill.steps[0].offered_io_count is None
    assert not intended_times(fill)
    for sequence in test.stage("round"):
        for step, times in zip(sequence.steps, intended_times(sequence), strict=True):
            both = (step.read, step.write)
            assert times.io_count == sum(one.window_io_count + one.tail_io_count for one in both)
    kept = pq.read_table(poisson / "intended/000002.parquet")
    assert kept.column_names == ["step", "direction", "bucket", "count"]
    assert b"intended_histogram" not in (poisson / "journal.jsonl").read_bytes()


def test_with_a_rate_the_demand_only_limits_what_is_outstanding(tmp_path: Path) -> None:
    test = conducted(
        tmp_path / "run", "poisson:2000", {"thread_count": 2, "queue_depth": 4}, drive="sim:client-2011?capacity=1GB"
    )
    assert (test.settings.demand.thread_count, test.settings.demand.queue_depth) == (2, 4)
    assert test.settings_as(LoopSettings).preconditioning_demand.arrivals_per_s is None
    for round_ in test.rounds:
        assert all(cell.outstanding_ns <= 8 * cell.span_ns for cell in round_.cells)
