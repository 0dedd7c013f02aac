"""The sentences of the first page: their numbers are those of the tests, worked by hand here."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from assay.engine.records import Cell, Demand
from assay.procedures.grid.in_short import demand_in_short
from assay.procedures.loop.in_short import in_turn, loop_in_short
from assay.procedures.saturation.in_short import saturation_in_short
from assay.spec.units import KIB
from report_run import synthetic_test


def test_sixty_five_percent_of_reads_in_turn_are_the_weighted_harmonic_mean() -> None:
    assert in_turn(30_000, 3_000) == pytest.approx(7_228.9, abs=0.05)
    assert in_turn(500, 500) == pytest.approx(500)


def test_a_saturation_says_how_far_writes_fall_and_what_the_last_fill_changes() -> None:
    rates = [10_000.0] * 10 + [5_000.0] * 10 + [2_500.0] * 20
    fills = tuple(0.1 * (place + 1) for place in range(len(rates)))
    result: Any = SimpleNamespace(withheld=None, iops=tuple(rates), fills=fills)
    first, second = saturation_in_short("RND 4KiB 0/100", result)
    assert first.startswith("RND 4KiB 0/100: 10,000.0 IOPS fresh, 2,500.0 in the last sample, 25 % of it; below half")
    assert first.endswith(" of the first after 2.10 drive fills.")
    assert second == "Over the last drive fill IOPS changed by +0.0 %."
    withheld: Any = SimpleNamespace(withheld="an I/O error", iops=tuple(rates), fills=fills)
    assert list(saturation_in_short("RND 4KiB 0/100", withheld)) == []


def test_a_grid_names_the_fewest_outstanding_that_are_enough() -> None:
    def cell(threads: int, depth: int, rate: int, mean: float) -> SimpleNamespace:
        demand = Demand(thread_count=threads, queue_depth=depth)
        return SimpleNamespace(demand=demand, iops=Fraction(rate), latency_ms_mean=Fraction(mean))

    cells = (cell(32, 32, 2_690, 385.0), cell(2, 1, 2_634, 0.759), cell(1, 1, 2_434, 0.411), cell(4, 8, 2_701, 11.0))
    (said,) = demand_in_short(SimpleNamespace(label="OLTP"), SimpleNamespace(cells=cells))  # type: ignore[arg-type]
    assert "95 % of the most IOPS (2,701.0) are reached with 2 I/Os outstanding (" in said
    assert said.endswith(", 0.759 ms on average); 1,024 outstanding give 1.00 times the most, 385.000 ms on average.")


def test_a_loop_says_how_reads_writes_and_mixes_compare() -> None:
    matrix = {Cell(read_pct=share, transfer_bytes=4 * KIB): rate for share, rate in ((100, 30e3), (0, 3e3), (65, 9e3))}
    matrix |= {Cell(read_pct=100, transfer_bytes=8 * KIB): 20e3}
    said = list(loop_in_short(synthetic_test(), SimpleNamespace(matrix=matrix)))  # type: ignore[arg-type]
    assert said[0] == "RND 4KiB: reads give 10.0 times the IOPS of writes."
    assert said[1].startswith("65 % reads give 9,000.0 IOPS, 1.24 times as many as if reads and writes took as long")
    assert said[2] == "Reads reach 95 % of their most MB/s (163.8) from 8KiB on."
    assert len(said) == 3
