"""A drive that the stimulus has let go of is free at once."""

import os

import pytest
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from conftest import LoopDrive, stimulus_on

SIZE = 64 << 20


@pytest.mark.parametrize("thread_count", [1, 32])
def test_a_drive_can_be_claimed_again_as_soon_as_the_stimulus_is_closed(
    loop_drive: LoopDrive, thread_count: int
) -> None:
    path = loop_drive(SIZE)
    step = StepSpec(
        label="read",
        pattern=random_pattern(1 << 20, 1.0, DataPattern()),
        demand=Demand(thread_count=thread_count, queue_depth=4),
        active_range=leading_range(SIZE),
        stop=StopRule(io_count=200),
    )
    for _ in range(10):
        # Claims the device, and fails with EBUSY where anyone still holds it.
        with stimulus_on(path, SIZE, thread_count=thread_count, flags=os.O_EXCL) as stimulus:
            stimulus.run([step])
