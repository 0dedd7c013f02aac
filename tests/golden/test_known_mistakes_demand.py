"""Mistakes that earlier tools made in demand intensity and the composite workload, each excluded by a test.

Sources: public code of earlier PTS tools: depth and threads swapped, a nested grid, steady state and response times of
the writes alone, a missing response time that let every cell pass, averages of averages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.procedures.families.grid import run as demand
from assay.procedures.families.grid.result import demand_window, grid_cells, operating_points
from assay.spec.units import KIB
from demand_run import demand_round, demand_settings, demand_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Round, StepRecord
    from assay.procedures.families.grid.plan import DemandSettings


def small() -> DemandSettings:
    return demand_settings(dirth={"thread_counts": [32, 1], "queue_depths": [2, 1]})


def rounds(settings: DemandSettings, tracked: Sequence[StepRecord]) -> list[Round]:
    rest = [demand_step(100)] * (len(settings.grid) - 1)
    return [demand_round(index, settings, [step, *rest]) for index, step in enumerate(tracked, 1)]


def test_threads_are_threads_and_depth_is_depth() -> None:
    settings = small()
    cells = demand.demand_round(settings, 1).steps[settings.pre_write_samples :]
    named = {step.label.rpartition(" ")[2]: (step.demand.thread_count, step.demand.queue_depth) for step in cells}
    assert named == {"TC32-QD2": (32, 2), "TC32-QD1": (32, 1), "TC1-QD2": (1, 2), "TC1-QD1": (1, 1)}


def test_the_grid_is_not_nested_but_in_order_of_total_oio() -> None:
    order = [(one.thread_count, one.queue_depth) for one in demand_settings().grid]
    nested = [(threads, depth) for threads in (32, 16, 8, 6, 4, 2, 1) for depth in (32, 16, 8, 6, 4, 2, 1)]
    assert order != nested
    assert order[:5] == [(32, 32), (32, 16), (16, 32), (32, 8), (16, 16)]
    assert order[-3:] == [(2, 1), (1, 2), (1, 1)]


def test_drifting_reads_are_not_steady_although_the_writes_are() -> None:
    settings = small()
    # 1,000 writes in every round, and 100, 300, 500, 700, 900 reads.
    found = rounds(
        settings, [demand_step(1000 + reads, read_share=reads / (1000 + reads)) for reads in range(100, 1000, 200)]
    )
    verdict = demand_window(found, settings)
    assert verdict is not None
    assert not verdict.reached
    (judged,) = verdict.verdicts.values()
    assert judged.values == (1100, 1300, 1500, 1700, 1900)


def test_slow_reads_keep_a_cell_above_the_limit_although_its_writes_are_quick() -> None:
    settings = small()
    quick_writes = demand_step(1000, read_ms=9.0, write_ms=0.1)
    (best, *_) = operating_points(rounds(settings, [quick_writes] * 5), settings)
    assert best.demand != settings.tracking
    (cell, *_) = grid_cells(rounds(settings, [quick_writes] * 5), settings)
    assert float(cell.latency_ms_mean) == pytest.approx(0.65 * 9 + 0.35 * 0.1)
    assert float(cell.latency_ms_mean) != pytest.approx((9 + 0.1) / 2)


def test_the_iops_of_an_operating_point_are_reads_and_writes_together() -> None:
    settings = small()
    (best, *_) = operating_points(rounds(settings, [demand_step(1000)] * 5), settings)
    assert best.iops == 1000


def test_a_cell_without_response_times_does_not_pass_the_limit() -> None:
    settings = small()
    points = operating_points(rounds(settings, [demand_step(0)] * 5), settings)
    assert settings.tracking not in {point.demand for point in points}


def test_the_composite_workload_reads_40_percent_and_keeps_its_sizes_and_groups() -> None:
    settings = demand_settings("ecw")
    assert settings.label == "ECW 40/60"
    assert settings.pattern.read_share == pytest.approx(0.4)
    assert sum(share for _, share in settings.pattern.sizes) == pytest.approx(1)
    mean = sum(size * share for size, share in settings.pattern.sizes)
    assert mean == pytest.approx(7818.24)
    assert settings.pattern.lba_groups == ((0.50, 0.05), (0.30, 0.15), (0.20, 0.80))
    assert settings.pattern.alignment_bytes == 4 * KIB
    sequence = demand.demand_round(settings, 1).steps
    assert [step.pattern.read_share for step in sequence] == [0.0] * 5 + [0.4] * 49
