"""Grids of demands: their order, operating points, totals, and percentiles from every completion."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from assay.engine.records import Demand, DirectionRecord
from assay.errors import PlanError, ValueRangeError
from assay.procedures.editions import load_edition
from assay.procedures.families.grid.record import max_by_chance, out_of_order
from assay.procedures.families.grid.result import (
    DemandCell,
    OperatingPoint,
    PointRun,
    by_total_oio,
    choose_points,
    demand_window,
    grid_cells,
    operating_points,
    total_oio,
)
from assay.procedures.families.grid.run import demand_round as round_asked
from assay.procedures.families.grid.run import grid_demands, operating_point
from assay.results.captured import exact_times, latency_buckets
from assay.results.histogram import direction_times
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from assay.words.text import text
from demand_run import demand_drive, demand_round, demand_settings, demand_step, planned_demand
from report_run import synthetic_direction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COUNTS = (32, 16, 8, 6, 4, 2, 1)


def cell(threads: int, depth: int, iops: float, latency_ms_mean: float, completed: int = 1000) -> DemandCell:
    return DemandCell(
        demand=Demand(thread_count=threads, queue_depth=depth),
        iops=Fraction(iops),
        latency_ms_mean=Fraction(latency_ms_mean),
        cpu_share=None,
        completed=completed,
    )


def chosen(cells: Sequence[DemandCell], limit_ms: int = 5) -> dict[str, tuple[int, int]]:
    points = choose_points(cells, Fraction(limit_ms))
    return {point.name: (point.demand.thread_count, point.demand.queue_depth) for point in points}


def test_the_grid_runs_in_order_of_decreasing_total_oio_and_ties_by_the_stated_rule() -> None:
    grid = grid_demands(COUNTS, COUNTS, "more threads first")
    totals = [total_oio(demand) for demand in grid]
    assert len(set(grid)) == 49
    assert totals == sorted(totals, reverse=True)
    assert sorted(set(totals)) == [1, 2, 4, 6, 8, 12, 16, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512, 1024]
    ties = [(demand.thread_count, demand.queue_depth) for demand in grid if total_oio(demand) == 32]
    assert ties == [(32, 1), (16, 2), (8, 4), (4, 8), (2, 16), (1, 32)]
    other = grid_demands(COUNTS, COUNTS, "fewer threads first")
    assert [one.thread_count for one in other if total_oio(one) == 32] == [1, 2, 4, 8, 16, 32]


def test_max_is_the_fastest_cell_below_the_limit_and_mid_lies_nearest_to_the_middle() -> None:
    cells = [cell(32, 32, 900, 30), cell(8, 1, 800, 4), cell(4, 1, 560, 2), cell(2, 1, 300, 1.5), cell(1, 1, 200, 1)]
    assert chosen(cells) == {"Max": (8, 1), "Mid": (4, 1), "Min": (1, 1)}


def test_mid_is_no_saturated_cell_that_takes_longer_than_the_limit() -> None:
    cells = [cell(32, 32, 450, 2000), cell(2, 1, 480, 4), cell(1, 1, 420, 2)]
    assert chosen(cells) == {"Max": (2, 1), "Mid": (1, 1), "Min": (1, 1)}


def test_a_cell_exactly_at_the_limit_is_not_below_it() -> None:
    assert chosen([cell(2, 1, 900, 5), cell(1, 1, 200, 1)])["Max"] == (1, 1)


def test_without_a_cell_below_the_limit_max_is_the_one_of_lowest_response_time_and_the_fact_is_kept() -> None:
    cells = [cell(32, 32, 900, 300), cell(2, 1, 500, 9), cell(1, 1, 450, 7), cell(1, 2, 400, 20)]
    points = choose_points(cells, Fraction(5))
    assert chosen(cells) == {"Max": (1, 1), "Mid": (1, 1), "Min": (1, 2)}
    assert not any(point.below_limit for point in points)


def test_of_two_cells_equally_near_the_middle_mid_is_the_one_that_answers_sooner() -> None:
    cells = [cell(8, 1, 1000, 2), cell(2, 4, 550, 3), cell(4, 2, 450, 2), cell(1, 1, 0.0, 1)]
    assert chosen(cells)["Mid"] == (4, 2)


def test_a_cell_without_a_completion_is_no_operating_point() -> None:
    assert chosen([cell(2, 1, 100, 1), cell(1, 1, 0, 0, completed=0)]) == {"Max": (2, 1), "Mid": (2, 1), "Min": (2, 1)}
    assert choose_points([cell(1, 1, 0, 0, completed=0)], Fraction(5)) == ()


def test_the_limit_of_the_max_point_can_be_set_and_is_then_a_deviation() -> None:
    planned = planned_demand(dirth={"art_limit_ms": 0.5})
    assert demand_settings(dirth={"art_limit_ms": 0.5}).art_limit_ms == 0.5
    assert planned.deviations == ("Max point below 0.5 ms on average instead of 5 ms",)


def test_a_plan_at_full_length_has_the_steps_of_the_specification() -> None:
    (test,) = planned_demand().tests
    settings = demand_settings()
    sequence = round_asked(settings, 1).steps
    assert (settings.test, settings.label) == ("dirth-oltp", "RND 8KiB 65/35")
    assert planned_demand().deviations == ()
    assert [step.stop.time_ns for step in sequence] == [60 * 10**9] * 54
    assert [step.pattern.read_share for step in sequence] == [0.0] * 5 + [0.65] * 49
    # 121 minutes, five rounds of 54 minutes and three times 70 minutes.
    assert test.earliest_ns == (121 + 270 + 210) * 60 * 10**9
    # Three captures of eleven minutes at 100,000 completions a second of 6 bytes.
    assert test.kept_bytes == 3 * 660 * 600_000
    assert test.latest_ns == (721 + 1350 + 210) * 60 * 10**9


def test_each_pattern_is_a_test_of_its_own_and_unknown_ones_are_refused() -> None:
    own = {"name": "mine", "access": "sequential", "block_kib": 64, "read_pct": 100}
    planned = planned_demand(dirth={"patterns": ["oltp", "video", "composite", own]})
    labels = {test.settings.test: test.outline.facts["pattern"] for test in planned.tests}
    assert labels == {
        "dirth-oltp": "RND 8KiB 65/35",
        "dirth-video": "RND 128KiB 90/10",
        "dirth-composite": "CBW 40/60",
        "dirth-mine": "SEQ 64KiB 100/0",
    }
    with pytest.raises(ValueRangeError, match="choose from oltp, video, rnd-4k-write"):
        planned_demand(dirth={"patterns": ["oltq"]})


def test_the_advanced_suite_runs_both_published_patterns_and_the_test_alone_the_first() -> None:
    edition = load_edition("pts-e-1.1")
    suite = load_plan(None, {"drive": "sim:x", "suite": "advanced"})
    names = [test.settings.test for test in plan_suite(edition, suite, demand_drive()).tests]
    assert names == ["hir", "xsr", "ecw", "dirth-oltp", "dirth-video"]
    assert [test.settings.test for test in planned_demand().tests] == ["dirth-oltp"]
    chosen = load_plan(None, {"drive": "sim:x", "suite": "advanced", "dirth": {"patterns": ["vod"]}})
    assert plan_suite(edition, chosen, demand_drive()).tests[-1].settings.test == "dirth-vod"


def test_two_patterns_of_one_name_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('schema = 1\ndrive = "sim:x"\n[dirth]\npatterns = ["oltp", "oltp"]\n')
    with pytest.raises(PlanError, match="two patterns have the same name"):
        load_plan(path, {})


def test_the_composite_workload_is_not_run_on_a_drive_with_large_blocks() -> None:
    plan = load_plan(None, {"drive": "sim:x", "edition": "pts-c-2.0", "tests": ["ecw", "dirth"]})
    planned = plan_suite(load_edition("pts-c-2.0"), plan, demand_drive(block=4096))
    assert [test.settings.test for test in planned.tests] == ["dirth-oltp"]
    (skipped,) = planned.skipped
    assert skipped.test == "cbw"
    assert "4096-byte logical block" in skipped.reason


def test_editions_without_these_tests_say_so() -> None:
    for name in ("pts-c-1.0", "pts-e-1.0"):
        assert load_edition(name).dirth is None
        assert load_edition(name).ecw is None
    assert [demand_settings("ecw", edition=name).name for name in ("pts-e-1.1", "pts-c-2.0")] == ["ECW", "CBW"]


def test_cells_are_averages_over_the_window_weighted_by_completions() -> None:
    settings = demand_settings(dirth={"thread_counts": [2, 1], "queue_depths": [1]})
    rates = [900, 100, 100, 110, 90, 100]
    rounds = [
        demand_round(index, settings, [demand_step(rate), demand_step(rate / 2, 2, 4)])
        for index, rate in enumerate(rates, 1)
    ]
    first, second = grid_cells(rounds, settings)
    assert (first.iops, first.latency_ms_mean) == (100, 1)
    assert second.iops == 50
    assert float(second.latency_ms_mean) == pytest.approx(0.65 * 2 + 0.35 * 4, rel=0.01)
    window = demand_window(rounds, settings)
    assert window is not None
    assert window.rounds == (2, 3, 4, 5, 6)
    assert demand_window(rounds[:4], settings) is None


def test_a_grid_of_ones_own_is_tracked_at_its_first_cell_and_said() -> None:
    planned = planned_demand(dirth={"thread_counts": [4, 1], "queue_depths": [8, 1]})
    settings = demand_settings(dirth={"thread_counts": [4, 1], "queue_depths": [8, 1]})
    assert settings.tracking == Demand(thread_count=4, queue_depth=8)
    assert planned.deviations == (
        "a custom grid of 4 demands instead of 49",
        "steady state tracked at TC 4 x QD 8",
    )


def test_points_run_at_the_demand_of_their_cell() -> None:
    settings = demand_settings(dirth={"thread_counts": [8, 1], "queue_depths": [4, 1]})
    cells = [demand_step(rate, art, art) for rate, art in ((900, 9), (800, 4), (400, 2), (100, 1))]
    rounds = [demand_round(index, settings, cells) for index in range(1, 6)]
    points = operating_points(rounds, settings)
    assert [(one.name, one.demand.thread_count, one.demand.queue_depth) for one in points] == [
        ("Max", 8, 1),
        ("Mid", 1, 4),
        ("Min", 1, 1),
    ]
    pre_writes, point = operating_point(settings, points[0], 1)
    assert (pre_writes.role, point.role, point.keeps_ios) == ("prepare", "measure", True)
    before, step = point.steps
    assert (before.demand, before.pattern.read_share) == (settings.demand, 0.0)
    assert (step.demand, step.label) == (points[0].demand, "MaxIOPS RND 8KiB 65/35 TC8-QD1")
    assert isinstance(points[0], OperatingPoint)


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ((2610, 2619, 2000), ["Max (2,610.0 IOPS) lies below Mid (2,619.0 IOPS)"]),
        ((2619, 2610, 2000), []),
        ((2000, 2610, 2300), ["Max (2,000.0 IOPS) lies below Mid", "Max (2,000.0 IOPS) lies below Min"]),
    ],
)
def test_points_that_change_places_when_measured_at_length_are_said_in_words(
    rates: tuple[int, ...], said: list[str]
) -> None:
    cells = [cell(2, 2, 2640, 2), cell(4, 1, 2616, 2), cell(1, 1, 2466, 1)]
    points = [
        PointRun(point=point, pre_write_iops=(), step=demand_step(rate), times=None, exact=None)
        for point, rate in zip(choose_points(cells, Fraction(5)), rates, strict=True)
    ]
    lines = out_of_order(points)
    assert [words in line for words, line in zip(said, lines, strict=True)] == [True] * len(said)


def test_cells_of_equal_total_oio_are_taken_together() -> None:
    cells = [cell(2, 1, 100, 20, 100), cell(1, 2, 100, 10, 100), cell(1, 1, 50, 5, 50)]
    assert by_total_oio(cells) == ((1, 50.0, 5.0), (2, 100.0, 15.0))


def direction(latencies: np.ndarray[tuple[int], np.dtype[np.int64]]) -> DirectionRecord:
    counted = Counter(latency_buckets(latencies).tolist())
    record = synthetic_direction(len(latencies), 4096)
    return DirectionRecord(
        window_io_count=record.window_io_count,
        window_bytes=record.window_bytes,
        tail_io_count=0,
        tail_bytes=0,
        latency_io_count=len(latencies),
        latency_ns_sum=int(latencies.sum()),
        latency_ns_min=int(latencies.min()),
        latency_ns_max=int(latencies.max()),
        errors={},
        histogram=tuple(sorted(counted.items())),
    )


def test_buckets_are_those_of_the_core() -> None:
    values = np.array([0, 1, 511, 1023, 1024, 1025, 1026, 1_500_000, (1 << 40) - 1, 1 << 40, 1 << 45], np.int64)
    assert latency_buckets(values).tolist() == [0, 1, 511, 1023, 1024, 1024, 1025, 6364, 16383, 16384, 16384]


def test_exact_percentiles_are_those_of_a_sort_and_lie_in_the_bucket_of_the_counted_ones() -> None:
    latencies = np.random.default_rng(7).lognormal(13, 1.2, 200_000).astype(np.int64)
    times = direction_times(direction(latencies))
    found = exact_times(np.array_split(latencies, 7), times, (0.5, 0.99, 0.9999, 0.99999))
    assert (found.io_count, found.agrees) == (200_000, True)
    ordered = np.sort(latencies)
    for share, rank in ((0.5, 100_000), (0.99, 198_000), (0.9999, 199_980)):
        exact = found.percentiles_ms[share]
        assert exact == ordered[rank - 1] / 10**6
        counted = times.percentile(share)
        assert counted is not None
        assert abs(counted - exact) <= 0.001 * exact
    assert found.percentiles_ms[0.99999] is None


def test_six_nines_of_ten_million_completions_are_given_and_agree_with_the_counts() -> None:
    block = np.random.default_rng(3).lognormal(12, 0.5, 100_000).astype(np.int64)
    last = np.concatenate([block, np.arange(10_000_000, 10_000_500)])
    blocks = [block] * 99 + [last]
    one = direction(block)
    counts = Counter({bucket: count * 99 for bucket, count in one.histogram})
    counts.update(dict(direction(last).histogram))
    times = direction_times(replace(one, histogram=tuple(sorted(counts.items())), latency_ns_max=int(last.max())))
    found = exact_times(blocks, times)
    exact, counted = found.percentiles_ms[0.999999], times.percentile(0.999999)
    assert found.agrees
    # Ten of ten million and five hundred lie beyond.
    assert exact == (10_000_500 - 1 - 10) / 10**6
    assert counted == pytest.approx(exact, rel=0.001)


def test_completions_that_are_not_those_counted_give_no_percentile() -> None:
    latencies = np.full(1000, 1_000_000, np.int64)
    times = direction_times(direction(latencies))
    changed = latencies.copy()
    changed[0] = 2_000_000
    for other in (changed, latencies[1:]):
        found = exact_times([other], times, (0.5,))
        assert not found.agrees
        assert found.percentiles_ms == {0.5: None}


def test_max_among_cells_of_about_the_same_iops_may_be_chance() -> None:
    def cell(rate: int, time: float) -> Any:
        return SimpleNamespace(iops=rate, latency_ms_mean=time)

    best = SimpleNamespace(point=SimpleNamespace(name="Max", iops=2_642.0, below_limit=True))
    result: Any = SimpleNamespace(points=[best], cells=[cell(2_642, 1.5), cell(2_616, 0.8), cell(2_640, 390.0)])
    settings: Any = SimpleNamespace(art_limit_ms=5.0)
    assert tuple(map(text, max_by_chance(settings, result))) == (
        "Max is one of 2 cells with ART < 5 ms within 1 % of the highest: which of them is the highest may be chance",
    )
    result.cells = result.cells[:1]
    assert max_by_chance(settings, result) == ()
