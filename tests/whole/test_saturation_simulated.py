"""Write saturation on the simulated drive, scaled: rules, phases, reports, histogram."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from assay.archive.rendering import render_run
from assay.dut.dut import Answers
from assay.engine.records import StoredRun
from assay.procedures.families.saturation.result import saturation_result
from assay.report import FORMATS, build_report
from assay.results.audit import sequence_audits
from assay.results.histogram import step_times
from assay.results.step import issued_bytes
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run

DRIVE = "sim:client-2011?capacity=1GB"


def stored(folder: Path, **keys: Any) -> StoredRun:
    plan = load_plan(None, {"drive": DRIVE, "tests": ["wsat"], "seed": 1, **keys})
    assert run_plan(plan, out=folder, answers=Answers(), show=lambda _: None).exit_code == 0
    return read_run(folder, histograms=True)


def test_a_day_of_writes_shows_fresh_transition_and_steady_state(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", scale=0.05, wsat={"stop": "time"})
    (test,) = run.tests
    result = saturation_result(test, run.identity.capacity_bytes)
    assert len(result.samples.iops) == 1440
    assert (test.ended, test.preconditioning) == ("time", ())
    assert result.peak is not None
    assert result.peak_drop is not None
    assert result.steady is not None
    assert result.peak.minutes < result.peak_drop.minutes < result.steady.minutes
    # The fresh drive holds out until it was written about once.
    assert 0.9 < result.peak_drop.fills < 1.6
    assert result.steady_iops is not None
    assert result.peak.iops > 3 * result.steady_iops
    assert render_run(tmp_path / "run", FORMATS)


def test_a_disk_is_as_fast_at_the_end_as_at_the_beginning(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", drive="sim:hdd-15k", wsat={"stop": "first"})
    (test,) = run.tests
    result = saturation_result(test, run.identity.capacity_bytes)
    assert test.purge is not None
    assert test.purge.proof.startswith("every block of the simulated disk is overwritten")
    assert min(result.samples.iops) > 0.97 * max(result.samples.iops)
    assert result.steady_iops == pytest.approx(result.samples.iops[0], rel=0.01)
    assert render_run(tmp_path / "run", FORMATS)


def test_what_was_written_is_what_the_drive_counted(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", scale=0.01)
    (test,) = run.tests
    assert test.ended == "amount"
    audits = sequence_audits(test)
    assert all(audit.write_bytes[0] == audit.write_bytes[1] for audit in audits)
    result = saturation_result(test, run.identity.capacity_bytes)
    assert result.written_gb[-1] * 1e9 == pytest.approx(sum(audit.write_bytes[0] for audit in audits))
    assert result.fills[-1] >= 4


def test_rounds_of_samples_never_repeat_their_addresses(tmp_path: Path) -> None:
    # A 4X write saturation covers nearly every LBA; a sequence that starts again covers one sequence's worth.
    run = stored(tmp_path / "run", scale=0.01)
    steps = run.tests[0].steps("sample")
    latencies = {(step.write.latency_ns_sum, step.write.window_io_count) for step in steps}
    assert len(latencies) > len(steps) * 0.9


def test_edition_2_0_adds_percentiles_and_the_histogram(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", scale=0.02, edition="pts-c-2.0")
    (test,) = run.tests
    (histogram,) = test.stage("histogram")
    (times,) = step_times(histogram)
    step = histogram.steps[0]
    assert times.io_count == step.write.window_io_count + step.write.tail_io_count
    assert step.span_ns == 24 * 10**9
    subtitles = [page.subtitle for page in build_report(run).pages]
    assert "IOPS v Normalized Capacity" in subtitles
    assert "ART, 99.999 % & MRT v Normalized Capacity" in subtitles
    assert any("Confidence Level Plot" in subtitle for subtitle in subtitles)
    header = (render_run(tmp_path / "run", ["csv"])[0]).read_text().splitlines()[0]
    assert header == (
        "minute,iops,mb_per_s,tgbw_gb,drive_fills,latency_ms_mean,"
        "latency_ms_p99.9,latency_ms_p99.99,latency_ms_p99.999,latency_ms_max"
    )


def test_the_optional_workloads_are_tests_of_their_own(tmp_path: Path) -> None:
    names = ["oltp", "vod", "metadata", "composite"]
    run = stored(tmp_path / "run", scale=0.002, edition="pts-e-2.0", wsat={"workloads": names, "time_hours": 1})
    assert [test.settings.test for test in run.tests] == [f"wsat-{name}" for name in names]
    for test, share in zip(run.tests, (0.65, 0.9, 0.5, 0.4), strict=True):
        assert test.purge is not None
        steps = test.steps("sample")
        # Of all that was issued: slow writes of a drive without a cache end behind their short window.
        reads, writes = (
            sum(side.window_io_count + side.tail_io_count for side in sides)
            for sides in ([step.read for step in steps], [step.write for step in steps])
        )
        assert reads / (reads + writes) == pytest.approx(share, abs=0.03)
    composite = run.tests[-1].steps("sample")
    moved = sum(issued_bytes(step.read) + issued_bytes(step.write) for step in composite)
    count = sum(
        direction.window_io_count + direction.tail_io_count
        for step in composite
        for direction in (step.read, step.write)
    )
    assert moved / count == pytest.approx(7818.24, rel=0.1)
    assert build_report(run)


def test_the_survey_s_edition_and_a_histogram_on_wish(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", scale=0.005, edition="pts-0.9")
    assert run.tests[0].steps("histogram")
    run = stored(tmp_path / "wish", scale=0.005, wsat={"histogram_minutes": 20})
    assert any("Confidence" in page.subtitle for page in build_report(run).pages)


def test_a_run_cut_after_any_line_of_its_journal_renders_without_a_headline(tmp_path: Path) -> None:
    plan = load_plan(
        None, {"drive": DRIVE, "tests": ["wsat", "lat"], "seed": 1, "scale": 0.005, "edition": "pts-c-2.0"}
    )
    run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    lines = (tmp_path / "run/journal.jsonl").read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines]
    places = [place for place, kind in enumerate(kinds) if kind in {"test_started", "purged", "steps", "test_ended"}]
    for place in places[:4] + places[-14:]:
        cut = tmp_path / f"cut-{place}"
        shutil.copytree(tmp_path / "run", cut)
        (cut / "journal.jsonl").write_bytes(b"".join(lines[: place + 1]))
        report = build_report(read_run(cut, histograms=True))
        assert report.disclosure
        last = read_run(cut).tests[-1]
        if last.ended is None:
            assert "UNFINISHED" in (report.pages[0].banner or "")
            headline = [
                page for page in report.pages if "Confidence" in page.subtitle and last.settings.test in page.title
            ]
            assert not headline
