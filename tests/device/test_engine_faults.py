"""I/Os that come back short or with an error: counted by errno, and part of no figure."""

import os
from pathlib import Path

import pytest
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import ERROR_LIMIT
from conftest import LoopDrive, allocate, stimulus_on

SIZE = 64 << 20
EIO = 5


def _read(path: str, flags: int = 0) -> StepRecord:
    """Random reads over all of it, as many as it takes to reach the error limit."""
    step = StepSpec(
        label="read",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=Demand(thread_count=2, queue_depth=4),
        active_range=leading_range(SIZE),
        stop=StopRule(io_count=50_000),
    )
    with stimulus_on(path, SIZE, thread_count=2, flags=flags) as stimulus:
        return stimulus.run([step])[0]


def _assert_rejected(record: StepRecord) -> None:
    read = record.read
    assert record.ended == "errors"
    assert set(read.errors) == {EIO}
    assert ERROR_LIMIT <= read.errors[EIO] <= ERROR_LIMIT + 8
    whole = read.window_io_count + read.tail_io_count
    assert sum(count for _, count in read.histogram) == whole
    assert read.window_bytes + read.tail_bytes == 4096 * whole


def test_a_loop_device_whose_file_was_cut_short_fails_by_errno(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    os.truncate(tmp_path / "loop0.img", SIZE // 2)
    _assert_rejected(_read(path, os.O_EXCL))


@pytest.mark.parametrize("left", [0, SIZE // 4])
def test_reads_behind_the_end_of_a_file_are_errors_and_no_fast_ios(tmp_path: Path, left: int) -> None:
    path = allocate(tmp_path / "target.img", SIZE)
    os.truncate(path, left)
    record = _read(str(path))
    _assert_rejected(record)
    if not left:
        assert record.read.window_io_count + record.read.tail_io_count == 0
        assert record.read.latency_ns_max is None
