"""Every stimulus thread of a real run stays on its CPU; threads of the kernel's own say so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, Placement, StepSpec, StopRule
from assay.errors import DeviceFailureError
from conftest import allocate, stimulus_on

if TYPE_CHECKING:
    from assay.engine.stimulus import Stimulus

SIZE = 16 << 20
USABLE = sorted(os.sched_getaffinity(0))
NO_CPU = 8191


def lane_cpus() -> dict[str, set[int]]:
    """The CPUs that the kernel lets every worker of this process run on, by the thread's name."""
    threads = {}
    for task in Path("/proc/self/task").iterdir():
        name = (task / "comm").read_text("utf-8").strip()
        if name.startswith("worker-"):
            threads[name] = os.sched_getaffinity(int(task.name))
    return threads


def workers_of_a_step(stimulus: Stimulus, thread_count: int) -> dict[str, set[int]]:
    """The workers as they were seen while a step ran."""
    seen: dict[str, set[int]] = {}
    step = StepSpec(
        label="read",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=Demand(thread_count=thread_count, queue_depth=1),
        active_range=leading_range(SIZE),
        stop=StopRule(time_ns=700_000_000),
    )
    records = stimulus.run([step], watch=lambda *_: seen.update(lane_cpus()))
    assert records[0].read.window_io_count > 0
    return seen


@pytest.mark.parametrize("thread_count", [1, 3])
def test_every_lane_runs_on_its_cpu_while_a_step_runs(tmp_path: Path, thread_count: int) -> None:
    path = str(allocate(tmp_path / "target.img", SIZE))
    cpus = tuple(USABLE[::-1])
    before = os.sched_getaffinity(0)
    with stimulus_on(path, SIZE, thread_count=thread_count, placement=Placement(cpus=cpus, text="here")) as stimulus:
        seen = workers_of_a_step(stimulus, thread_count)
        assert stimulus.disclosure()["threads"] == "here"
    assert seen == {f"worker-{n}": {cpus[n % len(cpus)]} for n in range(thread_count)}
    assert os.sched_getaffinity(0) == before


def test_without_a_placement_lanes_may_run_anywhere(tmp_path: Path) -> None:
    with stimulus_on(str(allocate(tmp_path / "target.img", SIZE)), SIZE) as stimulus:
        assert workers_of_a_step(stimulus, 1) == {"worker-0": set(USABLE)}
        assert stimulus.disclosure()["threads"] == "not pinned"


def test_a_cpu_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    path = str(allocate(tmp_path / "target.img", SIZE))
    with pytest.raises(DeviceFailureError, match="CPU"), stimulus_on(path, SIZE, placement=Placement(cpus=(NO_CPU,))):
        pass
