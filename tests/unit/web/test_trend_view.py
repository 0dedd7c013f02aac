"""A history grouped and judged, and as a chart: which runs are a series, what is the baseline, what is drawn."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from assay.archive.index.history import HistoryPoint, Metric
from assay.report.drawing.frame import time_ticks
from assay.report.drawing.trend import DESK, LINKED_MAX, PHONE, trend_pictures, trend_svg
from assay.web.pages.trend import chart_of
from assay.web.trend import GROUPS_MAX, Grouping, TrendView, difference_text, summary_text, value_text, view_of

DAY_NS = 86_400 * 10**9
METRIC = Metric(
    test="iops", procedure="iops", edition="1.1", cell='[["block_kib", 4]]', label="RND 4KiB", key="iops", unit="IOPS",
    better="higher",
)  # fmt: skip
STEP = (100, 101, 99, 100, 90, 91, 89, 90)


def point(number: int, value: float, **more: Any) -> HistoryPoint:
    facts: dict[str, Any] = {
        "address": f"a{number:03}", "name": f"run {number}", "time_ns": number * DAY_NS, "value": value,
        "rounds": (value - 1, value, value + 1), "bound": None, "mark": None, "firmware": "A", "serial": "S1",
        "host": "h1", "tags": (),
    }  # fmt: skip
    return HistoryPoint(**{**facts, **more})


def points(values: tuple[float, ...] = STEP, **more: Any) -> list[HistoryPoint]:
    return [point(number, value, **more) for number, value in enumerate(values)]


def by_firmware() -> list[HistoryPoint]:
    """The last run has the first firmware once more."""
    firmwares = "AAAABBBBA"
    return [
        point(number, value, firmware=firmware)
        for number, (value, firmware) in enumerate(zip((*STEP, 100), firmwares, strict=True))
    ]


def test_all_runs_are_a_series_and_the_first_is_the_baseline() -> None:
    view = view_of(METRIC, points(), "time")
    (series,) = view.series
    assert (series.name, [judged.change.index for judged in series.changes]) == ("", [4])
    assert view.baseline is not None
    assert view.baseline.address == "a000"
    assert [round(view.from_baseline(one) or 0, 3) for one in series.points][-1] == -0.1
    assert summary_text(series) == "1 change in 8 runs."


def test_a_change_says_whether_the_drive_is_worse() -> None:
    (judged,) = view_of(METRIC, points(), "time").series[0].changes
    assert (judged.verdict, judged.outcome, judged.text) == ("bad", "worse", "-10.0 % (-11.3 to -8.6 %)")
    latency = Metric(**{**{name: getattr(METRIC, name) for name in Metric.__slots__}, "better": "lower", "unit": "ms"})
    (judged,) = view_of(latency, points(), "time").series[0].changes
    assert (judged.verdict, judged.outcome) == ("good", "better")
    amount = Metric(**{**{name: getattr(METRIC, name) for name in Metric.__slots__}, "better": "neither"})
    (judged,) = view_of(amount, points(), "time").series[0].changes
    assert (judged.verdict, judged.outcome) == ("unknown", "")


def test_another_baseline_is_that_of_its_address() -> None:
    view = view_of(METRIC, points(), "time", "a007")
    assert view.baseline is not None
    assert view.baseline.address == "a007"
    assert view.from_baseline(view.series[0].points[0]) == pytest.approx(1 / 9)
    lost = view_of(METRIC, points(), "time", "gone").baseline
    assert lost is not None
    assert lost.address == "a000"


def test_by_firmware_the_runs_of_each_stand_together() -> None:
    view = view_of(METRIC, by_firmware(), "firmware")
    (series,) = view.series
    assert [each.firmware for each in series.points] == list("AAAAABBBB")
    (judged,) = series.changes
    assert judged.text.startswith("firmware B: -10.")
    assert view.labels == ("A", "B")


@pytest.mark.parametrize(
    ("grouping", "more", "names"),
    [
        ("host", {"host": ""}, ["unknown host"]),
        ("tag", {"tags": ("x", "y")}, ["x", "y"]),
        ("tag", {}, ["no tag"]),
        ("host", {"host": "a\x1b[2J"}, ["a\\x1b[2J"]),
    ],
)
def test_hosts_and_tags_are_series(grouping: Grouping, more: dict[str, Any], names: list[str]) -> None:
    view = view_of(METRIC, points(**more), grouping)
    assert [series.name for series in view.series] == names
    assert view.run_count == 8
    assert all(len(series.points) == 8 for series in view.series)


def test_changes_are_numbered_over_all_series() -> None:
    runs = [*points(), *(point(50 + number, value, host="h2") for number, value in enumerate(STEP))]
    view = view_of(METRIC, runs, "host")
    assert [[judged.number for judged in series.changes] for series in view.series] == [[1], [2]]


def test_more_groups_than_can_be_told_apart_are_named() -> None:
    runs = [point(number, 100, host=f"h{number:02}") for number in range(GROUPS_MAX + 2)]
    runs += [point(20 + number, 100, host=f"h{number:02}") for number in range(2, GROUPS_MAX + 2)]
    view = view_of(METRIC, runs, "host")
    assert len(view.series) == GROUPS_MAX
    assert view.left_out == ("h00", "h01")


def test_few_runs_are_not_judged_and_none_are_no_fault() -> None:
    view = view_of(METRIC, points((1.0, 2.0)), "time")
    assert summary_text(view.series[0]) == "Not judged: fewer than 4 runs."
    assert view_of(METRIC, [], "time").baseline is None
    assert view_of(METRIC, [], "host").series == ()
    assert summary_text(view_of(METRIC, points((100.0,) * 5), "time").series[0]) == "No significant change in 5 runs."


def test_a_baseline_of_zero_has_no_differences() -> None:
    view = view_of(METRIC, points((0.0, 1.0)), "time")
    assert view.from_baseline(view.series[0].points[1]) is None
    assert difference_text(None) == ""


@pytest.mark.parametrize(("value", "expected"), [(32912.81, "32,913"), (12.3456, "12.35"), (0.0123456, "0.01235")])
def test_a_value_has_four_digits_at_least(value: float, expected: str) -> None:
    assert value_text(value) == expected


def drawn(view: TrendView, prefix: str = "") -> ET.Element:
    return ET.fromstring(trend_svg(chart_of(view, prefix), DESK))  # noqa: S314 - our own


def test_the_chart_leads_to_the_runs_and_marks_changes() -> None:
    svg = drawn(view_of(METRIC, points(), "time"), "/assay")
    assert [link.get("href") for link in svg.iter("a")] == [f"/assay/runs/a{number:03}" for number in range(8)]
    assert [link.findtext("title") for link in svg.iter("a")][4] == "run 4, 1970-01-05 00:00 UTC: 90.00 IOPS"
    texts = [text.text for text in svg.iter("text")]
    assert "1: -10.0 %" in texts
    assert {"Runs", "Mean between changes", "Baseline", "Time (UTC)"} <= set(texts)
    assert [each.get("class") for each in svg.iter("g")].count("v-bad") == 1
    assert svg.get("aria-hidden") == "true"


def test_the_baseline_is_dashed_in_chart_and_legend_with_and_without_levels() -> None:
    for values in (STEP, STEP[:2]):
        svg = drawn(view_of(METRIC, points(values), "time"))
        dashes = [path.get("stroke-dasharray") for path in svg.iter("path") if path.get("class") == "l"]
        assert dashes.count("7 3") == 2


def test_groups_have_markers_of_different_shapes() -> None:
    svg = drawn(view_of(METRIC, by_firmware(), "firmware"))
    shapes = {re.sub(r"[\d. -]+", "", link.find("path").get("d", "")) for link in svg.iter("a")}  # type: ignore[union-attr]
    assert len(shapes) == 2
    assert {"A", "B"} <= {text.text for text in svg.iter("text")}


def test_all_that_is_drawn_is_within_the_picture() -> None:
    for size in (DESK, PHONE):
        svg = ET.fromstring(trend_svg(chart_of(view_of(METRIC, by_firmware(), "firmware"), ""), size))  # noqa: S314 - our own
        width, height = map(float, svg.get("viewBox", "").split()[2:])
        for text in svg.iter("text"):
            assert 0 <= float(text.get("x", -1)) <= width
            assert 0 <= float(text.get("y", -1)) <= height


def test_texts_of_runs_are_escaped() -> None:
    view = view_of(METRIC, points(name='"><script>', firmware="<b>&", address='"><x'), "firmware")
    picture = trend_pictures(chart_of(view, ""))
    assert "<script" not in picture
    assert "<b>" not in picture
    ET.fromstring(f"<div>{picture}</div>")  # noqa: S314 - our own


def test_many_runs_are_drawn_small_and_without_links() -> None:
    many = [point(number, 100.0 + number % 3) for number in range(LINKED_MAX + 1)]
    svg = drawn(view_of(METRIC, many, "time"))
    assert list(svg.iter("a")) == []


def test_a_single_run_and_values_of_zero_can_be_drawn() -> None:
    drawn(view_of(METRIC, points((5.0,)), "time"))
    drawn(view_of(METRIC, points((0.0, 0.0), rounds=()), "firmware"))


@pytest.mark.parametrize(
    ("span_ns", "most", "expected"),
    [
        (8 * DAY_NS, 5, ["1970-01-01", "1970-01-03", "1970-01-05", "1970-01-07", "1970-01-09"]),
        (DAY_NS // 4, 8, [f"01-01 0{hour}:00" for hour in range(7)]),
        (400 * DAY_NS, 8, ["1970-01", "1970-04", "1970-07", "1970-10", "1971-01"]),
        (46 * DAY_NS, 8, ["1970-01", "1970-02"]),
        (5 * 10**9, 8, [f"01-01 00:00:0{second}" for second in range(6)]),
        (10**8, 8, ["01-01 00:00:00"]),
        (0, 8, ["01-01 00:00:00"]),
    ],
)
def test_ticks_are_round_instants(span_ns: int, most: int, expected: list[str]) -> None:
    assert [tick.label for tick in time_ticks(0, span_ns, most)] == expected


@pytest.mark.parametrize("days", [0, 1e-6, 1e-4, 0.01, 0.3, 1, 3, 10, 30, 45, 46, 90, 400, 4000, 40000])
def test_ticks_are_few_and_within_their_ends(days: float) -> None:
    first = 1_790_000_123 * 10**9
    ticks = time_ticks(first, first + round(days * DAY_NS), 8)
    assert 1 <= len(ticks) <= 12
    assert all(0 <= tick.at <= days + 1e-9 for tick in ticks)
