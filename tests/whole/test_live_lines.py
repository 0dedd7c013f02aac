"""What is shown of a run while it goes on is what its ``series`` tables hold afterwards."""

from pathlib import Path

import pytest
from assay.dut.dut import Answers
from assay.dut.simulated.injected_faults import Fault, faults_text
from assay.dut.simulated.model import parse_simulated
from assay.engine.live import LiveSecond
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store import LIVE, PROGRESS, write
from assay.run.store.read import read_run
from assay.run.store.status import run_state
from assay.spec.units import SECOND_NS
from live_rows import AllLines, check_lines, check_seconds, stored_rows

RANGE = leading_range(100_000_000)
DRIVE = "sim:ideal?capacity=128MB"


def cell(read_share: float, time_ns: int, *, depth: int = 8, beside: bool = False, label: str = "cell") -> StepSpec:
    return StepSpec(
        label=label,
        pattern=random_pattern(4096, read_share, DataPattern()),
        demand=Demand(thread_count=2, queue_depth=depth),
        active_range=RANGE,
        stop=StopRule(time_ns=time_ns),
        beside=beside,
    )


def ran(steps: list[StepSpec], faults: str = "") -> tuple[list[StepRecord], list[LiveSecond]]:
    """The records of steps on a simulated drive, and what was published meanwhile."""
    seconds: list[LiveSecond] = []
    model = parse_simulated(DRIVE).drive_model
    faulty = Stimulus.faulty(model, seed=5, epoch_wall_ns=0, faults=faults) if faults else None
    with faulty or Stimulus.simulated(model, seed=5, epoch_wall_ns=0) as stimulus:
        return stimulus.run(steps, seconds=seconds.extend), seconds


def test_seconds_are_the_rows_of_the_series_also_of_a_step_that_ends_inside_one() -> None:
    steps = [cell(0.5, 2 * SECOND_NS), cell(0.5, 2 * SECOND_NS), cell(1.0, 2_300_000_000), cell(0.0, 400_000_000)]
    records, seconds = ran(steps)
    assert [(second.step, second.second) for second in seconds] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0),
    ]  # fmt: skip
    assert [second.covered_ns for second in seconds[6:]] == [300_000_000, 400_000_000]
    check_seconds(seconds, records)


def test_seconds_of_steps_side_by_side_are_the_rows_of_each() -> None:
    steps = [cell(1.0, 2_500_000_000, label="a"), cell(0.0, 2_500_000_000, beside=True, label="b")]
    records, seconds = ran([*steps, *steps])
    assert [second.step for second in seconds] == [0, 0, 0, 2, 2, 2]
    assert {point.step for second in seconds[:3] for point in second.points} == {0, 1}
    check_seconds(seconds, records)


def test_failed_ios_are_in_no_second() -> None:
    fault = Fault(kind="media-error", rate=0.0001, direction="read", errno="EIO")
    records, seconds = ran([cell(0.9, 2 * SECOND_NS)], faults_text((fault,)))
    assert sum(records[0].read.errors.values()) > 0
    check_seconds(seconds, records)


def test_a_sequential_fill_that_its_amount_ends_is_told_whole() -> None:
    fill = StepSpec(
        label="fill",
        pattern=fill_pattern(131072, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=4),
        active_range=RANGE,
        stop=StopRule(amount_bytes=3_000_000_000),
    )
    records, seconds = ran([fill])
    assert len(seconds) == -(-records[0].span_ns // SECOND_NS)
    check_seconds(seconds, records)


def test_lines_of_a_run_of_several_tests_are_the_sums_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "LiveFile", AllLines)
    monkeypatch.setattr(AllLines, "made", [])
    folder, drives = tmp_path / "run", set()
    plan = load_plan(None, {"drive": DRIVE, "seed": 1, "scale": 0.005, "tests": ["iops", "lat"]})

    def look(_: object) -> None:
        if (folder / PROGRESS).exists() and (progress := run_state(folder).progress):
            drives.add((progress.drive.kind if progress.drive else "", progress.virtual))

    run_plan(plan, out=folder, answers=Answers(), show=look)
    assert {kind for kind, _ in drives} == {"simulated"}
    assert not (folder / LIVE).exists()
    sequences = [one for test in read_run(folder).tests for one in test.sequences]
    tables = {number: (folder / f"series/{number:06}.parquet").read_bytes() for number in range(1, len(sequences) + 1)}
    asked = {number: sequence.asked for number, sequence in enumerate(sequences, start=1)}
    (file,) = AllLines.made
    assert len(file.lines) > 3
    assert sum(line.covered_ns for line in file.lines) == sum(step.span_ns for one in sequences for step in one.steps)
    check_lines(file.lines, stored_rows(tables, asked))
