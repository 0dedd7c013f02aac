"""The disk of the SSSI blind survey of 2010 (HDD-1) against ``sim:hdd-15k``.

Source: SSSI blind survey of 2010, "Need for device testing at steady state": random 4 KiB at 32 outstanding I/Os, 348
IOPS of writes fresh out of the box, 340 at steady state, 402 of reads at steady state.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import AccessPattern, DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import ValueRangeError

MODEL = parse_simulated("sim:hdd-15k").drive_model
DATA = DataPattern()


@pytest.fixture
def disk() -> Iterator[Stimulus]:
    with Stimulus.simulated(MODEL, seed=1, epoch_wall_ns=0) as stimulus:
        yield stimulus


def run(disk: Stimulus, pattern: AccessPattern, queue_depth: int, io_count: int) -> StepRecord:
    step = StepSpec(
        label="step",
        pattern=pattern,
        demand=Demand(thread_count=2, queue_depth=queue_depth // 2),
        active_range=leading_range(MODEL.capacity_bytes),
        stop=StopRule(io_count=io_count),
    )
    return disk.run([step])[0]


def rate(record: StepRecord) -> float:
    return (record.read.window_io_count + record.write.window_io_count) / (record.span_ns / 1e9)


def test_random_rates_of_the_blind_survey_emerge_and_nothing_wears_off(disk: Stimulus) -> None:
    fresh = rate(run(disk, random_pattern(4096, 0.0, DATA), 32, 30_000))
    run(disk, fill_pattern(131_072, DATA), 32, 200_000)
    run(disk, random_pattern(4096, 0.0, DATA), 32, 200_000)
    steady = rate(run(disk, random_pattern(4096, 0.0, DATA), 32, 30_000))
    read = rate(run(disk, random_pattern(4096, 1.0, DATA), 32, 30_000))
    assert fresh == pytest.approx(348, rel=0.05)
    assert steady == pytest.approx(340, rel=0.05)
    assert read == pytest.approx(402, rel=0.10)
    assert steady == pytest.approx(fresh, rel=0.01)


def test_streams_have_the_sustained_rate_of_the_data_sheet(disk: Stimulus) -> None:
    for pattern in (fill_pattern(131_072, DATA), replace(fill_pattern(131_072, DATA), read_share=1.0)):
        assert rate(run(disk, pattern, 2, 20_000)) * 131_072 == pytest.approx(152e6, rel=0.03)


def test_a_purge_is_a_pass_over_the_whole_disk(disk: Stimulus) -> None:
    span_ns = disk.purge_simulated()
    assert span_ns is not None
    # 146.8 GB between 152 and 105 MB/s.
    assert 146.8e9 / 152e6 < span_ns / 1e9 < 146.8e9 / 105e6


def test_a_parameter_outside_its_range_is_a_value_error() -> None:
    with pytest.raises(ValueRangeError, match=r"rotation_rpm: is 100, not in its range: .* 3,600 to 20,000"):
        Stimulus.simulated(MODEL.replaced(rotation_rpm=100), seed=1, epoch_wall_ns=0)
