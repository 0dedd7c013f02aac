"""Steps straight on a device or file that a benchmark made itself: no gate, no run folder."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import IoPath

# The strongest wish that ordinary threads can state.
FIRST = -20


@contextmanager
def ahead_of_others() -> Iterator[None]:
    """Let this thread and what it starts run ahead of the host's other work. Needs root."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, FIRST)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def read_cell(size_bytes: int, demand: Demand, seconds: float, transfer_bytes: int = 4096) -> StepSpec:
    """Random reads over all of it for a time."""
    return StepSpec(
        label=f"RND {transfer_bytes} B reads",
        pattern=random_pattern(transfer_bytes, 1.0, DataPattern()),
        demand=demand,
        active_range=leading_range(size_bytes),
        stop=StopRule(time_ns=round(seconds * SECOND_NS)),
    )


@contextmanager
def stimulus_on(
    path: str, size_bytes: int, thread_count: int = 1, io_path: IoPath = "interrupt", flags: int = 0
) -> Iterator[Stimulus]:
    """A stimulus of what lies at a path. flags : for opening it. Raises OSError where it cannot be opened."""
    descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | flags)
    try:
        with Stimulus.real(
            descriptor,
            capacity_bytes=size_bytes,
            logical_block_bytes=512,
            thread_count=thread_count,
            seed=1,
            data_origin=1,
            counters_path=None,
            path=io_path,
        ) as stimulus:
            yield stimulus
    finally:
        os.close(descriptor)


def run_on(path: str, size_bytes: int, steps: Sequence[StepSpec]) -> list[StepRecord]:
    """Run steps without a gap; a record of each. Raises OSError where the path cannot be opened."""
    with stimulus_on(path, size_bytes, max(step.demand.thread_count for step in steps)) as stimulus:
        return stimulus.run(steps)
