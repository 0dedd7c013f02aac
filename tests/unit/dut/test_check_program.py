"""Sequences that did not run to their end: each way has its own error."""

from dataclasses import replace

import pytest
from assay.dut.dut import check_sequence
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import DeviceFailureError, TimekeepingError


@pytest.fixture(scope="module")
def record() -> StepRecord:
    step = StepSpec(
        label="reads",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=4),
        active_range=leading_range(10**9),
        stop=StopRule(io_count=100),
    )
    with Stimulus.simulated(parse_simulated("sim:ideal?capacity=1GB").drive_model, seed=1, epoch_wall_ns=0) as stimulus:
        return stimulus.run([step])[0]


@pytest.mark.parametrize(
    ("ended", "error", "words"),
    [
        ("clock", TimekeepingError, "drive: an I/O was complete before it was submitted, .* in reads"),
        ("late-boundary", TimekeepingError, "drive: a thread was held up by the host .* in reads"),
        ("hung", DeviceFailureError, "drive: the drive stopped answering in reads"),
        ("errors", DeviceFailureError, "drive: I/Os failed in reads"),
        ("interrupted", KeyboardInterrupt, None),
    ],
)
def test_a_program_that_ended_early_raises_by_its_reason(
    record: StepRecord, ended: str, error: type[BaseException], words: str | None
) -> None:
    with pytest.raises(error, match=words):
        check_sequence([record, replace(record, ended=ended)], "drive")


def test_a_program_that_ran_to_its_end_raises_nothing_unless_ios_failed(record: StepRecord) -> None:
    check_sequence([record], "drive")
    failed = replace(record, read=replace(record.read, errors={5: 2}))
    with pytest.raises(DeviceFailureError, match=r"I/Os failed in reads \(2 x EIO, input/output error\)"):
        check_sequence([failed, record], "drive")
