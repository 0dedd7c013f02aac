"""Every completion on disk: what a trace says is what the step recorded, and recording it changes nothing."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from assay.dut.dut import Answers
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Capture, Stimulus
from assay.errors import StoreError
from assay.results.step import issued_count
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run

CAPACITY = 1_000_000_000


def _steps() -> list[StepSpec]:
    step = StepSpec(
        label="mixed",
        pattern=random_pattern(4096, 0.5, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=16),
        active_range=leading_range(CAPACITY),
        stop=StopRule(io_count=100_000),
    )
    return [step, replace(step, label="large", pattern=random_pattern(65536, 0.0, DataPattern()))]


def _run(capture: Capture | None) -> list[StepRecord]:
    drive_model = parse_simulated("sim:client-2011?capacity=1GB").drive_model
    with Stimulus.simulated(drive_model, seed=1, epoch_wall_ns=0) as stimulus:
        return stimulus.run(_steps(), None, capture)


def _bucket(latency_ns: int) -> int:
    octave = max(latency_ns.bit_length() - 10, 0)
    return octave * 512 + (latency_ns >> octave)


def _columns(path: Path) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = pq.read_table(path).to_pydict()
    return columns


def test_a_trace_holds_exactly_what_the_step_counted(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    records = _run(Capture(path=path, addresses=True))
    rows = _columns(path)
    assert len(rows["at_ns"]) == 200_000
    assert rows["at_ns"] == sorted(rows["at_ns"])
    for index, record in enumerate(records):
        for write, direction in ((False, record.read), (True, record.write)):
            own = [
                (at - latency, latency)
                for at, latency, step, is_write in zip(
                    rows["at_ns"], rows["latency_ns"], rows["step"], rows["operation"], strict=True
                )
                if step == index and is_write == write
            ]
            assert len(own) == issued_count(direction)
            chosen = [latency for issued, latency in own if issued >= record.start_ns]
            assert len(chosen) == direction.latency_io_count
            assert sum(chosen) == direction.latency_ns_sum
            assert tuple(sorted(Counter(map(_bucket, chosen)).items())) == direction.histogram
    lengths = dict(zip(rows["step"], rows["length_bytes"], strict=True))
    assert lengths == {0: 4096, 1: 65536}
    assert all(offset % 4096 == 0 and 0 <= offset < CAPACITY for offset in rows["offset_bytes"])


def test_capturing_changes_nothing_and_addresses_are_kept_on_wish_only(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    assert _run(Capture(path=path)) == _run(None)
    assert pq.read_schema(path).names == ["at_ns", "latency_ns", "operation", "step"]
    assert path.stat().st_size <= 6 * 200_000


def test_a_trace_that_cannot_be_written_is_an_error_of_the_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="--capture"):
        _run(Capture(path=tmp_path / "missing" / "trace.parquet"))
    with pytest.raises(StoreError, match="--capture"):
        _run(Capture(path=Path("/dev/full")))


def test_a_run_keeps_the_completions_of_what_it_measured(tmp_path: Path) -> None:
    overrides = {"drive": "sim:client-2011?capacity=1GB", "tests": ("wsat",), "scale": 0.002, "capture": "times"}
    plan = load_plan(None, {**overrides, "seed": 1})
    outcome = run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    (test,) = read_run(outcome.folder).tests
    traces = sorted((outcome.folder / "traces").iterdir())
    samples = [path for path in traces if "-sample-" in path.name]
    kept = sum(pq.read_metadata(path).num_rows for path in samples)
    assert kept == sum(step.write.window_io_count + step.write.tail_io_count for step in test.steps("sample"))
    assert not any("precondition" in path.name for path in traces)


def test_an_open_loop_on_a_simulated_drive_tells_offered_and_achieved() -> None:
    drive_model = parse_simulated("sim:client-2011?capacity=1GB").drive_model
    (step, _) = _steps()
    demand = Demand(thread_count=1, queue_depth=64, arrivals_per_s=2000.0, arrival_process="poisson")
    open_loop = replace(
        step, pattern=random_pattern(4096, 1.0, DataPattern()), demand=demand, stop=StopRule(time_ns=10**10)
    )
    with Stimulus.simulated(drive_model, seed=1, epoch_wall_ns=0) as stimulus:
        (record,) = stimulus.run([open_loop])
    assert record.offered_io_count is not None
    assert record.offered_io_count == pytest.approx(20_000, rel=0.03)
    assert record.read.window_io_count == pytest.approx(record.offered_io_count, abs=64)
    assert record.read.intended_ns_sum is not None
    assert record.read.intended_ns_sum >= record.read.latency_ns_sum
    counted = sum(count for _, count in record.read.intended_histogram)
    assert counted == record.read.window_io_count + record.read.tail_io_count
