"""Cross stimulus recovery on stored samples and on a simulated drive, against published figures.

Sources: SNIA PTS session 202-C, 14 August 2013, in ``session_2013.toml``; its client drive, in
``published/client-2013_*.csv``; Spanjer, "What's up with these numbers" (2009), for sequential writes before and after
random ones.

The session shows throughput and response times over time as pictures: no group average, maximum or recovery time is
printed, and none of them can be held to a figure of its own. Held are what the functions make of figures that the same
session prints of its client drive, the two drops that Spanjer prints, and, on a simulated drive, what the procedure
says of order, length and units. The hours and the rule of the recovery time are those of public implementations, its
share of 95 % is the edition's own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from assay.procedures.xsr.result import cross_stimulus_result
from assay.spec.units import KIB, MB
from session_2013 import CLIENT, SESSION, Rates, planned_tests, played, simulated

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StepSequence, StepSpec, StoredRun
    from assay.procedures.xsr.result import CrossStimulusResult

SEQUENTIAL_MB_PER_S, RANDOM_IOPS = CLIENT["tp_1024_write_mb_per_s"], CLIENT["iops_8_0"]
SEQUENTIAL_BYTES = 1024 * KIB
MINUTES = (480, 360, 480)
ONE_IO_MB_PER_S = SEQUENTIAL_BYTES / 60 / MB
"""What one I/O more or less in a minute moves a rate by."""


def result_of(last: Callable[[int], float], first: float = SEQUENTIAL_MB_PER_S) -> CrossStimulusResult:
    """Groups 1 and 2 at one level each; ``last`` gives MB/s of each minute of group 3, from 1."""

    def answer(sequence: StepSequence, _: StepSpec, number: int) -> Rates:
        if sequence.index == 2:
            largest = CLIENT["lat_8_0_max_ms"] if number == MINUTES[0] + 100 else 1.0
            return Rates(RANDOM_IOPS, latency_ms_mean=CLIENT["lat_8_0_average_ms"], latency_ms_max=largest)
        rate = first if sequence.index == 1 else last(number - sum(MINUTES[:2]))
        return Rates(rate * MB / SEQUENTIAL_BYTES)

    (planned,) = planned_tests("xsr")
    return cross_stimulus_result(played(planned, answer).test)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """All samples of all groups, each of 60 ms."""
    return simulated("xsr", tmp_path_factory.mktemp("xsr"), 0.001)


def test_a_drive_that_holds_its_published_rates_prints_them_and_has_nothing_to_recover_from() -> None:
    result = result_of(lambda _: SEQUENTIAL_MB_PER_S)
    first, middle, last = result.groups
    assert result.withheld is None
    for group in (first, last):
        assert group.mean_mb_per_s == pytest.approx(SEQUENTIAL_MB_PER_S, abs=ONE_IO_MB_PER_S / 2)
        assert group.end_mb_per_s == pytest.approx(SEQUENTIAL_MB_PER_S, abs=ONE_IO_MB_PER_S / 2)
    # Sizes in base 2, rates in base 10: 32,683.6 x 8,192 bytes are 267.7 MB.
    assert set(middle.samples.iops) == {RANDOM_IOPS}
    assert f"{middle.mean_mb_per_s:.1f}" == "267.7"
    assert (last.drop_share, result.lowest_share, result.recovery_minutes) == (0, 1, 1)
    assert (first.drop_share, middle.drop_share) == (None, None)


def test_the_published_response_times_are_the_peaks_of_their_group_and_of_no_other() -> None:
    first, middle, last = result_of(lambda _: SEQUENTIAL_MB_PER_S).groups
    assert middle.latency_ms_mean_peak == pytest.approx(CLIENT["lat_8_0_average_ms"], rel=1e-6)
    assert middle.latency_ms_max_peak == CLIENT["lat_8_0_max_ms"]
    assert (middle.latency_ms_mean_peak or 0) < (middle.latency_ms_max_peak or 0)
    assert first.latency_ms_max_peak == last.latency_ms_max_peak == 10


def test_samples_of_all_groups_lie_on_one_axis_of_minutes() -> None:
    minutes = [group.samples.minutes for group in result_of(lambda _: SEQUENTIAL_MB_PER_S).groups]
    assert tuple(map(len, minutes)) == MINUTES
    assert [minute for group in minutes for minute in group] == pytest.approx(range(1, sum(MINUTES) + 1))


@pytest.mark.parametrize(
    ("before", "after", "printed", "exact"), [(172.5, 16.8, "90 %", 0.9026), (118.3, 113.3, "4 %", 0.0423)]
)
def test_sequential_writes_behind_random_ones_drop_as_printed(
    before: float, after: float, printed: str, exact: float
) -> None:
    result = result_of(lambda _: after, before)
    drop = result.groups[2].drop_share
    assert drop == pytest.approx(exact, abs=5e-5 + ONE_IO_MB_PER_S / before)
    assert f"{drop:.0%}".replace("%", " %") == printed
    assert 1 - (result.lowest_share or 0) == pytest.approx(drop)
    # The smaller drop stays above 95 % of the first group, and the larger one never comes back.
    assert result.recovery_minutes == (1 if printed == "4 %" else None)


@pytest.mark.parametrize("low_minutes", [1, 61, 479])
def test_recovery_ends_with_the_first_sample_back_at_the_level_before(low_minutes: int) -> None:
    result = result_of(lambda minute: 16.8 if minute <= low_minutes else 172.5, 172.5)
    assert result.recovery_minutes == low_minutes + 1
    assert 1 - (result.lowest_share or 0) == pytest.approx(0.9026, abs=2e-4)
    mean = (low_minutes * 16.8 + (480 - low_minutes) * 172.5) / 480
    assert result.groups[2].mean_mb_per_s == pytest.approx(mean, abs=ONE_IO_MB_PER_S)
    # The end is the last tenth, 48 samples.
    low_at_end = max(low_minutes - 432, 0)
    end = (low_at_end * 16.8 + (48 - low_at_end) * 172.5) / 48
    assert result.groups[2].end_mb_per_s == pytest.approx(end, abs=ONE_IO_MB_PER_S)


def test_simulated_groups_follow_each_other_with_the_printed_accesses(run: StoredRun) -> None:
    (test,) = run.tests
    groups = [group for sequence in test.stage("group") for group in [sequence.index] * len(sequence.steps)]
    assert groups == [1] * MINUTES[0] + [2] * MINUTES[1] + [3] * MINUTES[2]
    for index, group in enumerate(SESSION["xsr"]["groups"], 1):
        for step in test.steps("group", index):
            assert step.read.window_io_count == group["read_pct"] == 0
            assert step.write.window_bytes == step.write.window_io_count * group["block_kib"] * KIB
    for sequence in test.stage("group"):
        # Samples of one sequence are one stimulus, without a gap.
        assert all(after.start_ns == before.start_ns + before.span_ns for before, after in pairwise(sequence.steps))


def test_simulated_throughput_is_in_mb_of_base_ten_and_sizes_in_kib_of_base_two(run: StoredRun) -> None:
    result = cross_stimulus_result(run.tests[0])
    for printed, group in zip(SESSION["xsr"]["groups"], result.groups, strict=True):
        per_io = printed["block_kib"] * KIB / MB
        assert group.samples.throughput == pytest.approx([rate * per_io for rate in group.samples.iops], rel=1e-9)


def test_a_simulated_drive_is_slowed_by_the_random_writes_and_comes_back(run: StoredRun) -> None:
    result = cross_stimulus_result(run.tests[0])
    first, middle, last = result.groups
    assert result.lowest_share is not None
    assert result.lowest_share < 0.5
    assert (middle.mean_mb_per_s or 0) < (first.mean_mb_per_s or 0)
    assert 0 < (last.drop_share or 0) < 1
    # It leaves at the level at which the first group ended, and its lowest samples lie before it has recovered.
    assert last.end_mb_per_s == pytest.approx(first.end_mb_per_s, rel=0.02)
    recovered = next(
        place for place, rate in enumerate(last.samples.throughput) if rate >= 0.95 * (first.mean_mb_per_s or 0)
    )
    assert last.samples.throughput.index(min(last.samples.throughput)) < recovered
    assert result.recovery_minutes == pytest.approx((recovered + 1) * 0.001)
