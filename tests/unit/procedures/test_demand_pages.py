"""The figures over a grid of demands: what lies on one stroke has a view of its own, points share one scale."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, cast
from unittest.mock import Mock

from assay.engine.records import Demand
from assay.procedures.families.grid.figures import demand_maps, intensity_figures, point_writes_figure
from assay.procedures.families.grid.record import mid_near_max
from assay.procedures.families.grid.result import DemandCell, OperatingPoint, PointName
from demand_run import demand_settings

if TYPE_CHECKING:
    from assay.procedures.families.grid.result import DemandResult, PointRun


def cell(threads: int, depth: int, rate: float, latency_ms: float) -> DemandCell:
    demand = Demand(thread_count=threads, queue_depth=depth)
    return DemandCell(
        demand=demand, iops=Fraction(rate), latency_ms_mean=Fraction(latency_ms), cpu_share=None, completed=1000
    )


CELLS = (cell(1, 1, 1000, 1), cell(1, 2, 1950, 1), cell(2, 1, 1980, 1), cell(2, 2, 2000, 2))


def point(name: str, rate: float, writes: tuple[float, ...] = ()) -> PointRun:
    chosen = OperatingPoint(
        name=cast("PointName", name),
        demand=Demand(thread_count=1, queue_depth=1),
        iops=rate,
        latency_ms_mean=1.0,
        below_limit=True,
    )
    return cast("PointRun", Mock(point=chosen, step=None, pre_write_iops=writes))


def result(*points: PointRun) -> DemandResult:
    return cast("DemandResult", Mock(cells=CELLS, points=points))


def test_cells_within_a_tenth_of_the_most_have_an_axis_of_their_own_beside_that_from_zero() -> None:
    whole, top = intensity_figures("x", result())
    assert [x for one in whole.series for x in one.x] == [1000, 1950, 1980, 2000]
    assert whole.x_range is not None
    assert whole.x_range[0] == 0
    assert [x for one in top.series for x in one.x] == [1950, 1980, 2000]
    assert {one.mode for one in top.series} == {"markers"}
    assert top.x_range is not None
    assert top.x_range[0] > 1800
    empty = cast("DemandResult", Mock(cells=(), points=()))
    assert intensity_figures("x", empty) == ()


def test_every_cell_of_the_grid_stands_with_its_numbers_in_a_map() -> None:
    rates, times = demand_maps("x", CELLS)
    assert rates.heat is not None
    assert times.heat is not None
    assert rates.heat.texts == (("1,000", "1,950"), ("1,980", "2,000"))
    assert times.heat.texts == (("1.00", "1.00"), ("1.00", "2.00"))


def test_pre_writes_of_all_points_stand_in_one_figure_as_they_ran() -> None:
    settings = demand_settings()
    runs = [point(name, 1.0, (5.0, 6.0)) for name in ("Max", "Mid", "Min")]
    figure = point_writes_figure("x", settings, result(*runs))
    assert figure is not None
    # An hour of pre-writes and ten minutes of measurement before the next.
    assert [one.x for one in figure.series] == [(1, 2), (71, 72), (141, 142)]


def test_that_mid_is_about_max_is_said_from_the_numbers_alone() -> None:
    settings = demand_settings()
    (said,) = mid_near_max(settings, [point("Max", 2642.0), point("Mid", 2616.0), point("Min", 2466.0)])
    assert said == (
        "in the grid within 5 % of Max (2,616.0 of 2,642.0 IOPS): no cell with ART < 5 ms is nearer to the middle, "
        "2,554.0"
    )
    assert mid_near_max(settings, [point("Max", 2642.0), point("Mid", 2500.0), point("Min", 2466.0)]) == ()
    assert mid_near_max(settings, []) == ()
