"""The pages of each test of a comparison: colours of drives, tails to the maximum, consistency and ratios of cells."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from assay.compare.comparison import compare_runs
from assay.report.comparison.figures import pages_per_test, parts_of, ratio_maps
from assay.report.drawing import Size, figure_svg
from assay.report.drawing.plane import coloured
from assay.results.consistency import consistency
from assay.summary.pages.model import Figure, Heat
from compared_runs import short_run, variant

if TYPE_CHECKING:
    from pathlib import Path

    from assay.compare.comparison import Comparison
    from assay.engine.records import StoredRun


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return short_run(tmp_path_factory.mktemp("tests") / "run", test="iops")


@pytest.fixture(scope="module")
def saturated(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return short_run(tmp_path_factory.mktemp("tests") / "run", test="wsat")


def figures(found: Comparison) -> list[Figure]:
    return [block for _, blocks in pages_per_test(found) for block in blocks if isinstance(block, Figure)]


def test_a_drive_has_its_colour_in_every_figure_also_where_one_before_it_is_missing(run: StoredRun) -> None:
    cut = variant(run, 2, tests=(replace(run.tests[0], ended="interrupted"),))
    found = compare_runs([variant(run, 1), cut, variant(run, 3)])
    tails = [one for one in figures(found) if "-tail-" in one.name]
    assert len(tails) == 2
    for one in tails:
        assert {series.label: series.colour for series in one.series if series.label} == {
            found.subjects[0].title: 0,
            found.subjects[2].title: 2,
        }
        assert one.ticks[-1].label == "max"


def test_reads_and_writes_of_4_kib_are_drawn_first_and_named(run: StoredRun) -> None:
    found = compare_runs([variant(run, 1), variant(run, 2)])
    assert list(parts_of(found, "iops-1")) == ["RND 4KiB 100/0", "RND 4KiB 0/100"]
    titles = [one.x_title for one in figures(found) if "-tail-" in one.name]
    assert titles == ["Percentile, RND 4KiB 100/0", "Percentile, RND 4KiB 0/100"]


def test_parts_of_a_write_saturation_pair_by_their_place(saturated: StoredRun) -> None:
    found = compare_runs([variant(saturated, 1), variant(saturated, 2)])
    assert [len(listed) for listed in parts_of(found, "wsat-1").values()] == [2, 2]


def test_fresh_stands_against_settled_or_the_last_sample(saturated: StoredRun) -> None:
    found = compare_runs([variant(saturated, 1), variant(saturated, 2, slower=0.5)])
    (bars,) = [one for one in figures(found) if one.kind == "bars"]
    assert [one.label for one in bars.series] == ["First sample", "Settled"]
    assert [one.x for one in bars.series] == [(0.0, 2.0), (1.0, 3.0)]
    assert bars.series[0].y[1] == pytest.approx(bars.series[0].y[0] / 2)


def test_columns_in_space_are_in_no_comparison(run: StoredRun) -> None:
    assert "columns" not in {one.kind for one in figures(compare_runs([variant(run, 1), variant(run, 2)]))}


def test_the_ratio_of_every_cell_is_a_map_per_further_drive(run: StoredRun) -> None:
    found = compare_runs([variant(run, 1), variant(run, 2, slower=0.5), variant(run, 3)])
    first, second = ratio_maps(found, "iops-1")
    assert first.heat is not None
    assert second.heat is not None
    assert first.heat.colour_title == "IOPS, B over A"
    assert {round(value, 6) for row in first.heat.rows for value in row if value} == {0.5}
    assert (first.heat.reach, second.heat.reach) == (pytest.approx(2), pytest.approx(2))
    assert {text for row in first.heat.texts for text in row} == {"0.5"}


def test_a_ratio_of_one_is_grey_and_both_sides_reach_equally_far() -> None:
    heat = Heat(
        x_edges=(0.0, 1.0, 2.0), y_edges=(0.0, 1.0), rows=((1.0, 4.0),), colour_title="B over A", texts=(("1", "4"),),
        reach=4.0,
    )  # fmt: skip
    drawn = figure_svg(
        Figure(name="h", kind="heat", alt="x", x_title="", y_title="", series=(), heat=heat),
        Size(width=620, height=340), paper=False,
    )  # fmt: skip
    assert re.findall(r'<path fill="(#\w+)"', drawn)[0] == "#f0f0f0"
    assert coloured(np.array([[1.0, 4.0]]))[0, 0].tolist() != [240, 240, 240, 255]


def test_seconds_are_even_by_their_variation_and_the_worst_of_them() -> None:
    found = consistency([90, 100, 100, 100, 110])
    assert found.variation == pytest.approx(math.sqrt(200 / 4) / 100)
    assert found.worst == 0.9
    assert consistency([1, 2, 3, 4]).variation is None
    assert consistency([0, 0, 0, 0, 0, 9]).worst is None


def test_recoveries_are_laid_over_one_another(tmp_path: Path) -> None:
    run = short_run(tmp_path / "xsr", test="xsr", edition="pts-e-2.0")
    found = compare_runs([variant(run, 1), variant(run, 2)])
    (overlaid,) = [one for one in figures(found) if one.name == "compare-xsr-1-throughput-overlaid"]
    assert [one.label for one in overlaid.series] == [one.title for one in found.subjects]
    assert all(list(one.x) == sorted(one.x) for one in overlaid.series)
