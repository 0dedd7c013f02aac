"""Traces issued again on simulated drives: the same I/Os, in the same order, at the same times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from assay.cli import assay
from assay.dut.dut import Answers
from assay.procedures.replay.result import replayed as result_of
from assay.procedures.replay.run import ReplaySettings
from assay.report import records_of_tests
from assay.results.outcome import stored_exit_codes, withheld_reason
from assay.results.step import latency_count
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from assay.words.text import text, text_or_none
from assay.workloads.traces import READ, write_replay
from assay.workloads.traces.records import batch_of_lists
from click.testing import CliRunner
from every_kind import TRACE

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.summary.pages.test_record import TestRecord
    from numpy.typing import NDArray

DRIVE = "sim:client-2011?capacity=1GB"


def ran(folder: Path, drive: str = DRIVE, **keys: object) -> StoredRun:
    plan = load_plan(None, {"drive": drive, "seed": 1, **keys})
    run_plan(plan, out=folder, answers=Answers(), show=lambda _: None)
    return read_run(folder, histograms=True)


def replayed(folder: Path, trace: Path = TRACE, drive: str = DRIVE, **options: object) -> StoredRun:
    return ran(folder, drive, studies=["replay"], replay={"trace": str(trace), **options}, capture="addresses")


def report_of(run: StoredRun) -> TestRecord:
    (record,) = records_of_tests(run)
    return record


def verified(folder: Path) -> int:
    return CliRunner().invoke(assay, ["verify", str(folder)], standalone_mode=False).return_value or 0


def issued(path: Path) -> NDArray[np.int64]:
    """Time since the first, place, operation and size of the I/Os of a capture, by time and place."""
    table = pq.read_table(path)
    columns = {name: table[name].to_numpy().astype(np.int64) for name in table.column_names}
    times = columns["at_ns"] - columns["latency_ns"]
    rows = np.stack(
        [times - times.min(), columns["offset_bytes"], columns["operation"], columns["length_bytes"]], axis=1
    )
    return rows[np.lexsort(rows.T[::-1])]


def test_a_captured_run_is_issued_again_at_the_same_times_to_the_nanosecond(tmp_path: Path) -> None:
    ran(tmp_path / "first", tests=["lat"], scale=0.002, capture="addresses")
    trace = sorted((tmp_path / "first/traces").glob("*"))[1]
    run = replayed(tmp_path / "again", trace)
    (again,) = (tmp_path / "again/traces").glob("*")
    assert len(issued(trace)) > 5_000
    assert np.array_equal(issued(again), issued(trace))
    step = run.tests[0].sequences[-1].steps[0]
    assert all(side.late_ns_max in {0, None} for side in step.sides)


def test_reads_writes_trims_and_flushes_of_a_log_are_issued_in_its_order(tmp_path: Path) -> None:
    run = replayed(tmp_path / "run")
    lines = [line.split() for line in TRACE.read_text().splitlines()[3:-1]]
    kinds = {"read": 0, "write": 1, "trim": 2, "sync": 3}
    expected = [[int(at) * 1000, int(place), kinds[kind], int(size)] for at, _, kind, place, size in lines]
    first = expected[0][0]
    rows = np.array([[at - first, *rest] for at, *rest in expected])
    (capture,) = (tmp_path / "run/traces").glob("*")
    assert np.array_equal(issued(capture), rows[np.lexsort(rows.T[::-1])])
    step = run.tests[0].sequences[-1].steps[0]
    counts = [sum(1 for line in lines if line[2] in kind) for kind in ({"read"}, {"write"}, {"trim", "sync"})]
    assert [side.latency_io_count for side in step.sides] == counts


def done_of(run: StoredRun) -> Any:
    """What came of the replay."""
    return result_of(run.tests[0])


def test_at_max_speed_the_ios_follow_without_a_gap(tmp_path: Path) -> None:
    run = replayed(tmp_path / "run", speed="max", queue_depth=4)
    step = run.tests[0].sequences[-1].steps[0]
    assert step.span_ns < 0.5e9
    assert step.offered_io_count is None
    assert step.outstanding_ns / step.span_ns == pytest.approx(4, abs=0.1)
    assert not done_of(run).timed


def test_ten_times_the_speed_takes_a_tenth_of_the_time(tmp_path: Path) -> None:
    run = replayed(tmp_path / "run", speed=10.0)
    step = run.tests[0].sequences[-1].steps[0]
    assert step.span_ns == pytest.approx(236_545_500, abs=1_000)
    assert step.offered_io_count == 400


def test_ios_that_find_no_slot_are_late_and_the_fidelity_says_so(tmp_path: Path) -> None:
    run = replayed(tmp_path / "run", speed=100.0, queue_depth=1)
    report = report_of(run)
    done = done_of(run)
    assert done.grade == "poor"
    assert "the times of the trace were not kept (fidelity poor)" in text(report.remarks[0])
    step = run.tests[0].sequences[-1].steps[0]
    late, service, due = (
        sum(getattr(side, f"{name}_sum") or 0 for side in step.sides)
        for name in ("late_ns", "latency_ns", "intended_ns")
    )
    assert late == due - service > 0
    assert done.stream.late.mean == late / 400 / 1e6


def test_a_trace_of_a_larger_drive_is_put_on_a_smaller_one_by_its_rule(tmp_path: Path) -> None:
    run = replayed(tmp_path / "run", drive="sim:client-2011?capacity=512MB", map="scale", traced_bytes=1_000_000_000)
    (capture,) = (tmp_path / "run/traces").glob("*")
    assert issued(capture)[:, 1].max() <= 512_000_000 - 4096
    trace, after = run.tests[0].settings_as(ReplaySettings).facts.map, done_of(run).issued
    assert trace.end_bytes > 512_000_000 >= after.end_bytes
    assert trace.io_count == after.io_count


def test_a_trace_that_changed_since_it_was_planned_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "trace.log"
    trace.write_bytes(TRACE.read_bytes())
    plan = load_plan(None, {"drive": DRIVE, "seed": 1, "studies": ["replay"], "replay": {"trace": str(trace)}})
    trace.write_bytes(TRACE.read_bytes() + b"2400000 /dev/sdx read 0 4096\n")
    with pytest.raises(Exception, match="was changed since the run was planned"):
        run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)


def test_ios_that_begin_inside_a_block_are_all_issued_and_the_report_counts_them(tmp_path: Path) -> None:
    trace = tmp_path / "inside.log"
    ios = "".join(f"{n * 500} /dev/sdx read {n * 8192 + n % 2 * 256} 4096\n" for n in range(200))
    trace.write_text(f"fio version 3 iolog\n0 /dev/sdx add\n0 /dev/sdx open\n{ios}")
    run = replayed(tmp_path / "run", trace, prepare_fills=0)
    side = run.tests[0].sequences[-1].steps[0].sides[0]
    assert (side.latency_io_count, side.window_bytes + side.tail_bytes) == (200, 100 * 4096 + 100 * 4608)
    sentence = "100 I/Os begin or end inside a block of 512 bytes and are issued rounded outwards"
    assert sentence in [text(one) for one in report_of(run).remarks]
    assert verified(tmp_path / "run") == 0


def test_a_discard_of_2_gib_is_trimmed_and_not_transferred(tmp_path: Path) -> None:
    trace = tmp_path / "trim.log"
    ios = "0 x read 0 4096\n1000 x write 4096 8192\n2000 x trim 0 2147483648\n10000 x sync 0 0\n"
    trace.write_text(f"fio version 3 iolog\n0 x add\n0 x open\n{ios}")
    run = replayed(tmp_path / "run", trace, "sim:client-tlc?capacity=4GB", prepare_fills=0)
    done, step = done_of(run).stream, run.tests[0].sequences[-1].steps[0]
    span_s = step.span_ns / 1e9
    assert done.mb_per_s * span_s * 1e6 == pytest.approx(12_288)
    assert done.trimmed_mb_per_s * span_s * 1e6 == pytest.approx(1 << 31)
    assert (round(done.iops * span_s), latency_count(step)) == (2, 5)
    printed = str(report_of(run).pages)
    for column in ("Reads and writes per second", "MB/s transferred", "Trims and flushes per second", "MB/s trimmed"):
        assert column in printed


def test_a_replay_of_which_ios_are_missing_has_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_a_fault(_: object, path: Path) -> None:
        rows = [(n * 1000, READ, n * 4096 + (n == 7) * 256, 4096) for n in range(400)]
        write_replay(path, [batch_of_lists(rows)])

    monkeypatch.setattr("assay.procedures.replay.run.write_ios", with_a_fault)
    run = replayed(tmp_path / "run", prepare_fills=0)
    assert (run.tests[0].ended, run.tests[0].ended_detail) == ("incomplete", "7 of 400 I/Os")
    assert text_or_none(withheld_reason(run.tests[0])) == "the test did not run to its end: 7 of 400 I/Os"
    assert stored_exit_codes(run) == (5,)
    assert verified(tmp_path / "run") == 5


def invoked(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(assay, ["run", DRIVE, *words], standalone_mode=False)
    return getattr(done.exception, "exit_code", done.return_value or 0), f"{done.output}{done.exception}"


def test_the_command_line_runs_a_trace_and_refuses_what_contradicts_it(tmp_path: Path) -> None:
    code, text = invoked("--replay", str(TRACE), "--speed", "max", "--seed", "1", "--out", str(tmp_path / "run"))
    assert code == 0, text
    assert re.search(r"Rate +[\d.]+k? IOPS", text)
    for words, reason in (
        (("--replay", str(TRACE), "--test", "iops"), "contradicts --test"),
        (("--speed", "2"), "says how a trace is issued, and there is none"),
        (("--replay", str(TRACE), "--speed", "fast"), "is no number"),
        (("--replay", str(TRACE), "--speed", "0"), "0.001 to 1000"),
        (("--replay", str(tmp_path / "missing")), "No such file"),
    ):
        code, text = invoked(*words)
        assert (code, reason in text) == (2, True), text
