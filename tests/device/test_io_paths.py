"""A wish for a way of the I/Os that the drive or the host cannot serve is refused, and the way taken is told."""

import os
import re
from pathlib import Path

import pytest
from assay.errors import ValueRangeError
from assay.pattern import leading_range, random_pattern
from assay.records import DataPattern, Demand, IoPath, StepSpec, StopRule
from conftest import LoopDrive, allocate, stimulus_on

SIZE = 16 << 20


def disclosed(path: Path, io_path: IoPath) -> dict[str, str]:
    step = StepSpec(
        label="read",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=1),
        active_range=leading_range(SIZE),
        stop=StopRule(io_count=100),
    )
    with stimulus_on(str(path), SIZE, io_path=io_path) as stimulus:
        (record,) = stimulus.run([step])
        assert record.read.window_io_count + record.read.tail_io_count == 100
        return stimulus.disclosure()


def test_polling_a_drive_without_queues_for_it_is_refused_before_any_step(loop_drive: LoopDrive) -> None:
    with (
        pytest.raises(ValueRangeError, match=r"polled.*EOPNOTSUPP.*--io-path interrupt"),
        stimulus_on(loop_drive(SIZE), SIZE, io_path="polled"),
    ):
        pass


def test_kernel_threads_are_refused_where_they_have_no_processors_of_their_own(tmp_path: Path) -> None:
    path = allocate(tmp_path / "target.img", SIZE)
    processors = len(os.sched_getaffinity(0))
    # As many lanes as processors never fit together with their threads of the kernel.
    with (
        pytest.raises(ValueRangeError, match=rf"kernel-thread.*takes {2 * processors} idle.*--io-path interrupt"),
        stimulus_on(str(path), SIZE, thread_count=processors, io_path="kernel-thread"),
    ):
        pass


def test_the_disclosure_names_the_path_that_was_taken(tmp_path: Path) -> None:
    path = allocate(tmp_path / "target.img", SIZE)
    assert disclosed(path, "interrupt")["I/O path"] == "ring, completions by interrupt"
    assert disclosed(path, "synchronous")["I/O path"] == "one system call per I/O"


def test_a_path_of_no_such_name_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    path = allocate(tmp_path / "target.img", SIZE)
    names = re.escape("interrupt, synchronous, polled, kernel-thread")
    with (
        pytest.raises(ValueRangeError, match=names),
        stimulus_on(str(path), SIZE, io_path="sideways"),  # type: ignore[arg-type]
    ):
        pass
