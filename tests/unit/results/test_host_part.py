"""The host's part in rates, tails and maxima, from what was recorded beside the steps."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import pytest
from assay.compare.interval import Spread, Uncertainty
from assay.engine.records import IDLE, CalibrationPoint, Demand, HostCalibration, HostRecord
from assay.results.finding import ask
from assay.results.host_part import (
    average_part,
    busy_steps,
    calm_point,
    host_part_findings,
    host_parts,
    is_calm,
    step_part,
)
from assay.results.host_tail import host_excess, late_excess, late_ns_near_maximum, wait_excess
from assay.results.outcome import withheld_reason
from assay.results.run_checks import RUN_CHECKS
from assay.summary.measures import bounded, moved_share
from assay.summary.record import Measure
from assay.words.text import text_or_none
from report_run import synthetic_test

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.summary.record import Sources, Stat

SECOND, MS = 10**9, 10**6
MINUTE = 60 * SECOND
QUIET = HostRecord(
    span_ns=MINUTE,
    began_ns=0,
    late_ns_p999=70_000,
    late_ns_max=900_000,
    stalled_ns=0,
    gauge_cpu_ns=300 * MS,
    cpu_count=4,
    wakes=((50_000, 60_000),),
    stimulus_cpu_count=4,
    stimulus_steal_ns=0,
    other_busy_ns=0,
    throttled_ns=0,
)
CALM = HostCalibration(
    points=tuple(
        CalibrationPoint(thread_count=1, queue_depth=depth, answer_ns=answer_ns, wait_share=0.005, wakes=QUIET.wakes)
        for depth in (1, 32)
        for answer_ns in (100_000, MS)
    ),
    other_busy_share=0.004,
    steal_share=0.0,
)


def watched(
    host: HostRecord = QUIET,
    wait: float = 0.0,
    calibration: HostCalibration | None = CALM,
    rounds: tuple[int, ...] = (),
) -> StoredTest:
    """A test whose steps take their whole sequence; in ``rounds``, or in all, threads waited this share of the time."""
    test = synthetic_test()
    sequences = []
    for sequence in test.sequences:
        waits = wait if not rounds or (sequence.stage == "round" and sequence.index in rounds) else 0.0
        threads = max(spec.demand.thread_count for spec in sequence.asked)
        steps = tuple(
            replace(step, wait_ns=round((waits + 0.005) * threads * (step.lead_in_ns + step.span_ns)))
            for step in sequence.steps
        )
        sequences.append(replace(sequence, steps=steps, host=host))
    return replace(test, sequences=tuple(sequences), calibration=calibration, ended="steady")


@pytest.mark.parametrize(("other", "steal", "calm"), [
    (0.004, 0.0, True), (0.01, 0.0, False), (0.004, 0.005, False), (None, 0.0, False), (0.0, None, False),
])  # fmt: skip
def test_a_calibration_counts_only_where_the_host_was_seen_quiet(
    other: float | None, steal: float | None, calm: bool
) -> None:
    assert is_calm(HostCalibration(points=(), other_busy_share=other, steal_share=steal)) is calm
    assert not is_calm(None)


def test_the_nearest_point_of_a_calibration_is_taken() -> None:
    point = calm_point(CALM, Demand(thread_count=1, queue_depth=32), 800_000)
    assert point is not None
    assert (point.queue_depth, point.answer_ns) == (32, MS)
    busy = replace(CALM, other_busy_share=0.5)
    assert calm_point(busy, Demand(thread_count=1, queue_depth=32), 800_000) is None


@pytest.mark.parametrize(
    ("wait", "level"), [(0.0, "pass"), (0.009, "pass"), (0.02, "warn"), (0.049, "warn"), (0.06, "invalid")]
)
def test_waits_beyond_those_of_the_quiet_host_are_its_part(wait: float, level: str) -> None:
    test = watched(wait=wait)
    assert {one.level for one in host_part_findings(test)} == {level}
    assert all(part.share == pytest.approx(wait, abs=1e-6) for part in host_parts(test))
    assert bool(withheld_reason(test)) is (level == "invalid")


@pytest.mark.parametrize(("changes", "share"), [
    ({"stalls": ((0, MINUTE),)}, 1.0),
    ({"throttled_ns": MINUTE // 50}, 0.02),
    ({"stimulus_steal_ns": 4 * MINUTE // 100}, 0.01),
    ({"server_wait_ns": MINUTE // 100}, 0.01),
])  # fmt: skip
def test_stalls_quotas_stolen_time_and_waits_of_servers_are_its_part_too(
    changes: dict[str, object], share: float
) -> None:
    test = watched(replace(QUIET, **changes))  # type: ignore[arg-type]
    step = test.sequences[-1].steps[0]
    host = replace(test.sequences[-1].host or QUIET, began_ns=0)
    if host.stalls:
        host = replace(host, stalls=((step.start_ns - step.lead_in_ns, step.lead_in_ns + step.span_ns),))
    assert step_part(replace(test.sequences[-1], host=host), 0, CALM) == pytest.approx(share)


def test_what_is_too_short_for_a_stall_counts_by_the_largest_of_each_second() -> None:
    host = replace(QUIET, late_ns_by_second=tuple((second, 6 * MS) for second in range(9_999)))
    sequence = watched(host).sequences[-1]
    step = sequence.steps[0]
    seconds = (step.lead_in_ns + step.span_ns) / SECOND
    assert step_part(sequence, 0, CALM) == pytest.approx(0.006, abs=0.012 / seconds)


def test_a_round_of_the_window_counts_by_its_length() -> None:
    test = watched(wait=0.1, rounds=(synthetic_test().rounds[-1].index,))
    cells = [part for part in host_parts(test) if part.index is not None]
    if cells:
        assert all(part.share == pytest.approx(0.02, abs=1e-6) for part in cells)
    pairs = [(sequence, 0) for sequence in test.sequences if sequence.stage == "round"][-5:]
    assert average_part(pairs, CALM) == pytest.approx(0.02, abs=1e-6)


def test_what_is_not_counted_is_unknown_and_a_host_never_seen_quiet_is_no_pass() -> None:
    older = watched(replace(QUIET, began_ns=None))
    assert {one.level for one in host_part_findings(older)} == {"unknown"}
    busy = watched(calibration=replace(CALM, other_busy_share=0.5))
    assert {one.level for one in host_part_findings(busy)} == {"unknown"}
    assert "host not calibrated" in next(iter(host_part_findings(busy))).words
    row = next(check for check in RUN_CHECKS if check.name == "host-part")
    assert ask(row, synthetic_test()).level == "n/a"


def test_the_reason_names_share_and_place() -> None:
    reason = text_or_none(withheld_reason(watched(wait=0.1)))
    assert reason is not None
    assert "the stimulus lacked a processor 10.00 % of the time in round" in reason


def test_late_wake_ups_beyond_those_of_the_quiet_host() -> None:
    busy = ((50_000, 59_400), (200_000, 600))
    assert late_excess(busy, ((50_000, 60_000),), MS) == (0.01, 0.01)
    found = late_excess(busy, ((50_000, 59_940), (200_000, 60)), MS)
    assert found == pytest.approx((0.009, 0.0085 - 3 * sqrt(0.001 * 0.999 / 60_000)))
    assert late_excess((), (), MS) is None
    # A bucket that the border lies in counts as late.
    assert late_excess(((98_304, 10), (114_688, 90)), (), MS) == (1.0, 1.0)


def test_the_lateness_beside_a_maximum_is_that_of_its_second() -> None:
    test = watched(replace(QUIET, late_ns_by_second=((0, MS), (3, 9 * MS))))
    sequence = test.sequences[-1]
    step = replace(sequence.steps[0], start_ns=0, span_ns=MINUTE)
    slow = replace(step, read=replace(step.read, slowest_second=3, latency_ns_max=20 * MS))
    assert late_ns_near_maximum(sequence, slow) == 9 * MS
    early = replace(step, read=replace(step.read, slowest_second=0, latency_ns_max=20 * MS))
    assert late_ns_near_maximum(sequence, early) == MS
    calm = replace(step, read=replace(step.read, slowest_second=10, latency_ns_max=20 * MS))
    assert late_ns_near_maximum(sequence, calm) == MS // 4


def number(stat: Stat, key: str, value: float, sources: Sources = ()) -> Measure:
    return Measure(cell=(), key=key, label="x", unit="ms", value=value, stat=stat, sources=sources)


@pytest.mark.parametrize(("wait", "mark"), [(0.0, None), (0.02, "warn"), (0.1, "invalid")])
def test_a_rate_carries_its_bound_and_mark_and_loses_its_value_where_it_is_the_hosts(
    wait: float, mark: str | None
) -> None:
    (measure,) = bounded(watched(wait=wait), [number("mean", "iops", 100.0)])
    assert measure.mark == mark
    assert measure.bound == pytest.approx(wait, abs=1e-6)
    assert (measure.value is None) is (mark == "invalid")


def test_a_number_carries_what_befell_its_own_steps_only() -> None:
    rounds = [index for index, one in enumerate(watched().sequences) if one.stage == "round"]
    test = watched(wait=0.03, rounds=(watched().sequences[rounds[-1]].index,))
    whole, struck, spared = bounded(test, [
        number("mean", "iops", 1.0), number("mean", "iops", 1.0, ((rounds[-1], 0),)),
        number("mean", "iops", 1.0, ((rounds[-2], 0),)),
    ])  # fmt: skip
    assert [one.mark for one in (whole, struck, spared)] == ["warn", "warn", None]


def test_tails_and_maxima_are_marked_by_late_wake_ups() -> None:
    late = replace(QUIET, wakes=((50_000, 59_000), (MS, 1_000)), late_ns_by_second=tuple((s, MS) for s in range(9_999)))
    tail, p90, least, largest = bounded(watched(late), [
        number("percentile", "latency_ms_p99.9", 2.0), number("percentile", "latency_ms_p90", 2.0),
        number("maximum", "latency_ms_max", 2.1), number("maximum", "latency_ms_max", 2.0),
    ])  # fmt: skip
    assert [one.mark for one in (tail, p90, least, largest)] == ["warn", None, None, "warn"]
    assert tail.bound == pytest.approx(1 / 60)
    assert largest.bound == 1.0


def test_a_simulated_drive_has_neither() -> None:
    measure = number("mean", "iops", 1.0)
    assert list(bounded(synthetic_test(), [measure])) == [measure]


def test_a_comparison_is_less_sure_by_the_part_of_its_hosts() -> None:
    spread = Spread(error=0.01, freedom=4, basis="x")
    known, alone = Uncertainty(spreads=(spread,), host=0.0305), Uncertainty(spreads=(spread,))
    assert known.reach() == pytest.approx((alone.reach() or 0) + 0.0305)
    assert Uncertainty(host=0.0305).reach() is None
    marked = replace(number("mean", "iops", 1.0), bound=0.03, mark="warn")
    tail = replace(number("percentile", "latency_ms_p99.9", 1.0), bound=0.03, mark="warn")
    assert [moved_share(one) for one in (marked, tail, replace(marked, mark=None))] == [0.03, 0.0, 0.0]


def test_idle_time_has_no_part() -> None:
    test = watched(wait=0.02)
    sequence = test.sequences[-1]
    idle = replace(sequence, asked=tuple(replace(spec, demand=IDLE) for spec in sequence.asked))
    assert busy_steps(sequence) == list(range(len(sequence.steps)))
    assert busy_steps(idle) == []
    only_idle = replace(test, sequences=(idle,), window_indexes=())
    assert host_parts(only_idle) == ()
    (measure,) = bounded(only_idle, [number("mean", "iops", 1.0)])
    assert measure.mark == "unknown"


def test_waits_of_the_stimulus_count_by_their_length() -> None:
    waits = replace(QUIET, waits=((2 * MS, 10),), watched_ns=MINUTE)
    upper = 2 * MS + (1 << 20 >> 3)
    share = 10 * (upper - 0.1 * MS) / MINUTE
    assert wait_excess(waits, None, MS) == (share, share)
    assert share == pytest.approx(0.00034, abs=0.00001)
    calm = replace(CALM.points[0], waits=((2 * MS, 1),), watched_ns=MINUTE)
    assert wait_excess(waits, calm, MS) == pytest.approx((share * 0.9, share * 0.6))
    assert host_excess(waits, None, MS) == (share, share)
    assert host_excess(replace(waits, wakes=()), None, MS) is None
