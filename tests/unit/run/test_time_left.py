"""How long a run still takes: worked numbers, with a clock that the test turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from assay.cli.progress_lines import left_label, percent_label, shares_label, span_label
from assay.engine.pattern import cell_pattern, fill_pattern, leading_range
from assay.engine.records import DataPattern, Demand, StepSequence, StepSpec, StopRule
from assay.plan.phases import PlannedPhase
from assay.run.progress import (
    Extent,
    MonotonicShares,
    Pace,
    Progress,
    RunTimes,
    TimeLeft,
    extent_done,
    filling_share,
    phase_left,
    timed_phases,
)
from assay.spec.units import GB, KIB, MINUTE_NS, SECOND_NS

if TYPE_CHECKING:
    from assay.engine.records import Stage
    from assay.plan.procedure import PlannedTest

ROUND_NS = 56 * MINUTE_NS
ROUNDS = PlannedPhase(name="rounds", stages=("round",), least_ns=5 * ROUND_NS, most_ns=25 * ROUND_NS)
PHASES = (
    PlannedPhase(name="preconditioning", stages=("precondition",), amount_bytes=64 * GB),
    ROUNDS,
    PlannedPhase(name="histogram", stages=("histogram",), least_ns=20 * MINUTE_NS, most_ns=20 * MINUTE_NS),
)


class Clock:
    """Shows the time that the test sets."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        """Its time."""
        return self.now_ns


def test_of_a_phase_both_ends_count_down_and_a_running_round_is_always_left() -> None:
    assert phase_left(ROUNDS, Extent(), 0) == TimeLeft(5 * ROUND_NS, 25 * ROUND_NS)
    assert phase_left(ROUNDS, Extent(6 * ROUND_NS), 2360 * SECOND_NS, 1000 * SECOND_NS) == TimeLeft(
        2360 * SECOND_NS, 62_840 * SECOND_NS
    )


@pytest.mark.parametrize(
    ("earliest_min", "latest_min", "expected"),
    [
        (155, 1440, TimeLeft(90 * MINUTE_NS, 90 * MINUTE_NS)),
        (100, 1440, TimeLeft(70 * MINUTE_NS, 90 * MINUTE_NS)),
        (None, None, TimeLeft(90 * MINUTE_NS, 90 * MINUTE_NS)),
        (60, 60, TimeLeft(30 * MINUTE_NS, 30 * MINUTE_NS)),
    ],
)
def test_an_amount_is_reached_at_the_pace_so_far(
    earliest_min: int | None, latest_min: int | None, expected: TimeLeft
) -> None:
    def ns(minutes: int | None) -> int | None:
        return None if minutes is None else minutes * MINUTE_NS

    phase = PlannedPhase(name="samples", least_ns=ns(earliest_min), most_ns=ns(latest_min), amount_bytes=400 * GB)
    assert phase_left(phase, Extent(30 * MINUTE_NS, 100 * GB), 0) == expected
    later = phase_left(phase, Extent(30 * MINUTE_NS, 100 * GB), 0, MINUTE_NS)
    assert later.earliest_ns == expected.earliest_ns - MINUTE_NS


def test_before_anything_is_written_an_amount_may_be_reached_at_any_time() -> None:
    phase = PlannedPhase(name="samples", least_ns=155 * MINUTE_NS, most_ns=1440 * MINUTE_NS, amount_bytes=400 * GB)
    assert phase_left(phase, Extent(), 0) == TimeLeft(0, 1440 * MINUTE_NS)


def test_a_fill_is_known_to_the_byte_and_cells_by_their_time() -> None:
    fill = [step(StopRule(amount_bytes=64 * GB))]
    cells = [step(StopRule(time_ns=60 * SECOND_NS))] * 2
    assert extent_done(fill, 0, 1_000, 5) == Extent(0, 131_072_000)
    assert extent_done(fill, 0, 10**9, 5) == Extent(0, 64 * GB)
    assert extent_done(cells, 1, 7, 90 * SECOND_NS) == Extent(90 * SECOND_NS)
    assert extent_done([*fill, *cells], 2, 7, 90) == Extent(60 * SECOND_NS, 64 * GB)


def test_a_fill_among_samples_has_its_share_of_their_time() -> None:
    steps = [step(StopRule(amount_bytes=64 * GB)), *[step(StopRule(time_ns=SECOND_NS))] * 10]
    spans = [30 * SECOND_NS, *[SECOND_NS] * 10]
    records: Any = [SimpleNamespace(span_ns=span_ns) for span_ns in spans]
    assert filling_share(steps, records) == 0.75
    assert (filling_share(steps, ()), filling_share(steps[:1], ())) == (0, 1)


def test_a_real_run_from_purge_to_the_second_test() -> None:
    clock = Clock()
    times = RunTimes([planned(), planned()], real=True, clock=clock)
    times.test_begins()
    # Nothing is known of the drive but the time of rounds and histogram.
    assert times.run_left() == TimeLeft(2 * (5 * ROUND_NS + 20 * MINUTE_NS), None)
    times.purge_begins()
    clock.now_ns += 2 * MINUTE_NS
    times.purge_ended()
    fill = sequence("precondition", StopRule(amount_bytes=64 * GB))
    times.sequence_begins(fill)
    clock.now_ns += 10 * SECOND_NS
    times.looked(fill, 0, 5 * GB // (128 * KIB), 10 * SECOND_NS)
    left = times.unit_left()
    assert left
    assert left.earliest_ns == pytest.approx(118 * SECOND_NS, rel=1e-4)
    clock.now_ns += 118 * SECOND_NS
    times.sequence_ended(fill, ())
    # Purge of 2 min and fill of 128 s come again with the second test.
    again_ns = 2 * MINUTE_NS + 128 * SECOND_NS
    earliest_ns, latest_ns = (ROUND_NS * count + 20 * MINUTE_NS for count in (5, 25))
    assert times.test_left() == TimeLeft(earliest_ns, latest_ns)
    assert times.run_left() == TimeLeft(2 * earliest_ns + again_ns, 2 * latest_ns + again_ns)


def test_after_the_earliest_end_another_round_is_left_and_after_the_verdict_only_what_is_behind() -> None:
    clock = Clock()
    times = RunTimes([planned()], real=True, clock=clock)
    times.test_begins()
    times.purge_begins()
    times.purge_ended()
    fill = sequence("precondition", StopRule(amount_bytes=64 * GB))
    times.sequence_begins(fill)
    times.sequence_ended(fill, ())
    for _ in range(7):
        one = sequence("round", StopRule(time_ns=ROUND_NS))
        times.sequence_begins(one)
        clock.now_ns += ROUND_NS
        times.sequence_ended(one, ())
    assert times.test_left() == TimeLeft(ROUND_NS + 20 * MINUTE_NS, 18 * ROUND_NS + 20 * MINUTE_NS)
    times.phase_ended()
    assert times.test_left() == TimeLeft(20 * MINUTE_NS, 20 * MINUTE_NS)


def test_on_a_simulated_drive_nothing_is_told_before_a_round_has_shown_its_pace() -> None:
    clock = Clock()
    times = RunTimes([planned()], real=False, clock=clock)
    times.test_begins()
    assert times.run_left() is None
    one = sequence("round", StopRule(time_ns=ROUND_NS))
    times.sequence_begins(one)
    clock.now_ns += SECOND_NS
    times.looked(one, 0, 7, ROUND_NS // 2)
    assert times.unit_left() == TimeLeft(SECOND_NS, SECOND_NS)
    left = times.test_left()
    assert left
    # Half a round takes a second: 4.5 rounds and 20 min of the drive's time at the earliest.
    assert left.earliest_ns == pytest.approx((4.5 * 56 + 20) / 28 * SECOND_NS)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (None, "unknown"),
        (TimeLeft(0, None), "unknown"),
        (TimeLeft(5 * 60 * MINUTE_NS, None), "5 h or more"),
        (TimeLeft(5 * 60 * MINUTE_NS, 18 * 60 * MINUTE_NS), "5 h to 18 h"),
        (TimeLeft(44_200_000_000, 44_900_000_000), "45 s"),
    ],
)
def test_the_range_is_said_in_words(left: TimeLeft | None, said: str) -> None:
    assert left_label(left) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59.5, "1 min"), (67.2, "1 min 8 s"), (2652, "45 min"), (5400, "1 h 30 min"), (180_060, "2 d 3 h")],
)
def test_a_time_left_is_rounded_up(seconds: float, said: str) -> None:
    assert span_label(round(seconds * SECOND_NS)) == said


def test_the_share_of_the_run_is_a_range_and_never_whole_before_its_end() -> None:
    hour_ns = 60 * MINUTE_NS
    shares = MonotonicShares().update(TimeLeft(hour_ns, 3 * hour_ns), hour_ns)
    assert shares_label(Progress(run_shares=shares)) == "25 to 50 %"
    assert shares_label(Progress(run_shares=(0.5, 0.5))) == "50 %"
    assert percent_label(0.9999) == "99 %"


def test_the_share_of_the_run_never_falls() -> None:
    shares, minute = MonotonicShares(), MINUTE_NS
    assert shares.update(TimeLeft(60 * minute, 180 * minute), 60 * minute) == (0.25, 0.5)
    assert shares.update(TimeLeft(8 * 60 * minute, 18 * 60 * minute), 120 * minute) is None, "the run is longer now"
    assert shares.update(TimeLeft(61 * minute, 181 * minute), 60 * minute) == (0.25, 0.5), "less than one per cent"
    assert shares.update(TimeLeft(60 * minute, 60 * minute), 180 * minute) == (0.75, 0.75)
    assert shares.update(None, 180 * minute) is None
    assert shares_label(Progress(run_left=TimeLeft(minute, minute), run_shares=None)) == ""


def test_figures_are_of_one_cell_or_not_there() -> None:
    pace = Pace()
    assert pace.look(0, 100, 200_000_000, SECOND_NS // 10) == (1000.0, 2.0)
    # The second cell began since then: some of what completed was the first one's.
    assert pace.look(1, 300, 400_000_000, SECOND_NS) == (None, None)
    assert pace.look(1, 400, 500_000_000, 2 * SECOND_NS) == (100.0, 1.0)
    assert pace.look(1, 400, 500_000_000, 2 * SECOND_NS) == (None, None)


def test_the_fill_is_no_timed_phase() -> None:
    assert [phase.stages for phase in timed_phases(planned())] == [("round",), ("histogram",)]


def planned() -> PlannedTest:
    """64 GB of preconditioning, five to 25 rounds of 56 min, and 20 min behind them."""
    test = SimpleNamespace(phases=PHASES, written_first_bytes=64 * GB, purge_count=1)
    return cast("PlannedTest", test)


def sequence(stage: Stage, stop: StopRule) -> StepSequence:
    return StepSequence(name="x", stage=stage, index=1, steps=(step(stop),), role="measure", on_void="accept")


def step(stop: StopRule) -> StepSpec:
    pattern: Any = fill_pattern(128 * KIB, DataPattern())
    if stop.time_ns:
        pattern = cell_pattern("random", 4 * KIB, 0.5, DataPattern())
    demand = Demand(thread_count=1, queue_depth=1)
    return StepSpec(label="x", pattern=pattern, demand=demand, active_range=leading_range(GB), stop=stop)
