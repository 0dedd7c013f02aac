"""Figures as SVG: where values stand, which labels fit, and that every curve differs from every other."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace

import pytest
from assay.report.drawing import Size, figure_svg, screen_rules
from assay.report.drawing.frame import Axis, number_ticks, spaced, widened, wrapped
from assay.report.drawing.plane import dash_of, thinned
from assay.report.drawing.theme import DARK, LIGHT, length, text_width
from assay.summary.pages.model import Change, Figure, Heat, Series, Tick

DESK, PHONE = Size(width=620, height=340), Size(width=350, height=290, letters=11, beside=False, grows=True)


def figure(*series: Series, **facts: object) -> Figure:
    known = {"name": "f", "kind": "lines", "alt": "What it shows.", "x_title": "Round", "y_title": "IOPS"}
    return Figure(series=series, **{**known, **facts})  # type: ignore[arg-type]


def line(place: int, *heights: float, **facts: object) -> Series:
    known: dict[str, object] = {"label": f"line {place}", "x": tuple(map(float, range(1, len(heights) + 1)))}
    return Series(y=heights, colour=place, **{**known, **facts})  # type: ignore[arg-type]


def texts(svg: str) -> dict[str, tuple[float, float]]:
    """The texts of a picture with where they stand."""
    root = ET.fromstring(svg)  # noqa: S314 - made by us
    found = (one for one in root.iter() if one.tag.endswith("text"))
    return {one.text or "": (float(one.get("x", "0")), float(one.get("y", "0"))) for one in found}


def test_a_text_is_as_wide_as_its_letters() -> None:
    assert text_width("1,234", 10) == pytest.approx(4 * 6.0 + 2.72)
    assert text_width("\N{ROCKET}", 10) == 6


def test_lengths_keep_a_tenth() -> None:
    assert [*map(length, (12.04, 0.27, -0.01, 3.96, -2.5))] == ["12", "0.3", "0", "4", "-2.5"]


def test_values_stand_where_their_axis_says() -> None:
    assert Axis(low=1, high=100, log=True, start=0, end=200).at(10) == pytest.approx(100)
    assert Axis(low=0, high=50, log=False, start=100, end=0).at(10) == pytest.approx(80)
    drawn = figure_svg(figure(line(0, 100.0, 50.0), x_range=(1.0, 2.0)), DESK, paper=False)
    left, top, right, bottom = map(float, re.findall(r'data-box="([^"]*)"', drawn)[0].split())
    (points,) = re.findall(r'class="l" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', drawn)
    first, high, last, low = map(float, points)
    assert (first, last) == (left, right)
    # The axis up goes from 0 to 106: 6 % above the largest value.
    assert (bottom - high) / (bottom - top) == pytest.approx(100 / 106, abs=1e-3)
    assert (bottom - low) / (bottom - top) == pytest.approx(50 / 106, abs=1e-3)


def test_round_numbers_have_the_same_decimals() -> None:
    def labels(low: float, high: float, most: int) -> list[str]:
        return [tick.label for tick in number_ticks(Axis(low=low, high=high, log=False, start=0, end=1), most)]

    assert labels(0, 530, 6) == ["0", "100", "200", "300", "400", "500"]
    assert labels(0, 1.2, 6) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"][:7]
    assert labels(0, 1_300_000, 4) == ["0", "500,000", "1,000,000"]
    assert labels(-3, 3, 3) == ["-2", "0", "2"]
    assert labels(5, 5, 3) == ["5"]
    assert widened([5.0], log=False) == (4.5, 5.5)


def test_labels_that_would_touch_are_left_out_and_the_ends_stay() -> None:
    axis = Axis(low=0, high=100, log=False, start=0, end=100)
    ticks = [Tick(at=float(at), label=f"{at}") for at in range(0, 101, 20)]
    assert [tick.label for tick in spaced(ticks, axis, lambda _: 30.0, 5.0)] == ["0", "40", "100"]


def test_words_break_where_they_do_not_fit() -> None:
    assert wrapped("Response time (ms)", 60, 10) == ["Response", "time (ms)"]
    assert wrapped("", 80, 10) == []


def test_no_two_curves_of_a_figure_look_alike() -> None:
    plain = tuple(line(0, 1.0, 2.0 + place, mode="lines", label=f"p{place}") for place in range(5))
    assert len({dash_of(figure(*plain), one) for one in plain}) == 5
    unnamed = (*plain[:1], replace(plain[0], label="", y=(3.0, 4.0)))
    assert len({dash_of(figure(*unnamed), one) for one in unnamed}) == 1
    many = tuple(line(place, 1.0, 2.0) for place in range(12))
    looks = {(one.colour % 9, dash_of(figure(*many), one)) for one in many}
    assert len(looks) == 12


def test_a_line_keeps_its_extremes() -> None:
    points = [(place / 100, 1000.0 if place == 4321 else float(place % 7)) for place in range(10_000)]
    kept = thinned(points)
    assert len(kept) <= 4 * (2 * 100 + 1)
    assert (43.21, 1000.0) in kept
    assert (kept[0], kept[-1]) == (points[0], points[-1])


@pytest.mark.parametrize("size", [DESK, PHONE, Size(width=190, height=110, letters=8, beside=False, grows=True)])
def test_no_label_is_cut_and_none_covers_another(size: Size) -> None:
    many = figure(
        *(line(place, 24_632.5, 3_950.0 + place, label=f"RND {4 * place}KiB 65/35") for place in range(7)),
        legend_title="Block size",
        span=(1.0, 2.0),
        rounds=True,
    )
    drawn = figure_svg(many, size, paper=False)
    height = float(re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', drawn)[0])
    boxes = []
    for one in ET.fromstring(drawn).iter("text"):  # noqa: S314 - made by us
        wide, x = text_width(one.text or "", size.letters), float(one.get("x", "0"))
        left = x - {"end": wide, "middle": wide / 2}.get(one.get("text-anchor", ""), 0)
        boxes.append((left, left + wide, float(one.get("y", "0")), one.text))
    assert all(left >= -0.5 and right <= size.width + 0.5 and 0 < y <= height for left, right, y, _ in boxes), boxes
    for place, (left, right, y, words) in enumerate(boxes):
        for other_left, other_right, other_y, others in boxes[place + 1 :]:
            apart = right <= other_left + 0.5 or other_right <= left + 0.5 or abs(y - other_y) >= size.letters
            assert apart, (words, others)


def test_texts_are_no_markup() -> None:
    drawn = figure_svg(figure(line(0, 1.0, 2.0, label="<b>&"), alt='a "b" <c>'), DESK, paper=False)
    assert "<b>&" in texts(drawn)


def test_bars_have_their_values_above_them_where_they_fit() -> None:
    bars = Series(label="MB/s", x=(0.0, 1.0), y=(99.96, 274.94), colour=0)
    ticks = (Tick(at=0.0, label="0/100"), Tick(at=1.0, label="100/0"))
    drawn = figure(bars, kind="bars", ticks=ticks)
    assert {"100.0", "274.9"} <= set(texts(figure_svg(drawn, DESK, paper=False)))
    assert "274.9" not in texts(figure_svg(drawn, Size(width=80, height=60, letters=11), paper=False))


def heat(**facts: object) -> Figure:
    fields = Heat(
        x_edges=(0.0, 1.0, 2.0), y_edges=(0.0, 1.0), rows=((5.0, 500.0),), colour_title="IOPS", texts=(("5", "500"),)
    )
    return figure(kind="heat", heat=replace(fields, **facts))  # type: ignore[arg-type]


def test_texts_of_fields_are_dark_on_bright_and_white_on_dark_ones() -> None:
    drawn = figure_svg(heat(), DESK, paper=False)
    groups = ET.fromstring(drawn).iter("g")  # noqa: S314 - made by us
    shown = {one.text: group.get("fill") for group in groups for one in group.iter("text")}
    assert (shown["5"], shown["500"]) == ("#ffffff", "#111111")


def test_many_fields_are_one_picture_whose_dots_are_their_colours() -> None:
    drawn = figure_svg(heat(texts=(), rows=((5.0, None),)), DESK, paper=False)
    (packed,) = re.findall(r"base64,([^\"]*)", drawn)
    data = base64.b64decode(packed)
    size = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    start = data.index(b"IDAT")
    dots = zlib.decompress(data[start + 4 : start + 4 + int.from_bytes(data[start - 4 : start], "big")])
    row = dots[: 1 + 4 * size[0]]
    assert len(dots) == size[1] * len(row)
    # The only value is the largest: the brightest colour on the left, nothing on the right.
    assert (tuple(row[1:5]), row[-1]) == ((253, 231, 37, 255), 0)


def test_columns_that_are_farther_away_are_drawn_first() -> None:
    rows = tuple(
        Series(label=f"mix {place}", x=(0.0, 1.0), y=(10.0 * (place + 1), 5.0), colour=place) for place in range(3)
    )
    ticks = (Tick(at=0.0, label="4"), Tick(at=1.0, label="8"))
    drawn = figure_svg(figure(*rows, kind="columns", ticks=ticks, z_title="Mix"), DESK, paper=False)
    assert re.findall(r'<g class="(s\d)">', drawn) == ["s2", "s1", "s0"]
    assert {"4", "8", "mix 0", "mix 1", "mix 2", "Mix"} <= set(texts(drawn))


@pytest.mark.parametrize("size", [replace(DESK, grows=True), PHONE])
def test_changes_have_bars_limits_and_whiskers_in_the_colour_of_their_level(size: Size) -> None:
    rows = (
        Change(label="IOPS, RND 4KiB R (IOPS)", by=-0.081, reach=0.01, limit=0.05, level="bad", words="FAILED"),
        Change(label="IOPS, RND 4KiB W (IOPS)", by=0.021, reach=0.3, limit=0.05, level="warn", words="cannot decide"),
        Change(label="LAT, RND 4KiB R, average (ms)", by=None, reach=None, limit=0.05, level="unknown", words="none"),
    )
    drawn = figure_svg(figure(kind="changes", changes=rows), size, paper=False)
    shown = texts(drawn)
    assert {one.label for one in rows} <= set(shown)
    assert {"-8.1 %  FAILED", "+2.1 %  cannot decide", "none"} <= set(shown)
    assert re.findall(r'<g class="v-(\w+)">', drawn) == ["bad", "warn", "unknown"]
    assert drawn.count("<rect") == 2
    wide = max(text_width(words, size.letters) for words in shown)
    assert all(x <= size.width for x, _ in shown.values())
    assert wide < size.width


def test_paper_has_colours_of_its_own_and_a_page_gives_both_schemes() -> None:
    drawn = figure(line(0, 1.0, 2.0))
    paper = figure_svg(drawn, DESK, paper=True)
    assert LIGHT[0] in paper
    assert "var(" not in paper
    assert "light-dark" not in paper
    assert f"light-dark({LIGHT[0]},{DARK[0]})" in screen_rules()
    assert "<style>" not in figure_svg(drawn, DESK, paper=False)
    assert figure_svg(drawn, DESK, paper=True) == paper
