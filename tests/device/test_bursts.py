"""Bursts with idle between them on a real device: they begin when they should, and idle is idle."""

import os

from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import IDLE, DataPattern, Demand, StepSpec, StopRule
from conftest import LoopDrive, stimulus_on

SIZE = 64 << 20
SPAN_NS = 20_000_000


def test_bursts_begin_when_their_step_does_and_idle_steps_issue_nothing(loop_drive: LoopDrive) -> None:
    path = loop_drive(SIZE)
    burst = StepSpec(
        label="burst",
        pattern=random_pattern(4096, 0.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=4),
        active_range=leading_range(SIZE),
        stop=StopRule(time_ns=SPAN_NS),
    )
    idle = StepSpec(
        label="idle",
        pattern=burst.pattern,
        demand=IDLE,
        active_range=burst.active_range,
        stop=StopRule(time_ns=SPAN_NS),
    )
    with stimulus_on(path, SIZE, flags=os.O_EXCL) as stimulus:
        records = stimulus.run([burst, idle] * 50)
    bursts, idles = records[::2], records[1::2]
    # A busy host may not let the thread run in one burst or another.
    begun = [record for record in bursts if record.first_submission_ns is not None]
    assert begun
    assert all(0 <= (record.first_submission_ns or 0) - record.start_ns < SPAN_NS for record in begun)
    # A disk beneath the loop device may keep all I/Os of a short burst until it is over.
    assert all(record.write.window_io_count + record.write.tail_io_count > 0 for record in begun)
    assert all(record.first_submission_ns is None for record in idles)
    assert all(record.span_ns == SPAN_NS for record in records)
