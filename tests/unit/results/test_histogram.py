"""Percentiles from merged histograms, judged by the sorted values themselves."""

from dataclasses import replace

import numpy as np
import pytest
from assay.engine.records import HistogramTable
from assay.results.histogram import ResponseTimes, merged, percentiles, step_times
from report_run import TRACKED, stored_steps, synthetic_step


def bucket(value: int) -> int:
    """The core's rule: exact below 1,024 ns, then 512 buckets to an octave."""
    octave = max(value.bit_length() - 10, 0)
    return octave * 512 + (value >> octave)


def counted(values: list[int]) -> ResponseTimes:
    buckets, counts = np.unique([bucket(value) for value in values], return_counts=True)
    return ResponseTimes(buckets.astype(np.uint64), counts.astype(np.uint64))


def test_the_middle_of_a_bucket_is_within_a_thousandth_of_the_core_s_example() -> None:
    assert bucket(1_500_000) == 6364
    assert counted([1_500_000]).middles_ms[0] == pytest.approx(1.5, rel=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_percentiles_are_those_of_the_sorted_values_within_the_resolution(seed: int) -> None:
    values = sorted(np.random.default_rng(seed).lognormal(12, 2, 200_000).astype(int).tolist())
    times = counted(values)
    for share in (0.01, 0.5, 0.9, 0.99, 0.999, 0.9999):
        rank = len(values) * round(share * 10**6) // 10**6
        assert times.percentile(share) == pytest.approx(values[rank - 1] / 1e6, rel=1e-3), (seed, share)


def test_a_percentile_with_fewer_than_ten_ios_beyond_is_not_given() -> None:
    values = [1_000_000] * 999 + [5_000_000] * 10
    assert counted(values).percentile(0.99) == pytest.approx(1.0, rel=1e-3)
    assert counted(values).percentile(0.991) is None
    assert percentiles(counted(values)) == {0.999: None, 0.9999: None, 0.99999: None}
    assert merged([]).percentile(0.5) is None


def test_no_percentile_exceeds_the_exact_maximum() -> None:
    table = HistogramTable(
        step=np.zeros(1, np.uint32),
        direction=np.ones(1, np.int64),
        bucket=np.array([bucket(41_000_000)], np.uint64),
        count=np.array([1000], np.uint64),
    )
    step = synthetic_step(TRACKED, 1.0)
    step = replace(step, write=replace(step.write, latency_ns_max=40_970_000))
    (times,) = step_times(stored_steps("round", 1, step, histograms=table))
    assert times.percentile(0.5) == 40.97 < times.middles_ms[0]


def test_histograms_are_merged_and_percentiles_never_averaged() -> None:
    fast, slow = counted([1_000_000] * 10_000), counted([9_000_000] * 100)
    both = merged([fast, slow])
    assert both.io_count == 10_100
    assert both.percentile(0.98) == pytest.approx(1.0, rel=1e-3)
    assert both.percentile(0.995) == pytest.approx(9.0, rel=1e-3)


def test_the_steps_of_a_program_are_told_apart_and_directions_added() -> None:
    table = HistogramTable(
        step=np.array([2, 0, 2], np.uint32),
        direction=np.array([1, 1, 0], np.int8),
        bucket=np.array([7, 5, 7], np.uint64),
        count=np.array([3, 1, 2], np.uint64),
    )
    steps = (synthetic_step(TRACKED, 1.0),) * 3
    found = step_times(stored_steps("round", 1, *steps, histograms=table))
    assert [one.counts.tolist() for one in found] == [[1], [], [5]]
    assert step_times(stored_steps("round", 1, *steps)) == []
