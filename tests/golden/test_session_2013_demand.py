"""Demand intensity and the composite workload on stored rounds and on simulated drives, against published figures.

Sources: SNIA PTS session 202-C, 14 August 2013, in ``session_2013.toml``; RND 8KiB 65/35 of its client drive, in
``published/client-2013_*.csv``; the Steady State Determination Data of MLC-A from "Understanding SSD Performance Using
the SNIA SSS PTS" (SSSI, 2012).

The session shows Demand Variation, Demand Intensity and the histograms as pictures: no cell of a grid, no operating
point, no percentile and no confidence level is printed, and none of them can be held to a figure of its own. Held are
the rules of the session on a curve constructed between two of its figures, 0.42 ms at one outstanding I/O and 11,968.9
IOPS at the demand of its IOPS test; the box; and, on simulated drives, what every such picture must show.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from assay.engine.records import Demand
from assay.procedures.families.grid.plan import DemandSettings
from assay.procedures.families.grid.result import by_total_oio, demand_result, total_oio
from assay.report import build_report
from assay.results.step import issued_bytes, issued_count
from assay.spec.units import SECOND_NS
from session_2013 import CLIENT, MLC_A_BOX, MLC_A_VALUES, SESSION, Rates, planned_tests, played, simulated

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StepSequence, StepSpec, StoredRun, StoredTest
    from assay.procedures.families.grid.result import DemandResult

FULL_IOPS = CLIENT["iops_8_65"]
FIRST_MS, LARGEST_MS = CLIENT["lat_8_65_average_ms"], CLIENT["lat_8_65_max_ms"]
LIMIT_MS = SESSION["dirth"]["art_limit_ms"]
TESTS = ("dirth", "ecw")


def curve(demand: Demand) -> Rates:
    """One I/O each 0.42 ms per outstanding I/O up to the published rate; 5 % more where each takes too long."""
    total = total_oio(demand)
    most = FULL_IOPS * (1.05 if total >= 64 else 1)
    rate = min(total / FIRST_MS * 1000, most)
    return Rates(rate, latency_ms_mean=total / rate * 1000, latency_ms_max=LARGEST_MS)


def stored(name: str, tracked: tuple[float, ...] = (12_000.0,) * 5) -> StoredTest:
    """The curve in every cell of every round but the tracking one, and ``tracked`` in that, round by round."""

    def answer(sequence: StepSequence, spec: StepSpec, number: int) -> Rates:
        if sequence.stage == "sample":
            return Rates(MLC_A_VALUES[number // 30] if number % 30 == 1 else 4000)
        if sequence.stage == "round" and spec.demand == Demand(**SESSION["dirth"]["tracking"]):
            return Rates(tracked[sequence.index - 1], latency_ms_mean=85)
        return curve(spec.demand)

    (planned,) = planned_tests(name)
    return played(planned, answer).test


@pytest.fixture(scope="module", params=TESTS)
def constructed(request: pytest.FixtureRequest) -> DemandResult:
    return demand_result(stored(request.param))


@pytest.fixture(scope="module", params=TESTS)
def ideal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StoredTest:
    """A drive without history: what its curves show is the demand's doing alone."""
    run = simulated(request.param, tmp_path_factory.mktemp("ideal"), 0.002, "sim:ideal?capacity=1GB")
    return run.tests[0]


@pytest.fixture(scope="module", params=TESTS)
def flash(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StoredRun]:
    folder = tmp_path_factory.mktemp("flash")
    return folder / "run", simulated(request.param, folder, 0.002)


@pytest.mark.parametrize("name", TESTS)
def test_the_published_box_comes_out_of_the_tracking_cell_and_of_the_preconditioning(name: str) -> None:
    result = demand_result(stored(name, MLC_A_VALUES))
    assert result.withheld is None
    for window in (result.window, result.precondition_window):
        assert window is not None
        assert window.reached
        assert window.rounds == (1, 2, 3, 4, 5)
        (verdict,) = window.verdicts.values()
        assert {field: f"{getattr(verdict, field):.1f}" for field in MLC_A_BOX} == MLC_A_BOX
        # One I/O more or less in each minute moves the slope by 0.6 x 1/120 at most.
        assert verdict.slope == pytest.approx(-54.407, abs=0.006)


def test_the_points_are_chosen_as_the_session_says(constructed: DemandResult) -> None:
    points = {run.point.name: run.point for run in constructed.points}
    best, middle, least = (points[name] for name in ("Max", "Mid", "Min"))
    # More IOPS are there, but not within 5 ms.
    assert max(float(cell.iops) for cell in constructed.cells) > FULL_IOPS
    assert best.iops == pytest.approx(FULL_IOPS, abs=1 / 60)
    assert best.latency_ms_mean < LIMIT_MS
    assert (least.demand.thread_count, least.demand.queue_depth) == (1, 1)
    assert least.iops == pytest.approx(1000 / FIRST_MS, abs=1 / 60)
    assert least.latency_ms_mean == pytest.approx(FIRST_MS, rel=1e-6)
    # Of 2,381, 4,762, 9,524 and 11,969 IOPS the third lies nearest to their middle, 7,175.
    assert total_oio(middle.demand) == 4
    assert least.iops < middle.iops < best.iops


def test_the_cells_keep_the_rates_and_times_of_the_curve(constructed: DemandResult) -> None:
    tracking = Demand(**SESSION["dirth"]["tracking"])
    assert len(constructed.cells) == 49
    for cell in constructed.cells:
        if cell.demand != tracking:
            asked = curve(cell.demand)
            assert float(cell.iops) == pytest.approx(asked.iops, abs=1 / 60)
            assert float(cell.latency_ms_mean) == pytest.approx(asked.latency_ms_mean, rel=1e-6)
    steps = [run.step for run in constructed.points if run.step]
    assert {step.read.latency_ns_max for step in steps} == {round(LARGEST_MS * 10**6)}
    assert {step.span_ns for step in steps} == {SESSION["dirth"]["capture_minutes"] * 60 * SECOND_NS}


def test_iops_never_fall_and_response_times_rise_with_demand(ideal: StoredTest) -> None:
    cells = demand_result(ideal).cells
    totals = by_total_oio(cells)
    assert [total for total, _, _ in totals] == sorted({total_oio(cell.demand) for cell in cells})
    # The end of a window cuts off one I/O more or less, in each of five rounds.
    cut = 5 / min(cell.completed for cell in cells)
    rates = [rate for _, rate, _ in totals]
    assert all(after >= before * (1 - cut) for before, after in pairwise(rates))
    assert rates[0] < 0.9 * rates[-1]
    times = [latency_ms_mean for _, _, latency_ms_mean in totals]
    assert all(before < after for before, after in pairwise(times))
    assert math.isclose(times[-1] / times[-2], 2, rel_tol=0.01)


def test_rates_times_response_times_are_the_outstanding_ios(ideal: StoredTest) -> None:
    for cell in demand_result(ideal).cells:
        assert float(cell.iops * cell.latency_ms_mean) / 1000 == pytest.approx(total_oio(cell.demand), rel=0.001)


def test_no_cell_within_the_limit_is_faster_than_max_and_none_at_all_slower_than_min(
    flash: tuple[Path, StoredRun],
) -> None:
    result = demand_result(flash[1].tests[0])
    best, middle, least = (run.point for run in result.points)
    within = [cell for cell in result.cells if cell.latency_ms_mean < LIMIT_MS]
    assert 0 < len(within) < len(result.cells)
    assert best.iops == max(float(cell.iops) for cell in within)
    assert least.iops == min(float(cell.iops) for cell in result.cells)
    assert least.iops < middle.iops < best.iops
    half = (best.iops + least.iops) / 2
    assert abs(middle.iops - half) == min(abs(float(cell.iops) - half) for cell in within)


def test_the_title_of_a_histogram_names_the_longest_of_its_completions(flash: tuple[Path, StoredRun]) -> None:
    folder, run = flash
    pages = [page.subtitle for page in build_report(run).pages if "Response Time Histogram, MRT=" in page.subtitle]
    result = demand_result(run.tests[0])
    assert len(pages) == len(result.points) == 3
    for place, (title, point) in enumerate(zip(pages, result.points, strict=True), 1):
        assert point.step is not None
        kept = pq.read_table(folder / "traces" / f"{run.tests[0].settings.test}-point-{place:04}.parquet")
        rows = kept.filter(kept["step"].to_numpy() == 1)
        latency_ns = rows["latency_ns"].to_numpy()
        inside = latency_ns[rows["at_ns"].to_numpy() - latency_ns >= point.step.start_ns]
        found = re.search(r"MRT=([0-9.]+) ms", title)
        assert found is not None
        assert title.startswith(f"{point.point.name} IOPS")
        assert found[1] == f"{inside.max() / 10**6:.3f}"


@pytest.mark.parametrize("ideal", ["ecw"], indirect=True)
def test_the_composite_accesses_have_the_printed_mean_size_and_share_of_reads(ideal: StoredTest) -> None:
    cells = [
        cell for round_ in ideal.rounds for cell in round_.cells[ideal.settings_as(DemandSettings).pre_write_samples :]
    ]
    reads, writes = (sum(issued_count(getattr(cell, side)) for cell in cells) for side in ("read", "write"))
    moved = sum(issued_bytes(cell.read) + issued_bytes(cell.write) for cell in cells)
    sizes, count = SESSION["ecw"]["sizes"], reads + writes
    mean = sum(size * pct for size, pct in sizes) / 100
    assert mean == 7818.24
    assert count > 2_500_000
    # Five standard deviations of a mean of so many independent draws: 34 bytes; one percent of the accesses at 8 KiB
    # in place of 4 KiB are 41.
    deviation = math.sqrt(sum((size - mean) ** 2 * pct for size, pct in sizes) / 100)
    assert moved / count == pytest.approx(mean, abs=5 * deviation / math.sqrt(count))
    share = SESSION["ecw"]["read_pct"] / 100
    assert reads / count == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / count))
