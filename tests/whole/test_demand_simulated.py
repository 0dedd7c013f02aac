"""Demand intensity and the composite workload on a simulated drive, scaled: phases, captures, pages, streams."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from assay.archive.rendering import render_run
from assay.engine.pattern import COMPOSITE_GROUPS, COMPOSITE_SIZES
from assay.procedures.families.grid.plan import DemandSettings
from assay.procedures.families.grid.result import demand_result, total_oio
from assay.report import build_report, records_of_tests
from assay.report.annex.disclosure import settings_entries
from assay.results.audit import sequence_audits
from assay.results.captured import POINT_SHARES
from assay.results.step import completed_count, effective_queue_depth, iops, issued_count, latency_count
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run
from assay.summary.pages.model import Box, Figure, Table
from result_rows import table_rows
from scipy.stats import chi2, chi2_contingency
from session_runs import copied_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.engine.records import StoredRun
    from numpy.typing import NDArray

DRIVE = "sim:client-2011?capacity=1GB"
PAGES_2_0 = [
    "Pre Conditioning IOPS Plot",
    "PC Steady State Check TC32-QD32",
    "Between Round Pre Writes",
    "DV IOPS, TC=32 (tracking), all QD",
    "Demand Variation Steady State Check TC32-QD32",
    "Demand Variation",
    "Demand Intensity",
    "IOPS and Average Response Time by Threads and Queue Depth",
    "Pre Writes of the Max, Mid, Min IOPS Points",
    "Max IOPS Response Time Histogram",
    "Mid IOPS Response Time Histogram",
    "Min IOPS Response Time Histogram",
    "IOPS v Total OIO",
    "ART v Total OIO",
]


def stored(folder: Path, **keys: Any) -> StoredRun:
    plan = load_plan(None, {"drive": DRIVE, "seed": 1, **keys})
    assert copied_run(plan, folder) in {0, 7}
    return read_run(folder, histograms=True)


@pytest.fixture(scope="module")
def intensity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StoredRun]:
    folder = tmp_path_factory.mktemp("dirth") / "run"
    return folder, stored(folder, edition="pts-e-2.0", tests=["dirth"], scale=0.02)


@pytest.fixture(scope="module")
def composite(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StoredRun]:
    folder = tmp_path_factory.mktemp("ecw") / "run"
    keys = {"thread_counts": [32, 1], "queue_depths": [32, 4], "round_limit": 5}
    run = stored(folder, edition="pts-e-1.1", tests=["ecw"], scale=0.004, ecw=keys, capture="addresses")
    return folder, run


def test_a_run_goes_from_preconditioning_over_rounds_to_three_points(intensity: tuple[Path, StoredRun]) -> None:
    (test,) = intensity[1].tests
    phases = [sequence.stage for sequence in test.sequences]
    assert list(dict.fromkeys(phases)) == ["sample", "round", "pre-write", "point"]
    assert phases[-6:] == ["pre-write", "point"] * 3
    result = demand_result(test)
    assert test.ended == "steady"
    assert result.window is not None
    assert [len(sequence.steps) for sequence in test.stage("pre-write")] == [59, 59, 59]
    assert {len(run.pre_write_iops) for run in result.points} == {60}
    assert [run.point.name for run in result.points] == ["Max", "Mid", "Min"]
    best, middle, least = (run.point.iops for run in result.points)
    assert best > middle > least
    assert best == max(float(cell.iops) for cell in result.cells if cell.latency_ms_mean < 5)
    audits = sequence_audits(test)
    assert all(audit.write_bytes[0] == audit.write_bytes[1] for audit in audits)


def test_recorded_starts_and_outstanding_ios_show_the_order_of_the_grid(intensity: tuple[Path, StoredRun]) -> None:
    (test,) = intensity[1].tests
    settings = test.settings_as(DemandSettings)
    for round_ in test.rounds:
        cells = round_.cells[settings.pre_write_samples :]
        assert [step.start_ns for step in cells] == sorted(step.start_ns for step in cells)
        # What was outstanding over each step, not what its label says.
        depths = [effective_queue_depth(step) for step in cells]
        asked = [total_oio(demand) for demand in settings.grid]
        # The last I/Os of the step before drain into a step of a second.
        assert depths == pytest.approx(asked, rel=0.06)
        assert all(later <= 1.06 * sooner for sooner, later in pairwise(depths))


def test_every_completion_of_a_point_is_kept_and_gives_the_percentiles_of_the_counts(
    intensity: tuple[Path, StoredRun],
) -> None:
    folder, run = intensity
    (test,) = run.tests
    traces = sorted(path.name for path in (folder / "traces").iterdir())
    assert traces == [f"dirth-oltp-point-{place:04}.parquet" for place in (1, 2, 3)]
    for place, point in enumerate(demand_result(test).points, 1):
        assert point.exact is not None
        assert point.times is not None
        assert point.step is not None
        assert point.exact.agrees
        assert point.exact.io_count == latency_count(point.step)
        kept = pq.read_table(folder / "traces" / f"dirth-oltp-point-{place:04}.parquet")
        rows = kept.filter(kept["step"].to_numpy() == 1)
        assert rows.num_rows == completed_count(point.step)
        assert sum(kind == 1 for kind in rows["operation"].to_pylist()) == issued_count(point.step.write)
        issued_ns = rows["at_ns"].to_numpy() - rows["latency_ns"].to_numpy()
        ordered = np.sort(rows["latency_ns"].to_numpy()[issued_ns >= point.step.start_ns])
        given = 0
        for share in POINT_SHARES:
            exact, counted = point.exact.percentiles_ms[share], point.times.percentile(share)
            assert (exact is None) == (counted is None)
            if exact is not None and counted is not None:
                given += 1
                assert exact == ordered[int(np.ceil(round(share * len(ordered), 6))) - 1] / 10**6
                assert abs(counted - exact) <= 0.001 * exact
        assert given >= 4


def test_the_report_has_every_page_in_order_and_tables_and_results(intensity: tuple[Path, StoredRun]) -> None:
    folder, run = intensity
    report = build_report(run)
    pages = [page.subtitle for page in report.pages if page.title.startswith("DIRTH Test - RND 8KiB 65/35")]
    assert [page.partition(", MRT=")[0] for page in pages] == PAGES_2_0
    assert all("MRT=" in page for page in pages if page.endswith("ms") or "Histogram" in page)
    files = {path.name for path in render_run(folder, ("csv", "json"))}
    assert {"dirth_oltp_grid.csv", "dirth_oltp_rounds.csv", "dirth_oltp_points.csv"} <= files
    assert {f"dirth_oltp_{name}_histogram.csv" for name in ("max", "mid", "min")} <= files
    (found,) = json.loads((folder / "report/results.json").read_text())["tests"]
    assert len(table_rows(found, "grid")) == 49
    assert [point["capture_agrees"] for point in table_rows(found, "points")] == [True] * 3
    assert found["settings"]["art_limit_ms"] == 5


def test_every_page_quotes_a_point_as_measured_at_length(intensity: tuple[Path, StoredRun]) -> None:
    _, run = intensity
    pages, points = build_report(run).pages, demand_result(run.tests[0]).points
    boxes = {block.title: dict(block.entries) for page in pages for block in page.all_blocks if isinstance(block, Box)}
    for one in points:
        box = boxes[f"{one.point.name}IOPS point"]
        assert one.step is not None
        assert box["IOPS"] == f"{float(iops(one.step)):,.1f}"
        (chosen,) = (text for name, text in boxes["Operating points"].items() if name.startswith(one.point.name))
        assert chosen.startswith(f"{box['IOPS']} IOPS, ART {box['ART (ms)']} ms")
    (summary,) = (
        block
        for block in pages[-1].all_blocks
        if isinstance(block, Table) and block.caption == "Select Performance Data"
    )
    quoted = [boxes[f"{one.point.name}IOPS point"][name] for one in points for name in ("IOPS", "ART (ms)")]
    assert quoted == [row[summary.columns.index("Measured")] for row in summary.rows]
    (figure,) = (block for page in pages for block in page.blocks if getattr(block, "name", "").endswith("-intensity"))
    # Max is drawn last, above the others.
    drawn = [one.x[0] for one in figure.series if one.mark]
    assert drawn == [float(iops(one.step)) for one in points[::-1] if one.step]


def test_a_histogram_marks_the_percentiles_of_its_box(intensity: tuple[Path, StoredRun]) -> None:
    pages = [page for page in build_report(intensity[1]).pages if "Response Time Histogram" in page.subtitle]
    for page in pages:
        box, figure = page.blocks
        assert isinstance(box, Box)
        assert isinstance(figure, Figure)
        printed = {f"{name.removesuffix('(ms)').strip()} {value} ms" for name, value in box.entries if "(ms)" in name}
        assert {series.label for series in figure.series if series.label} <= printed


def test_processor_time_that_nobody_can_know_is_said_without_a_page(intensity: tuple[Path, StoredRun]) -> None:
    assert not any("CPU" in page.subtitle for page in build_report(intensity[1]).pages)
    settings = dict(settings_entries(records_of_tests(intensity[1])[0]))
    known = settings["System CPU utilization"]
    assert known == "n/a: not known, as where a simulated drive runs in virtual time"


def test_without_its_trace_a_point_is_printed_from_the_counts(tmp_path: Path) -> None:
    keys = {"thread_counts": [4, 1], "queue_depths": [2, 1], "round_limit": 5, "art_limit_ms": 0.001}
    run = stored(tmp_path / "run", edition="pts-e-1.1", tests=["dirth"], scale=0.01, dirth=keys)
    result = demand_result(run.tests[0])
    assert not any(one.point.below_limit for one in result.points)
    lowest = min(result.cells, key=lambda cell: cell.latency_ms_mean)
    assert result.points[0].point.demand == lowest.demand
    banners = {page.banner for page in build_report(run).pages if page.title.startswith("Enterprise DIRTH")}
    assert any("NO CELL BELOW 0.001 ms ART" in str(banner) for banner in banners)
    for path in (tmp_path / "run/traces").iterdir():
        path.unlink()
    again = demand_result(read_run(tmp_path / "run", histograms=True).tests[0])
    assert [one.exact for one in again.points] == [None] * 3
    assert [one.point for one in again.points] == [one.point for one in result.points]
    assert render_run(tmp_path / "run", ("pdf",))


def test_a_run_that_was_cut_short_prints_no_number_whatever_it_had_reached(intensity: tuple[Path, StoredRun]) -> None:
    _, run = intensity
    (test,) = run.tests
    for count in range(0, len(test.sequences), 4):
        cut = replace(test, sequences=test.sequences[:count], verdict=None, ended="interrupted")
        result = demand_result(cut)
        assert (result.cells, result.points) == ((), ())
        report = build_report(replace(run, tests=(cut,)))
        assert all("INTERRUPTED" in str(page.banner) for page in report.pages if page.title.startswith("DIRTH"))


def chi_square(found: Sequence[int], shares: Sequence[float]) -> float:
    """The probability of deviations as large as these by chance."""
    expected = np.array(shares) * sum(found)
    return float(chi2.sf(float((((np.array(found) - expected) ** 2) / expected).sum()), len(found) - 1))


def recorded(folder: Path, run: StoredRun) -> dict[str, NDArray[Any]]:
    """Everything that the grids and points of a run issued, from the captured streams."""
    settings = run.tests[0].settings_as(DemandSettings)
    columns = ["operation", "step", "offset_bytes", "length_bytes"]
    parts = []
    for path in sorted((folder / "traces").iterdir()):
        table = pq.read_table(path, columns=columns)
        step = table["step"].to_numpy()
        first = {"round": settings.pre_write_samples, "point": 1}.get(path.name.split("-")[1], len(step))
        measured = step >= first
        parts.append(table.filter(measured))
    return {name: np.concatenate([part[name].to_numpy(zero_copy_only=False) for part in parts]) for name in columns}


def test_the_recorded_composite_stream_has_the_shares_of_sizes_groups_and_reads(
    composite: tuple[Path, StoredRun],
) -> None:
    folder, run = composite
    rows = recorded(folder, run)
    capacity = run.identity.capacity_bytes
    count = len(rows["operation"])
    assert count > 20_000
    sizes = Counter(rows["length_bytes"].tolist())
    assert set(sizes) == {size for size, _ in COMPOSITE_SIZES}
    assert chi_square([sizes[size] for size, _ in COMPOSITE_SIZES], [pct / 100 for _, pct in COMPOSITE_SIZES]) > 1e-4
    groups = np.digitize(rows["offset_bytes"] / capacity, [0.05, 0.20])
    assert chi_square(np.bincount(groups).tolist(), [share for share, _ in COMPOSITE_GROUPS]) > 1e-4
    writes = int(rows["operation"].sum())
    assert chi_square([count - writes, writes], [0.40, 0.60]) > 1e-4
    assert not np.any(rows["offset_bytes"] % 4096)


def test_sizes_places_and_directions_of_the_composite_stream_are_independent(composite: tuple[Path, StoredRun]) -> None:
    folder, run = composite
    rows = recorded(folder, run)
    groups = np.digitize(rows["offset_bytes"] / run.identity.capacity_bytes, [0.05, 0.20])
    for first, second in (
        (rows["length_bytes"], groups),
        (rows["length_bytes"], rows["operation"]),
        (groups, rows["operation"]),
    ):
        table = np.zeros((len(np.unique(first)), len(np.unique(second))))
        np.add.at(table, (np.unique(first, return_inverse=True)[1], np.unique(second, return_inverse=True)[1]), 1)
        assert chi2_contingency(table).pvalue > 1e-4


def test_the_composite_report_begins_with_its_sizes_and_probabilities(composite: tuple[Path, StoredRun]) -> None:
    _, run = composite
    report = build_report(run)
    pages = [page for page in report.pages if page.title.startswith("Enterprise ECW (OPTIONAL)")]
    assert pages[0].subtitle == "Access Pattern Block Sizes & Access Probabilities - 40:60 RW"
    assert pages[1].subtitle == "Pre Conditioning IOPS Plot"
    assert not any("Total OIO" in page.subtitle for page in pages)
