"""Host idle recovery and cross stimulus recovery on simulated drives: behaviour emerges, streams are as planned."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import assay
import pyarrow.parquet as pq
import pytest
from assay.archive.rendering import render_run
from assay.dut.dut import Answers
from assay.procedures.hir.result import idle_recovery_result
from assay.procedures.xsr.result import cross_stimulus_result, end_samples, slowest
from assay.report import FORMATS, build_report, records_of_tests
from assay.report.first_page.front import report_front
from assay.report.first_page.run_summary import summarise_run
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from result_rows import table_rows

if TYPE_CHECKING:
    from assay.engine.records import StoredRun
    from assay.procedures.hir.result import IdleRecoveryResult
    from assay.procedures.xsr.result import CrossStimulusResult

PACKAGE = Path(assay.__file__).parent
SECOND_NS = 10**9


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PTS-E 1.1 with the same bursts and idle times, but few of them, and shorter access groups."""
    text = (PACKAGE / "spec/editions/pts-e-1.1.toml").read_text("utf-8")
    for old, new in (
        ('name = "pts-e-1.1"', 'name = "quick"'),
        ("cycles = { value = 360", "cycles = { value = 4"),
        ("return_seconds = { value = 1800", "return_seconds = { value = 20"),
        ("[hir.preconditioning]\nsample_seconds = { value = 60", "[hir.preconditioning]\nsample_seconds = { value = 2"),
        ("hours = 8", "hours = 0.1"),
        ("hours = 6", "hours = 0.1"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    text = re.sub(r"(\[xsr\](?:.|\n)*?sample_seconds = \{ value = )60", r"\g<1>5", text)
    path = tmp_path_factory.mktemp("edition") / "quick.toml"
    path.write_text(text, "utf-8")
    return path


def drive_model(folder: Path, name: str, **parameters: float) -> str:
    """The drive of 2011 at 4 GB, with further parameters, as a custom drive model."""
    text = (PACKAGE / "dut/simulated/models/client-2011.toml").read_text("utf-8").replace("client-2011", name)
    for key, value in parameters.items():
        text = re.sub(rf"^{key} = .*\n", "", text, flags=re.MULTILINE)
        text += f'{key} = {{ value = {value}, source = "of the test" }}\n'
    path = folder / f"{name}.toml"
    path.write_text(text, "utf-8")
    return f"sim:{path}?capacity=4GB"


def stored(folder: Path, drive: str, test: str, edition: Path | str, **keys: object) -> StoredRun:
    plan = load_plan(None, {"drive": drive, "tests": [test], "edition": str(edition), "seed": 1, **keys})
    run_plan(plan, out=folder, answers=Answers(), show=lambda _: None)
    return read_run(folder, histograms=True)


def recovery(run: StoredRun) -> IdleRecoveryResult:
    return idle_recovery_result(run.tests[0], run.identity.capacity_bytes)


def crossed(folder: Path, drive: str, edition: Path) -> CrossStimulusResult:
    return cross_stimulus_result(stored(folder, drive, "xsr", edition).tests[0])


@pytest.mark.long
def test_idle_time_helps_a_drive_that_collects_in_it_and_more_of_it_helps_more(tmp_path: Path, quick: Path) -> None:
    drive = drive_model(tmp_path, "collects", idle_delay_ns=500_000_000, idle_target_share=0.04)
    # Without a cache the bursts are so short that all of them fit into what the first idle times free.
    result = recovery(stored(tmp_path / "run", drive, "hir", quick, write_cache="on"))
    gains = [state.over_baseline or 0 for state in result.states]
    assert 1.3 < gains[0] < gains[1] < gains[2]
    # What is free behind 25 s is no more behind 50 s.
    assert gains[4] == pytest.approx(gains[3], rel=0.05)
    assert all((state.return_iops or 0) < (state.mean_iops or 0) for state in result.states)
    assert render_run(tmp_path / "run", FORMATS)


def test_idle_time_does_nothing_for_a_drive_that_rests_in_it(tmp_path: Path, quick: Path) -> None:
    result = recovery(stored(tmp_path / "run", drive_model(tmp_path, "rests"), "hir", quick))
    assert all(0.85 < (state.over_baseline or 0) < 1.1 for state in result.states)


def test_every_burst_and_every_idle_time_is_as_long_as_the_stream_shows(tmp_path: Path, quick: Path) -> None:
    run = stored(tmp_path / "run", drive_model(tmp_path, "traced"), "hir", quick, capture="times")
    result = recovery(run)
    assert all((state.unplanned_idle_share or 0) < 0.002 for state in result.states)
    for place, idle_s in enumerate((5, 10, 15, 25, 50), 1):
        rows = pq.read_table(tmp_path / f"run/traces/hir-segment-{place:04}.parquet").to_pydict()
        begun = [at - latency for at, latency in zip(rows["at_ns"], rows["latency_ns"], strict=True)]
        submitted: dict[int, list[int]] = {}
        for step, at in zip(rows["step"], begun, strict=True):
            submitted.setdefault(step, []).append(at)
        assert sorted(submitted) == [0, 2, 4, 6]
        firsts = [min(submitted[step]) for step in sorted(submitted)]
        # A burst begins where the idle time after the last I/O of the one before it ends, within 1 ms.
        ends = [
            max(at for at, step in zip(rows["at_ns"], rows["step"], strict=True) if step == nth) for nth in (0, 2, 4)
        ]
        idle_ms = [round((after - end) / 10**6) for end, after in zip(ends, firsts[1:], strict=True)]
        assert idle_ms == [idle_s * 1000] * 3
        assert all(max(submitted[step]) - min(submitted[step]) > 4.99 * SECOND_NS for step in submitted)
    counted = sum(step.write.window_io_count + step.write.tail_io_count for step in run.tests[0].steps("segment"))
    traces = (tmp_path / "run/traces").glob("hir-segment-*.parquet")
    assert sum(pq.read_metadata(path).num_rows for path in traces) == counted


def test_a_drive_without_history_gives_a_flat_line(tmp_path: Path, quick: Path) -> None:
    result = crossed(tmp_path / "run", "sim:ideal?capacity=4GB", quick)
    first, middle, last = result.groups
    # The first sample also fills the write buffer.
    assert max(first.samples.throughput) < 1.003 * min(first.samples.throughput)
    assert max(middle.samples.throughput) < 1.001 * min(middle.samples.throughput)
    assert last.mean_mb_per_s == pytest.approx(first.mean_mb_per_s, rel=1e-3)
    assert last.drop_share == pytest.approx(0, abs=1e-3)
    assert result.lowest_share == pytest.approx(1, abs=2e-3)


def test_one_access_group_has_a_report_without_the_picture_of_a_change(tmp_path: Path, quick: Path) -> None:
    text, count = re.subn(r"(groups = \{ value = \[\{[^}]*\}).*?\]", r"\1]", quick.read_text("utf-8"))
    assert count == 1
    edition = tmp_path / "single.toml"
    edition.write_text(text, "utf-8")
    run = stored(tmp_path / "run", "sim:ideal?capacity=4GB", "xsr", edition)
    front = report_front(run, tests := records_of_tests(run), summarise_run(run, tests, None))
    assert [one.title for one in front.figures] == ["Throughput over the access groups", "Slowest I/O of each sample"]
    assert build_report(run).figures


def test_random_writes_slow_the_sequential_ones_behind_them_and_spare_space_shortens_that(
    tmp_path: Path, quick: Path
) -> None:
    scarce = crossed(tmp_path / "scarce", drive_model(tmp_path, "scarce"), quick)
    ample = crossed(tmp_path / "ample", drive_model(tmp_path, "ample", over_provisioning=0.4), quick)
    assert (scarce.lowest_share or 1) < 0.5
    assert (ample.groups[2].mean_mb_per_s or 0) > 1.2 * (scarce.groups[2].mean_mb_per_s or 0)
    assert scarce.groups[1].latency_ms_mean_peak is not None
    for result in (scarce, ample):
        # It comes back to where it began.
        assert result.groups[2].end_mb_per_s == pytest.approx(result.groups[0].end_mb_per_s, rel=0.1)
    assert scarce.groups[2].latency_ms_max_peak is not None
    found = slowest(scarce)
    assert found is not None
    group = scarce.groups[found.group - 1]
    assert found.latency_ms == max(one.latency_ms_max_peak or 0 for one in scarce.groups)
    assert group.samples.latency_ms_max[group.samples.minutes.index(found.minute)] == found.latency_ms
    assert len(end_samples(group)) == round(len(group.samples.throughput) / 10)
    assert scarce.recovery_minutes is not None
    assert ample.recovery_minutes is not None
    assert 1 < ample.recovery_minutes < 0.5 * scarce.recovery_minutes


@pytest.mark.long
def test_an_edition_without_the_tests_says_so_and_pages_are_those_of_the_specification(
    tmp_path: Path, quick: Path
) -> None:
    drive = "sim:ideal?capacity=1GB"
    run = stored(tmp_path / "run", drive, "xsr", quick)
    titles = [page.subtitle for page in build_report(run).pages]
    assert [title for title in titles if "Access Groups" in title] == [
        "TP v Time - All Access Groups",
        "TP v Time - Access Groups 1 & 2",
        "TP v Time - Access Groups 2 & 3",
        "Maximum Latency v Time - All Access Groups",
        "Average Latency v Time - All Access Groups",
    ]
    plan = load_plan(None, {"drive": drive, "tests": ["iops", "hir"], "edition": "pts-c-1.0", "scale": 0.001})
    outcome = run_plan(plan, out=tmp_path / "client", answers=Answers(), show=lambda _: None)
    assert [skipped.test for skipped in outcome.skipped] == ["hir"]
    assert render_run(tmp_path / "client", FORMATS)


def test_a_burst_without_a_completion_counts_as_zero_iops_and_has_no_response_time(tmp_path: Path) -> None:
    """A drive that stalls for eight bursts holds its queue: later bursts issue nothing, and every output says so."""
    faults = tmp_path / "faults.toml"
    faults.write_text('schema = 1\n[[faults]]\nkind = "stall"\nevery_s = 3\njitter_s = 1\nduration_s = 0.4\n')
    drive, edition = (
        f"sim:client-2011?capacity=1GB&faults={faults}",
        Path(__file__).parents[1] / "unit/short_recovery.toml",
    )
    run = stored(tmp_path / "run", drive, "hir", edition, scale=0.01)
    render_run(tmp_path / "run", ["csv", "json"])
    with (tmp_path / "run/report/hir_bursts.csv").open() as file:
        rows = list(csv.DictReader(file))
    (written,) = json.loads((tmp_path / "run/report/results.json").read_text("ascii"))["tests"]
    silent = 0
    for number, state in enumerate(recovery(run).states, 1):
        steps = run.tests[0].steps("segment", number)
        done = [step for step in steps if step.label != "idle"]
        rates = [
            (step.write.window_io_count + step.write.carried_in_io_count) * SECOND_NS / step.span_ns for step in done
        ]
        counts = [step.write.latency_io_count for step in done]
        silent += counts.count(0)
        kept = state.bursts, state.returned
        stated = [row for row in table_rows(written, "bursts") if row["wait_state"] == state.number]
        assert [rate for part in kept for rate in part.iops] == pytest.approx(rates)
        assert (state.mean_iops, state.return_iops) == pytest.approx((fmean(rates[:60]), fmean(rates[60:])))
        times = [time for part in kept for time in part.latency_ms_mean]
        assert [time is None for time in times] == [count == 0 for count in counts]
        assert [row["latency_ms_mean"] for row in stated] == times
        printed = [row for row in rows if int(row["wait_state"]) == state.number]
        assert [row["latency_ms_mean"] == "n/a" for row in printed] == [time is None for time in times]
        assert [row["latency_ms_max"] == "n/a" for row in printed] == [time is None for time in times]
    assert silent > 10
    (report,) = records_of_tests(run)
    shown = {one.label: one.value for one in report.measures if one.stat == "mean" or one.unit == "IOPS"}
    for state in (recovery(run).states[0], recovery(run).states[-1]):
        assert shown[f"RND 4KiB 0/100, burst after {state.idle_s:g} s idle"] == state.mean_iops
    figure = next(one for one in report.figures if one.title == "Bursts by idle time").figure
    lines = [list(line.y) for line in figure.series]
    assert lines[:3] == [
        [state.mean_iops for state in recovery(run).states],
        *([pick(state.bursts.iops) for state in recovery(run).states] for pick in (min, max)),
    ]
