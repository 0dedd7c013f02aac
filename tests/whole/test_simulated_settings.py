"""What a run sets on a simulated drive: the write cache that the edition demands, and the time limit of an I/O."""

from dataclasses import replace
from pathlib import Path

import pytest
from assay.dut.dut import Answers, find_drive, open_dut
from assay.dut.ended import check_sequence
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import DeviceFailureError
from assay.run.plan_file import load_plan
from assay.run.planning import plan_run
from assay.run.run import run_plan
from assay.run.store.read import read_run

# 15 us of command and 15 us of link, and a program of 1.3 ms.
CACHED_NS_MAX, PROGRAM_NS = 40_000, 1_300_000
CLIENT, FIXED = "sim:client-2011?capacity=1GB", "sim:slc-a?capacity=1GB"


def _write(capacity_bytes: int, size: int, depth: int, count: int) -> StepSpec:
    return StepSpec(
        label="writes",
        pattern=random_pattern(size, 0.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=depth),
        active_range=leading_range(capacity_bytes),
        stop=StopRule(io_count=count),
    )


@pytest.mark.parametrize(
    ("drive", "edition", "choice", "state"),
    [
        (CLIENT, "pts-c-1.0", "edition", "enabled"),
        (CLIENT, "pts-e-1.1", "edition", "disabled"),
        (CLIENT, "pts-e-1.1", "on", "enabled"),
        (CLIENT, "pts-e-1.1", "as-is", "enabled"),
        (CLIENT, "pts-c-1.0", "off", "disabled"),
        (FIXED, "pts-e-1.1", "edition", "enabled"),
    ],
)
def test_a_run_has_the_write_cache_that_its_edition_demands(
    drive: str, edition: str, choice: str, state: str, tmp_path: Path
) -> None:
    keys = {"drive": drive, "edition": edition, "tests": ("wsat",), "scale": 0.001, "write_cache": choice, "seed": 1}
    run_plan(load_plan(None, keys), out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    assert read_run(tmp_path / "run").identity.write_cache == state


def test_writes_wait_for_the_flash_where_the_edition_switches_the_write_cache_off() -> None:
    means = []
    for edition in ("pts-c-1.0", "pts-e-1.1"):
        plan = load_plan(None, {"drive": CLIENT, "edition": edition, "tests": ("wsat",), "seed": 1})
        drive = find_drive(plan)
        with open_dut(plan, drive, plan_run(plan, drive).tests, answers=Answers(), seed=1) as dut:
            (record,) = dut.stimulus.run([_write(drive.capacity_bytes, 4096, 1, 200)])
        means.append(record.write.latency_ns_sum / 200)
    assert means[0] < CACHED_NS_MAX
    assert means[1] > PROGRAM_NS


def test_a_kept_drive_has_its_former_write_cache_again(tmp_path: Path) -> None:
    path = f"{CLIENT}&state={tmp_path / 'drive.state'}"
    for _ in range(2):
        plan = load_plan(None, {"drive": path, "edition": "pts-e-1.1", "tests": ("wsat",), "seed": 1})
        drive = find_drive(plan)
        with open_dut(plan, drive, plan_run(plan, drive).tests, answers=Answers(), seed=1) as dut:
            assert dut.identity.write_cache == "disabled"


def test_a_slow_simulated_drive_is_given_up_after_the_limit_of_its_plan() -> None:
    model = parse_simulated(CLIENT).drive_model.replaced(program_ns=1_000_000_000)

    def ended(limit_ns: int) -> StepRecord:
        with Stimulus.simulated(model, seed=1, epoch_wall_ns=0, io_time_limit_ns=limit_ns) as stimulus:
            fill = replace(_write(1 << 27, 1 << 20, 1, 1), pattern=fill_pattern(1 << 20, DataPattern()))
            return stimulus.run([replace(fill, stop=StopRule(io_count=16))])[-1]

    assert ended(3600 * 10**9).ended == "stop-rule"
    late = ended(2 * 10**9)
    assert late.ended == "hung"
    with pytest.raises(DeviceFailureError, match="stopped answering in writes") as failure:
        check_sequence([late], CLIENT)
    assert "--io-time-limit" in str(failure.value)
    assert "kernel" not in str(failure.value)


def test_a_deep_queue_that_a_slow_drive_works_off_is_no_drive_that_stopped_answering() -> None:
    """Each of 512 writes of 1 MiB programs pages for 50 ms a time: the last waits ten times the limit."""
    model, limit_ns = parse_simulated(CLIENT).drive_model.replaced(program_ns=50_000_000), 3 * 10**9
    deep = _write(1 << 29, 1 << 20, 512, 1024)
    with Stimulus.simulated(model, seed=1, epoch_wall_ns=0, io_time_limit_ns=limit_ns) as stimulus:
        record = stimulus.run([deep])[-1]
    assert (record.ended, record.write.errors) == ("stop-rule", {})
    assert record.write.latency_ns_max is not None
    assert record.write.latency_ns_max > 10 * limit_ns
