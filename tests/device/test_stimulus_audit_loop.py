"""The stimulus audit on a loop device: what the kernel really merges, splits or gets from others is what is marked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.identity import identify
from assay.dut.real.queue import merging_off, stat_path
from assay.engine.pattern import cell_pattern, leading_range
from assay.engine.records import (
    DataPattern,
    Demand,
    DriveIdentity,
    Platform,
    StepRecord,
    StepSpec,
    StopRule,
    StoredRun,
    StoredTest,
)
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.families.saturation.run import pattern_step
from assay.results.run_checks import run_checks
from assay.results.stimulus_audit import stimulus_audit
from conftest import LoopDrive, stimulus_on
from report_run import stored_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import AccessPattern
    from assay.results.finding import Checked

SIZE = 64 << 20
KIB = 1024
DEMAND = Demand(thread_count=1, queue_depth=32)


def measured(path: str, pattern: AccessPattern, count: int, drive: DriveIdentity) -> tuple[StepRecord, ...]:
    step = StepSpec(
        label="step", pattern=pattern, demand=DEMAND, active_range=leading_range(SIZE), stop=StopRule(io_count=count)
    )
    with stimulus_on(path, SIZE, flags=os.O_EXCL, counters_path=stat_path(drive)) as stimulus:
        return tuple(stimulus.run([step]))


def audited(steps: tuple[StepRecord, ...], pattern: AccessPattern, drive: DriveIdentity) -> dict[str, Checked]:
    settings = SaturationSettings(
        procedure="wsat",
        test="wsat",
        edition="pts-c-1.0",
        demand=DEMAND,
        data=DataPattern(),
        range_amount_bytes=SIZE,
        segment_count=None,
        range_limit=0.2,
        slope_limit=0.1,
        write_cache_required="enabled",
        pattern=pattern,
        label="step",
        sample_ns=1,
        samples_per_verdict=1,
        stop="time",
        time_ns=1,
        amount_bytes=1,
    )
    spec = pattern_step("step", pattern, DEMAND, SIZE, 1)
    sequence = stored_steps("sample", 1, *steps, asked=spec)
    test = StoredTest(
        settings=settings,
        started_wall_ns=0,
        ended_wall_ns=None,
        purge=None,
        sequences=(sequence,),
        verdict=None,
        ended=None,
    )
    run = StoredRun(
        run_id="audited",
        identity=drive,
        platform=Platform(
            system=None,
            motherboard=None,
            cpu=None,
            memory_bytes=None,
            operating_system=None,
            kernel=None,
            clock_source=None,
            tool="Assay",
            tool_version="0",
        ),
        description={},
        plan={},
        edition={},
        deviations=(),
        started_wall_ns=0,
        report_date_ns=0,
        tests=(test,),
    )
    return {row.name: row for row in (*run_checks(test), *stimulus_audit(run, test))}


@pytest.fixture
def queue(loop_drive: LoopDrive) -> Iterator[tuple[str, Path]]:
    """A loop device and the folder of its queue, whose settings are put back: the node outlives the test."""
    path = loop_drive(SIZE)
    folder = Path(f"/sys/block/{Path(path).name}/queue")
    former = {name: (folder / name).read_text("ascii").strip() for name in ("nomerges", "max_sectors_kb")}
    yield path, folder
    for name, value in former.items():
        (folder / name).write_text(value, "ascii")


def test_ios_of_a_quiet_loop_device_are_counted_one_by_one(queue: tuple[str, Path]) -> None:
    path, _ = queue
    drive, pattern = identify(path, file_target=False), cell_pattern("sequential", 4 * KIB, 0.0, DataPattern())
    with merging_off(drive):
        rows = audited(measured(path, pattern, 4000, drive), pattern, drive)
    names = ("failed-ios", "counted-ios", "merges", "read-share", "transfer-sizes")
    assert {name: rows[name].level for name in names} == dict.fromkeys(names, "pass")


def test_a_split_by_the_queue_s_limit_is_marked_with_its_factor(queue: tuple[str, Path]) -> None:
    path, folder = queue
    drive, pattern = identify(path, file_target=False), cell_pattern("sequential", KIB * KIB, 0.0, DataPattern())
    (folder / "max_sectors_kb").write_text("128", "ascii")
    with merging_off(drive):
        rows = audited(measured(path, pattern, 50, drive), pattern, drive)
    assert (rows["counted-ios"].level, rows["counted-ios"].finding.measured) == ("warn", 7 * 50)
    assert rows["counted-ios"].finding.words.endswith("8 per I/O")


def test_what_the_kernel_merges_is_marked_to_the_io(queue: tuple[str, Path]) -> None:
    path, folder = queue
    drive, pattern = identify(path, file_target=False), cell_pattern("sequential", 4 * KIB, 0.0, DataPattern())
    (folder / "nomerges").write_text("0", "ascii")
    steps = measured(path, pattern, 8000, drive)
    before, after = steps[0].counters_before, steps[0].counters_after
    assert before is not None
    assert after is not None
    merged = after.write_merge_count - before.write_merge_count
    rows = audited(steps, pattern, drive)
    assert (rows["merges"].level, rows["merges"].finding.measured) == ("warn" if merged else "pass", merged)
    assert rows["counted-ios"].level == "pass"
