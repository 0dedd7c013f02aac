"""The ways an I/O can take: chosen by a probe, and the same counts on each."""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay._native import hands_to_workers
from assay.dut.dut import find_drive
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import UsageError, ValueRangeError
from assay.run.plan_file import load_plan
from conftest import LoopDrive, allocate, stimulus_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import IoPath

SIZE = 16 << 20


@pytest.fixture
def file_in_memory() -> Iterator[Path]:
    """Linux answers I/Os of a ring on it by worker threads; since 6.6 it can be opened for uncached I/O."""
    path = allocate(Path("/dev/shm") / f"assay-{uuid.uuid4().hex}", SIZE)  # noqa: S108 - a name of its own
    try:
        os.close(os.open(path, os.O_RDWR | os.O_DIRECT))
        yield path
    except OSError:
        pytest.skip("this kernel has no uncached I/O on a file in memory")
    finally:
        path.unlink()


def _handed(path: str, flags: int = 0) -> bool:
    descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | flags)
    try:
        return hands_to_workers(descriptor, 512)
    finally:
        os.close(descriptor)


def test_a_file_in_memory_hands_its_reads_to_workers_and_a_loop_device_does_not(
    file_in_memory: Path, loop_drive: LoopDrive
) -> None:
    assert _handed(str(file_in_memory))
    assert not _handed(loop_drive(SIZE), os.O_EXCL)


@pytest.mark.parametrize(
    ("path", "queue_depth", "told"),
    [
        ("interrupt", 1, "ring, completions by interrupt"),
        ("synchronous", 1, "a system call per I/O"),
        ("synchronous", 2, "ring, completions by interrupt"),
    ],
)
def test_every_path_moves_every_byte_and_says_which_it_was(
    loop_drive: LoopDrive, path: IoPath, queue_depth: int, told: str
) -> None:
    step = StepSpec(
        label="mixed",
        pattern=random_pattern(4096, 0.5, DataPattern()),
        demand=Demand(thread_count=2, queue_depth=queue_depth),
        active_range=leading_range(SIZE),
        stop=StopRule(io_count=2000),
    )
    with stimulus_on(loop_drive(SIZE), SIZE, thread_count=2, flags=os.O_EXCL, io_path=path) as stimulus:
        record = stimulus.run([step])[0]
        assert stimulus.disclosure()["I/O path"] == told
    sides = (record.read, record.write)
    assert sum(side.window_io_count + side.tail_io_count for side in sides) == 2000
    assert sum(side.window_bytes + side.tail_bytes for side in sides) == 2000 * 4096
    assert all(sum(count for _, count in side.histogram) == side.window_io_count + side.tail_io_count for side in sides)
    assert not record.read.errors
    assert not record.write.errors


def test_system_calls_alone_serve_one_io_at_a_time_and_refuse_more(tmp_path: Path) -> None:
    path = allocate(tmp_path / "target.img", SIZE)
    deep = Demand(thread_count=1, queue_depth=32)
    descriptor = os.open(path, os.O_RDWR | os.O_DIRECT)
    try:
        with Stimulus.real(
            descriptor,
            capacity_bytes=SIZE,
            logical_block_bytes=512,
            thread_count=1,
            seed=1,
            data_origin=1,
            counters_path=None,
            path="synchronous",
            ring_beyond=False,
        ) as stimulus:
            served = stimulus.served(deep)
            assert (served.thread_count, served.queue_depth) == (1, 1)
            assert stimulus.run([_reads(served)])[0].ended != "errors"
            with pytest.raises(ValueRangeError, match=r"I/O path synchronous: carries one I/O at a time"):
                stimulus.run([_reads(deep)])
    finally:
        os.close(descriptor)
    with stimulus_on(str(path), SIZE, io_path="synchronous") as stimulus:
        assert stimulus.served(deep) == deep


def _reads(demand: Demand) -> StepSpec:
    return StepSpec(
        label="reads",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=demand,
        active_range=leading_range(SIZE),
        stop=StopRule(io_count=100),
    )


def test_polling_a_drive_without_queues_for_it_is_refused_before_any_step(loop_drive: LoopDrive) -> None:
    with (
        pytest.raises(ValueRangeError, match=r"polled.*EOPNOTSUPP.*--io-path interrupt"),
        stimulus_on(loop_drive(SIZE), SIZE, io_path="polled"),
    ):
        pass


def test_kernel_threads_are_refused_where_they_have_no_processors_of_their_own(tmp_path: Path) -> None:
    path = allocate(tmp_path / "target.img", SIZE)
    processors = len(os.sched_getaffinity(0))
    # As many workers as processors never fit together with their threads of the kernel.
    with (
        pytest.raises(ValueRangeError, match=rf"kernel-thread.*takes {2 * processors} idle.*--io-path interrupt"),
        stimulus_on(str(path), SIZE, thread_count=processors, io_path="kernel-thread"),
    ):
        pass


def test_a_path_of_no_such_name_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    path = allocate(tmp_path / "target.img", SIZE)
    names = re.escape("interrupt, synchronous, polled, kernel-thread")
    with (
        pytest.raises(ValueRangeError, match=names),
        stimulus_on(str(path), SIZE, io_path="sideways"),  # type: ignore[arg-type]
    ):
        pass


def test_a_simulated_drive_has_no_choice_of_path() -> None:
    plan = load_plan(None, {"drive": "sim:ideal", "suite": "client", "io_path": "synchronous"})
    with pytest.raises(UsageError, match="real drives only"):
        find_drive(plan)
