"""Host idle recovery on stored bursts and on a simulated drive, as far as the session of 2013 can say what is right.

Source: SNIA PTS session 202-C, 14 August 2013, in ``session_2013.toml``; the Steady State Determination Data of MLC-A
from "Understanding SSD Performance Using the SNIA SSS PTS" (SSSI, 2012) for the preconditioning.

The session shows IOPS over time as a picture: no burst mean, baseline or gain is printed, and none of them can be held
to a published figure. Held are the times on the axis of that picture; the baseline, which is the average of a published
box; gains of a constructed drive that does in idle time what it would have done in a burst; and, on a simulated drive,
what the procedure says of the times and of the return to the baseline. There every time is a hundredth, so that gains
are held in their order only: a buffer that is emptied in idle time fills much of a burst of 50 ms.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from assay.procedures.hir.result import idle_recovery_result
from assay.spec.units import SECOND_NS
from demand_run import demand_drive
from session_2013 import MLC_A_BOX, MLC_A_VALUES, SESSION, Rates, planned_tests, played, simulated

if TYPE_CHECKING:
    from assay.engine.records import StepSequence, StepSpec, StoredRun
    from assay.procedures.hir.result import IdleRecoveryResult

HIR = SESSION["hir"]
SEGMENTS = HIR["segments"]
SCALE = 0.01
BASELINE = sum(MLC_A_VALUES) / 5
RETURN_SHARE = 0.96


@pytest.fixture(scope="module")
def result() -> IdleRecoveryResult:
    """The drive of the box, whose bursts with so many bursts of idle time after them are so many times faster."""

    def answer(sequence: StepSequence, _: StepSpec, number: int) -> Rates:
        if sequence.stage == "sample":
            return Rates(MLC_A_VALUES[number // 30 - 1] if number % 30 == 0 else 4000)
        waits = "without" not in sequence.name
        times = 1 + SEGMENTS[sequence.index - 1]["wait_state"] if waits else RETURN_SHARE
        return Rates(BASELINE * times, latency_ms_mean=32_000 / (BASELINE * times))

    (planned,) = planned_tests("hir")
    return idle_recovery_result(played(planned, answer).test, demand_drive().capacity_bytes)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """All cycles of all segments, every time a hundredth of the session's."""
    # What idle time brings this drive is an empty buffer.
    return simulated("hir", tmp_path_factory.mktemp("hir"), SCALE, write_cache="on")


def test_the_baseline_is_the_average_of_the_published_box(result: IdleRecoveryResult) -> None:
    assert result.withheld is None
    assert result.window is not None
    assert result.window.reached
    (verdict,) = result.window.verdicts.values()
    assert {name: f"{getattr(verdict, name):.1f}" for name in MLC_A_BOX} == MLC_A_BOX
    # One I/O more or less in each minute moves the slope by 0.6 x 1/120 at most.
    assert verdict.slope == pytest.approx(-54.407, abs=0.006)
    assert f"{result.baseline_iops:.1f}" == MLC_A_BOX["average"]


def test_bursts_lie_on_the_axis_where_the_printed_lengths_of_the_segments_put_them(result: IdleRecoveryResult) -> None:
    begin_s = 0
    for state, segment in zip(result.states, SEGMENTS, strict=True):
        cycle_s = HIR["burst_seconds"] + segment["idle_seconds"]
        assert len(state.bursts.minutes) == HIR["cycles"]
        assert len(state.returned.minutes) == HIR["return_bursts"]
        middles = [begin_s + place * cycle_s + HIR["burst_seconds"] / 2 for place in range(HIR["cycles"])]
        assert [minute * 60 for minute in state.bursts.minutes] == pytest.approx(middles)
        begin_s += segment["total_seconds"]
        assert state.returned.minutes[-1] * 60 == pytest.approx(begin_s - HIR["burst_seconds"] / 2)
    assert begin_s == 55_800


def test_a_drive_that_makes_full_use_of_idle_time_gains_a_burst_for_each_of_idle(result: IdleRecoveryResult) -> None:
    assert result.return_iops == pytest.approx(RETURN_SHARE * BASELINE, rel=1e-4)
    for state, segment in zip(result.states, SEGMENTS, strict=True):
        assert (state.number, state.idle_s) == (segment["wait_state"], segment["idle_seconds"])
        # Rates are whole I/Os in a burst of 5 s.
        assert state.mean_iops == pytest.approx(BASELINE * (1 + segment["wait_state"]), abs=0.1)
        assert state.over_baseline == pytest.approx(1 + segment["wait_state"], rel=1e-4)
        assert state.over_return == pytest.approx((1 + segment["wait_state"]) / RETURN_SHARE, rel=1e-4)
        assert state.gain_per_s == pytest.approx(BASELINE / HIR["burst_seconds"], rel=1e-4)


def test_simulated_idle_times_are_the_printed_ones_and_carry_no_ios(run: StoredRun) -> None:
    (test,) = run.tests
    for index, segment in enumerate(SEGMENTS, 1):
        steps = test.steps("segment", index)
        idles = steps[1 : 2 * HIR["cycles"] : 2]
        bursts = [*steps[: 2 * HIR["cycles"] : 2], *steps[2 * HIR["cycles"] :]]
        assert {round(step.span_ns / SCALE) for step in idles} == {segment["idle_seconds"] * SECOND_NS}
        assert {round(step.span_ns / SCALE) for step in bursts} == {HIR["burst_seconds"] * SECOND_NS}
        assert sum(step.span_ns for step in steps) == round(segment["total_seconds"] * SCALE * SECOND_NS)
        assert all(step.outstanding_ns == 0 for step in idles)
        assert all(step.write.window_io_count > 0 and step.read.window_io_count == 0 for step in bursts)


def test_a_simulated_idle_time_begins_when_the_last_io_of_its_burst_is_in(run: StoredRun) -> None:
    (test,) = run.tests
    for sequence in test.stage("segment"):
        for before, step in pairwise(sequence.steps):
            gap_ns = step.start_ns - before.start_ns - before.span_ns
            idle = not step.write.window_io_count
            # The wait for the last I/Os of a burst is the lead-in of its idle time; nothing else lies between steps.
            assert gap_ns == (step.lead_in_ns if idle else 0)


def test_simulated_wait_states_follow_each_other_and_all_return_to_one_level(run: StoredRun) -> None:
    (test,) = run.tests
    stages = [(sequence.stage, sequence.index) for sequence in test.sequences if sequence.stage == "segment"]
    assert stages == sorted(stages)
    result = idle_recovery_result(test, run.identity.capacity_bytes)
    levels = [state.return_iops or 0 for state in result.states]
    assert max(levels) < 1.03 * min(levels)
    # More idle time never gives slower bursts, and none are slower than those without.
    means = [result.return_iops or 0, *(state.mean_iops or 0 for state in result.states)]
    assert all(less < more for less, more in pairwise(means))
