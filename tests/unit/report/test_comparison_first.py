"""The first page of a comparison: shares of the best, a sentence per drive, and states whose colours follow levels."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.compare.comparison import Options, compare_runs, remarks
from assay.compare.sides import share_of_best
from assay.compare.subject import named
from assay.report.comparison.figures import _least, dot_figures
from assay.report.comparison.pages import comparison_report
from assay.report.comparison.tables import drives_table, number_label, number_phrase, remark_sentence
from assay.report.drawing import Size, figure_svg
from assay.report.drawing.dots import spread_out
from assay.report.drawing.theme import text_width
from assay.report.formats.cells import table_cells
from assay.summary.pages.model import Dot, DotRow, Dots, Figure, Series
from assay.words.digits import brief
from compared_runs import short_run, variant

if TYPE_CHECKING:
    from assay.compare.comparison import Comparison
    from assay.engine.records import StoredRun

DESK = Size(width=620, height=340, beside=False, grows=True)
PHONE = Size(width=350, height=290, letters=12, beside=False, grows=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return short_run(tmp_path_factory.mktemp("first") / "run")


def sentences(found: Comparison) -> list[str]:
    return [remark_sentence(one, "LAT cut short") for one in remarks(found)]


def test_a_share_of_the_best_is_below_one_whatever_is_better(run: StoredRun) -> None:
    found = compare_runs([variant(run, 1), variant(run, 2, slower=0.2)])
    (mean,) = [one for one in found.ranked if number_label(one.name, "ms") == "Random write 4 KiB, mean (ms)"]
    assert (mean.name.better, mean.ranked[0].subject.letter) == ("lower", "A")
    worse = mean.sides[1]
    assert worse.share == pytest.approx(0.8)
    assert worse.times == pytest.approx(1.25)
    assert share_of_best(mean.name, 4.0, 1.0) == 0.25
    assert share_of_best(mean.name, 0.0, 1.0) is None


def test_an_interval_lies_around_its_share_and_the_best_has_none(run: StoredRun) -> None:
    found = compare_runs([variant(run, 1, noise=0.05), variant(run, 2, slower=0.5, noise=0.05)])
    best, other = next(one for one in found.ranked if one.name.name.endswith("mean_of_rounds")).sides
    assert (best.share_low, best.share_high) == (None, None)
    assert other.share is not None
    assert other.share_low is not None
    assert other.share_high is not None
    assert other.share_low < other.share < other.share_high
    assert math.log(other.share_high / other.share) == pytest.approx(math.log(other.share / other.share_low))


def test_a_drive_leads_trails_is_level_or_has_no_result(run: StoredRun) -> None:
    leads, trails = sentences(compare_runs([variant(run, 1), variant(run, 2, slower=0.5)]))
    assert leads.startswith("Best in 2 of 2: ")
    assert "(50 % of B)" in leads
    assert trails.startswith("Largest deficit to A: ")
    level = sentences(compare_runs([variant(run, 1), variant(run, 2, slower=0.05)]))
    assert level == ["Within 10 % of the best in all 2."] * 2
    cut = variant(run, 3, tests=(replace(run.tests[0], ended="interrupted"),))
    assert sentences(compare_runs([variant(run, 1), variant(run, 2), cut]))[2] == "No number counts: LAT cut short."


def test_a_number_is_named_by_its_accesses(run: StoredRun) -> None:
    found = compare_runs([variant(run, 1), variant(run, 2)])
    phrases = [number_phrase(one.name) for one in found.ranked]
    assert "mean of random 4 KiB reads" in phrases
    assert "max of random 4 KiB writes" in phrases


def test_states_are_one_word_with_a_level_that_the_colour_follows(run: StoredRun) -> None:
    cut = variant(run, 3, tests=(replace(run.tests[0], ended="interrupted"),))
    found = compare_runs([variant(run, 1), variant(run, 2), cut])
    table = drives_table(found, remarks(found))
    assert table.columns == ("Drive", "Compared", "LAT")
    assert (table.rows[2][2], table.levels[2]) == ("cut short", (2, 2, "bad"))
    assert table_cells(table)[2][2].look == "verdict bad"
    assert table.of_columns([0, 2]).levels[2] == (2, 1, "bad")
    other = variant(run, 4, edition={**run.edition, "name": "pts-e-1.0"})
    apart = compare_runs([variant(run, 1), variant(run, 2), other], Options(despite=True))
    row = drives_table(apart, remarks(apart)).rows[2]
    assert "apart: edition" in row[2]
    assert row[1] == "No number counts: other conditions."


def test_a_failed_test_has_the_same_word_with_and_without_its_numbers(run: StoredRun) -> None:
    cut = variant(run, 3, tests=(replace(run.tests[0], ended="interrupted"),))
    cut.numbers.clear()
    found = compare_runs([variant(run, 1), cut])
    assert {one.sides[1].state for one in found.numbers} == {"cut short"}


@pytest.mark.parametrize(
    ("model", "simulated", "title"),
    [
        ("Samsung SSD 870 EVO 500GB", False, "A Samsung SSD 870 EVO 1 GB"),
        ("WDC WDS480G2G0A-00JH30 long", False, "A WDC WDS480G2G0A-00J\N{HORIZONTAL ELLIPSIS} 1 GB"),
        ("Simulated client SSD of 2011", True, "A CLIENT-2011 1 GB"),
    ],
)
def test_names_are_short(run: StoredRun, model: str, simulated: bool, title: str) -> None:
    kind = "simulated" if simulated else "block"
    (subject,) = named([(variant(run, 1, identity={"model_number": model, "kind": kind}),)])
    assert subject.title == title


def test_numbers_of_narrow_columns_have_four_characters_at_most() -> None:
    values = [93_333, 9333, 999.9, 275.4, 27.54, 2.588, 0.0802, 0.004, 1.5e6, 12_345_678, 100, 3950, 99_950]
    printed = ["93k", "9.3k", "1k", "275", "27.5", "2.59", "0.08", "0", "1.5M", "12M", "100", "4k", "100k"]
    assert [*map(brief, values)] == printed


def test_a_drive_far_off_stands_at_the_border_of_the_axis() -> None:
    def rows(*shares: float) -> list[DotRow]:
        return [DotRow(label="x", dots=tuple(Dot(at=one, value=one) for one in shares))]

    assert _least(rows(1, 0.5, 0.003)) == pytest.approx(0.5 / 1.15)
    assert _least(rows(1, 0.5, 0.2)) == pytest.approx(0.2 / 1.15)
    assert _least(rows(1, 0.003)) == pytest.approx(0.003 / 1.15)
    assert _least(rows(1, 1)) == pytest.approx(0.8 / 1.15)


def test_texts_that_would_touch_move_aside_as_little_as_can_be() -> None:
    assert spread_out([50, 50], [10, 10], 2, (0, 100)) == [44, 56]
    assert spread_out([10, 50], [10, 10], 2, (0, 100)) == [10, 50]
    assert spread_out([99, 98], [10, 10], 2, (0, 100)) == [95, 83]
    assert spread_out([], [], 2, (0, 100)) == []


def many(count: int, shares: tuple[float, ...]) -> Figure:
    letters = "ABCDEF"[:count]
    dots = tuple(Dot(at=one, value=one * 93_300, best=one == 1, hollow=one < 0.5) for one in shares[:count])
    rows = tuple(
        DotRow(label=f"Sequential write 128 KiB, p99.{place} (µs)", dots=dots, order=" ".join(letters), behind="F 348x")
        for place in range(10)
    )
    series = tuple(
        Series(label=f"{letter} CLIENT-DRAMLESS 960 GB", x=(dots[place].at or 1.0,), y=(1.0,), colour=place)
        for place, letter in enumerate(letters)
    )
    return Figure(
        name="d", kind="dots", alt="Shares.", x_title="Share", y_title="", series=series, room="figure",
        dots=Dots(letters=tuple(letters), rows=rows, least=0.02),
    )  # fmt: skip


@pytest.mark.parametrize("size", [DESK, PHONE, Size(width=1000, height=1, letters=13, grows=True)])
@pytest.mark.parametrize("count", [2, 4, 6])
@pytest.mark.parametrize("shares", [(1, 0.99, 0.98, 0.97, 0.96, 0.003), (0.03, 1, 0.3, 0.1, 0.5, 0.2)])
def test_no_text_of_dots_is_cut_or_covers_another(size: Size, count: int, shares: tuple[float, ...]) -> None:
    drawn = figure_svg(many(count, shares), size, paper=False)
    root = ET.fromstring(drawn)  # noqa: S314 - made by us
    height = float((root.get("viewBox") or "").split()[3])
    boxes = []
    for one in root.iter("text"):
        wide, x = text_width(one.text or "", size.letters), float(one.get("x", "0"))
        left = x - {"end": wide, "middle": wide / 2}.get(one.get("text-anchor", ""), 0)
        boxes.append((left, left + wide, float(one.get("y", "0")), one.text))
    assert all(left >= -0.5 and right <= size.width + 0.5 and 0 < y <= height for left, right, y, _ in boxes), boxes
    for place, (left, right, y, words) in enumerate(boxes):
        for other_left, other_right, other_y, others in boxes[place + 1 :]:
            apart = right <= other_left + 0.5 or other_right <= left + 0.5 or abs(y - other_y) >= size.letters * 0.74
            assert apart, (words, others)


def test_all_values_of_six_drives_are_in_the_picture_of_a_phone() -> None:
    figure = many(6, (1, 0.99, 0.98, 0.97, 0.96, 0.003))
    shown = [one.text or "" for one in ET.fromstring(figure_svg(figure, PHONE, paper=False)).iter("text")]  # noqa: S314
    assert {"A 93k", "F 280", "F 333x"} <= set(shown)


def test_the_first_page_holds_the_dots_of_every_number_and_the_sentences(run: StoredRun) -> None:
    found = compare_runs([variant(run, number, slower=number / 10) for number in range(1, 7)])
    (figure,) = dot_figures(found)
    first = comparison_report(found).pages[0]
    assert figure in first.blocks
    assert [block.block for block in first.blocks] == ["table", "figure"]
    assert figure.dots is not None
    assert [len(row.dots) for row in figure.dots.rows] == [6] * 4
    assert figure.dots.rows[0].order == "A B C D E F"
    assert figure.dots.rows[0].behind == "F 2.2x"
