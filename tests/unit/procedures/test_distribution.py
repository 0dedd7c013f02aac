"""Percentiles of cells, samples and stages, their curves and maps, held against the response times themselves."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from assay.engine.records import HistogramTable, HostRecord, SeriesTable, StepRecord, StoredTest
from assay.procedures.families.loop.figures import thinned
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import loop_result, measurement_window
from assay.procedures.families.loop.tables import drawn_cells, loop_distribution, loop_tables
from assay.procedures.families.saturation.record import phases, saturation_distribution
from assay.procedures.families.saturation.result import saturation_result
from assay.report import build_report, render
from assay.report.formats.pdf import figure_svg
from assay.results.histogram import ResponseTimes, bucket_of, merged
from assay.summary.measures import SHARES
from assay.summary.pages.figures import COLUMNS_MAX, ROWS_MAX, spread_heat, tail_figure, time_heat
from assay.summary.pages.histograms import confidence_figure, part, percentile_table, screen_blocks
from assay.summary.pages.model import Text
from report_run import TRACKED, balanced, synthetic_run, synthetic_test
from result_rows import table_rows
from saturation_run import saturation_test

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

CAPACITY = 256 * 10**9
LATENCIES_NS: dict[int, NDArray[np.int64]] = {
    index: np.random.default_rng(index).lognormal(13, 1.5, 3_000).astype(np.int64) for index in range(1, 6)
}
"""Of each round of the tracked cell: what its histograms are made of."""


MEAN_NS = 2_500_000
"""Of every synthetic step."""


def buckets(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The core's rule: exact below 1,024 ns, then 512 buckets to an octave."""
    octave = np.maximum(np.floor(np.log2(np.maximum(values, 1))).astype(np.int64) - 9, 0)
    return (octave * 512 + (values >> octave)).astype(np.uint64)


def table(values: NDArray[np.int64], step: int) -> HistogramTable:
    found, counts = np.unique(buckets(values), return_counts=True)
    size = len(found)
    return HistogramTable(
        step=np.full(size, step, np.uint32),
        direction=np.ones(size, np.int64),
        bucket=found,
        count=counts.astype(np.uint64),
    )


def counted(values: NDArray[np.int64]) -> ResponseTimes:
    one = table(values, 0)
    return ResponseTimes(one.bucket, one.count)


def with_times(record: StepRecord, values: NDArray[np.int64]) -> StepRecord:
    write = replace(
        record.write,
        window_io_count=len(values),
        window_bytes=4096 * len(values),
        latency_io_count=len(values),
        latency_ns_sum=int(values.sum()),
        latency_ns_min=int(values.min()),
        latency_ns_max=int(values.max()),
    )
    return balanced(replace(record, write=write))


def flat(record: StepRecord) -> StepRecord:
    """The same step with every response time at its mean, so that a single bucket holds them."""
    sides = [
        replace(side, latency_ns_min=MEAN_NS, latency_ns_max=MEAN_NS) if side.latency_io_count else side
        for side in (record.read, record.write)
    ]
    return replace(record, read=sides[0], write=sides[1])


def whole_table(steps: Sequence[StepRecord], values: NDArray[np.int64], place: int) -> HistogramTable:
    """The histograms of every step of a round: that of the tracked cell from its values, the others of one bucket."""
    tracked = table(values, place)
    rows = [
        (at, direction, bucket_of(MEAN_NS), side.latency_io_count)
        for at, step in enumerate(steps)
        if at != place
        for direction, side in enumerate((step.read, step.write))
        if side.latency_io_count
    ]
    step, direction, bucket, count = np.array(rows, np.int64).T
    return HistogramTable(
        step=np.concatenate([tracked.step, step.astype(np.uint32)]),
        direction=np.concatenate([tracked.direction, direction]).astype(np.int8),
        bucket=np.concatenate([tracked.bucket, bucket]).astype(np.uint32),
        count=np.concatenate([tracked.count, count.astype(np.uint64)]),
    )


def loop_test() -> StoredTest:
    """A stored test whose tracked cell has histograms and seconds in every round."""
    test = synthetic_test()
    place = test.settings_as(LoopSettings).cells.index(TRACKED)
    sequences = []
    for one in test.sequences:
        if one.stage == "round":
            values = LATENCIES_NS[one.index]
            steps = tuple(with_times(step, values) if at == place else flat(step) for at, step in enumerate(one.steps))
            seconds = np.arange(100, dtype=np.uint64)
            series = SeriesTable(step=np.full(100, place, np.uint64), io_count=seconds + 1, second=seconds)
            sequences.append(replace(one, steps=steps, histograms=whole_table(steps, values, place), series=series))
        else:
            sequences.append(one)
    changed = replace(test, sequences=tuple(sequences))
    return replace(changed, verdict=measurement_window(changed.rounds, changed.settings_as(LoopSettings)))


def test_percentiles_of_a_cell_are_those_of_all_its_response_times_in_the_window() -> None:
    test = loop_test()
    found = loop_distribution(test, loop_result(test), "iops-1")
    (one,) = (one for one in found.parts if one.key == (4, 0))
    values = np.sort(np.concatenate(list(LATENCIES_NS.values())))
    assert one.times.io_count == one.io_count == len(values) == 15_000
    for share in SHARES[:5]:
        expected = values[int(np.ceil(len(values) * share)) - 1] / 1e6
        assert one.times.percentile(share) == pytest.approx(expected, rel=1e-3), share
    assert one.latency_ms_mean == float(values.sum()) / len(values) / 1e6
    assert one.latency_ms_max == values[-1] / 1e6


def test_a_percentile_with_fewer_than_ten_ios_beyond_is_printed_n_a() -> None:
    test = loop_test()
    found = loop_distribution(test, loop_result(test), "iops-1")
    row = next(row for row in percentile_table(found, found.parts).rows if row[0] == "RND 4KiB 0/100")
    # 15 of 15,000 are beyond 99.9 %, one or two beyond 99.99 %.
    assert row[7] != "n/a"
    assert row[8:10] == ("n/a", "n/a")
    assert "n/a" not in (row[2], row[10])


def test_the_tracked_cell_is_drawn_first_and_others_by_the_stated_rule() -> None:
    settings = synthetic_test().settings_as(LoopSettings)
    cells = drawn_cells(settings)
    assert cells[0] == TRACKED
    assert {(cell.transfer_bytes, cell.read_pct) for cell in cells} == {
        (size, mix) for size in (4096, 8192) for mix in (100, 65, 0)
    }
    large = replace(settings, sizes_bytes=(1 << 17, 1 << 20))
    assert drawn_cells(large) == large.cells[:8]


def test_each_round_of_a_table_says_what_the_host_did() -> None:
    run = synthetic_run(loop_test())
    quiet = HostRecord(span_ns=60 * 10**9, late_ns_p999=0, late_ns_max=0, stalled_ns=0, gauge_cpu_ns=0, cpu_count=4)
    (test,) = run.tests
    sequences = tuple(
        replace(one, host=replace(quiet, late_ns_max=12 * 10**6) if one.index == 2 else quiet) for one in test.sequences
    )
    test = replace(test, sequences=sequences)
    (table,) = (one for one in loop_tables(run, test, loop_result(test), "") if one.key == "iops_rounds")
    found = {row[0]: row[-2:] for row in table.rows}
    assert [column.key for column in table.columns[-2:]] == ["host", "host_reason"]
    assert found[2] == ("warn", "the host stalled for 12 ms")
    assert {told for number, told in found.items() if number != 2} == {("pass", None)}


def test_every_format_has_the_percentiles_and_two_renders_are_equal(tmp_path: Path) -> None:
    run = synthetic_run(loop_test())
    first, second = (
        {path.name: path.read_bytes() for path in render(run, tmp_path / name, formats=("csv", "json", "html", "pdf"))}
        for name in ("a", "b")
    )
    assert first == second
    (row,) = (
        row
        for row in csv.DictReader(first["iops_percentiles.csv"].decode().splitlines())
        if (row["block_kib"], row["read_pct"]) == ("4", "0")
    )
    (told,) = (
        one
        for one in table_rows(json.loads(first["results.json"])["tests"][0], "percentiles")
        if (one["block_kib"], one["read_pct"]) == (4, 0)
    )
    assert float(row["latency_ms_p99"]) == told["latency_ms_p99"]
    assert (row["latency_ms_p99.999"], told["latency_ms_p99.999"]) == ("n/a", None)
    html = first["report.html"].decode()
    assert "IOPS: response times over rounds 1-5 (ms)" in html
    names = [figure.name for figure in build_report(run).screen_figures]
    wanted = {f"iops-1-{name}" for name in ("tail", "map-iops", "map-mb", "map-mean", "seconds")}
    assert wanted <= set(names)
    assert all(f'data-name="{name}"' in html for name in wanted)


def test_a_withheld_run_shows_none(tmp_path: Path) -> None:
    test = loop_test()
    broken = test.sequences[-1].steps[0]
    errors = replace(broken, write=replace(broken.write, errors={5: 1}))
    last = replace(test.sequences[-1], steps=(errors, *test.sequences[-1].steps[1:]))
    run = synthetic_run(replace(test, sequences=(*test.sequences[:-1], last), verdict=None))
    found = loop_distribution(run.tests[0], loop_result(run.tests[0]), "iops-1")
    assert found.parts == found.maps == found.curves == ()
    assert [type(block) for block in screen_blocks(found)] == [Text]
    files = {path.name: path.read_bytes() for path in render(run, tmp_path, formats=("csv", "json"))}
    assert len(files["iops_percentiles.csv"].splitlines()) == 1
    assert table_rows(json.loads(files["results.json"])["tests"][0], "percentiles") == []
    report = build_report(run)
    assert [page for page in report.disclosure if page.title == "Response Times"] == []
    assert not any("-map-" in figure.name or "-tail" in figure.name for figure in report.screen_figures)


def test_every_curve_of_a_tail_ends_at_its_maximum_in_one_place() -> None:
    quiet = replace(counted(np.array([120_000] * 99_999 + [443_000_000])), latency_ms_max=443.0)
    few = replace(counted(np.array([100_000] * 30 + [2_000_000])), latency_ms_max=2.0)
    figure = tail_figure("tail", [("quiet", quiet), ("few", few)])
    assert figure is not None
    lines = [one for one in figure.series if one.label]
    # p99.99 is the last percentile with ten I/Os beyond it; the maximum stands one nine behind.
    assert [(one.x[-1], one.y[-1]) for one in lines] == [(5.0, 443.0), (5.0, 2.0)]
    assert lines[0].x[-2] == pytest.approx(4.0)
    assert lines[0].y[-2] == pytest.approx(0.12, rel=0.01)
    assert [tick.label for tick in figure.ticks] == ["p50", "p90", "p99", "p99.9", "p99.99", "max"]
    assert lines[1].x[-2] == pytest.approx(-math.log10(10 / 31), abs=1e-6)
    assert tail_figure("tail", [("nothing", merged([]))]) is None


def test_the_average_is_a_point_of_the_curve_of_confidence() -> None:
    times = counted(np.array([100_000] * 900 + [4_000_000] * 100))
    mean = (0.1 * 900 + 4 * 100) / 1000
    figure = confidence_figure("confidence", times, mean)
    assert figure is not None
    curve, average = figure.series[:2]
    assert average.x == (mean,)
    below = max(place for place, x in enumerate(curve.x) if x <= mean)
    assert curve.y[below] <= average.y[0] <= curve.y[below + 1]
    # Where all I/Os take the same time the curve goes straight up, and the average stands on it.
    alike = confidence_figure("confidence", counted(np.array([100_000] * 1000)), 0.1)
    assert alike is not None
    assert alike.series[1].y[0] >= alike.series[0].y[0]


def test_without_histograms_mean_and_maximum_remain() -> None:
    test = synthetic_test()
    found = loop_distribution(test, loop_result(test), "iops-1")
    assert {one.times.io_count for one in found.parts} == {0}
    assert {row[9] for row in percentile_table(found, found.parts).rows} == {"n/a"}
    assert {row[10] for row in percentile_table(found, found.parts).rows} == {"41.000"}


@pytest.mark.parametrize("count", [2, 149, 150, 151, 1440])
def test_the_counts_of_a_heat_map_are_all_completions_and_its_ends_their_fastest_and_slowest(count: int) -> None:
    generator = np.random.default_rng(count)
    parts = [generator.lognormal(12, 1, 20).astype(np.int64) for _ in range(count)]
    parts[count // 2][0] = 2_500_000_000
    figure = time_heat("heat", [float(minute + 1) for minute in range(count)], [counted(one) for one in parts])
    assert figure is not None
    assert figure.heat is not None
    heat = figure.heat
    assert sum(value or 0 for row in heat.rows for value in row) == 20 * count
    assert len(heat.x_edges) - 1 == len(heat.rows[0]) <= COLUMNS_MAX
    assert len(heat.y_edges) - 1 == len(heat.rows) <= ROWS_MAX
    # Less than three minutes are drawn in seconds.
    assert heat.x_edges[-1] == (count if count > 2 else 60 * count)
    values = np.concatenate(parts) / 1e6
    assert heat.y_edges[0] <= values.min() * 1.001
    assert heat.y_edges[-2] <= 2_500 * 1.001
    assert heat.y_edges[-1] >= 2_500 * 0.999
    assert any(heat.rows[-1])


def test_a_heat_map_of_very_different_times_has_coarser_rows_and_still_every_count() -> None:
    times = [counted(np.array([100, 10**11])), counted(np.array([100, 5_000]))]
    figure = time_heat("heat", [1.0, 2.0], times)
    assert figure is not None
    assert figure.heat is not None
    assert len(figure.heat.rows) <= ROWS_MAX
    assert sum(value or 0 for row in figure.heat.rows for value in row) == 4
    assert figure_svg(figure) == figure_svg(figure)


def test_a_row_of_the_spread_is_the_share_of_its_own_ios_and_the_first_part_is_on_top() -> None:
    fast, slow = counted(np.array([120_000] * 999 + [5_000_000])), counted(np.array([5_000_000] * 3))
    figure = spread_heat("spread", ["fast", "nothing", "slow"], [fast, merged([]), slow])
    assert figure is not None
    assert figure.heat is not None
    assert [one.label for one in figure.y_ticks] == ["slow", "fast"]
    below, top = figure.heat.rows
    assert [value for value in top if value] == pytest.approx([99.9, 0.1])
    assert [value for value in below if value] == [100.0]
    place = top.index(next(value for value in top if value))
    assert figure.heat.x_edges[place] <= 0.12 <= figure.heat.x_edges[place + 1]
    assert spread_heat("spread", ["nothing"], [merged([])]) is None


def test_no_heat_map_is_made_of_one_sample_or_without_histograms() -> None:
    assert time_heat("heat", [1.0], [counted(np.array([1000]))]) is None
    assert time_heat("heat", [1.0, 2.0], []) is None
    assert time_heat("heat", [1.0, 2.0], [merged([]), merged([])]) is None


def test_phases_of_a_settled_saturation_are_the_samples_of_its_verdict() -> None:
    test = saturation_test([3000.0] * 160)
    result = saturation_result(test, CAPACITY)
    found = {key: places for key, _, places in phases(result, test.settings)}  # type: ignore[arg-type]
    assert found["first"] == (0,)
    assert found["window"] == (30, 61, 92, 123, 154)
    assert found["last"] == (159,)
    spread = saturation_distribution(test, result, "wsat-1")
    assert [one.key for one in spread.parts][:2] == [("first", 1, 1), ("window", 31, 155)]
    assert spread.parts[1].io_count == 5 * 3000 * 60


def test_a_saturation_that_never_settled_has_no_window() -> None:
    test = saturation_test([9000.0, 5000.0, 3000.0])
    spread = saturation_distribution(test, saturation_result(test, CAPACITY), "wsat-1")
    assert [one.key[0] for one in spread.parts] == ["first", "last"]


def test_the_least_and_the_greatest_of_each_few_seconds_are_kept() -> None:
    assert thinned([5, 9, 1, 7], 4) == ((2.0, 3.0), (9.0, 1.0))
    assert thinned([5, 9, 1], 1) == ((1.0, 2.0, 3.0), (5.0, 9.0, 1.0))
    counts = np.random.default_rng(3).integers(0, 1000, 3001).tolist()
    places, values = thinned(counts, 11)
    assert len(places) <= 2 * 273
    assert (min(values), max(values)) == (min(counts), max(counts))


def test_the_seconds_of_the_tracked_cell_follow_each_other_over_the_rounds() -> None:
    test = loop_test()
    found = loop_distribution(test, loop_result(test), "iops-1")
    (figure,) = (figure for _, figure in found.maps if figure.name.endswith("seconds"))
    assert figure.series[0].y[:100] == tuple(float(count) for count in range(1, 101))
    assert len(figure.series[0].x) == 500


def test_means_are_of_ios_and_never_of_means() -> None:
    test = loop_test()
    steps = [one.steps[0] for one in test.stage("round")][:2]
    few = with_times(steps[0], np.array([1_000_000] * 9))
    many = with_times(steps[1], np.array([2_000_000]))
    clean = [replace(one, read=replace(one.read, latency_io_count=0, latency_ns_sum=0)) for one in (few, many)]
    assert part((), "both", clean, []).latency_ms_mean == 1.1
