"""Values as they are printed: digits of short times, boxes that can be recomputed, percentiles within their range."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from assay.cli.progress_lines import judged_line
from assay.engine.records import MeasurementWindow
from assay.plan.until import RoundOutcome
from assay.results.captured import latency_buckets
from assay.results.histogram import ResponseTimes, direction_times, merged
from assay.results.step import mean_latency_ns
from assay.spec.steady import steady_state
from assay.summary.pages.figures import time_box
from assay.words.printed import milliseconds_label, milliseconds_text, minutes_label, one_decimal, ordinal, significant
from report_run import TRACKED, synthetic_direction, synthetic_step

ROUNDS = (3, 4, 5, 6, 7)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.00210487, "0.002105"),
        (0.35, "0.3500"),
        (41.0, "41.000"),
        (0.0, "0.000"),
        (-0.0001, "-0.0001000"),
        (9.99996, "10.000"),
    ],
)
def test_a_value_has_four_digits_from_its_first_that_is_not_zero(value: float, printed: str) -> None:
    assert significant(value) == printed


def test_times_keep_three_decimals_unless_they_are_short() -> None:
    assert (milliseconds_text(0.35), milliseconds_text(0.1), milliseconds_text(0.0021)) == (
        "0.350",
        "0.100",
        "0.00210",
    )
    assert (milliseconds_label(1_500_000), milliseconds_label(2_104), milliseconds_label(None)) == (
        "1.500",
        "0.00210",
        "n/a",
    )


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ((0.002101, 0.002107, 0.002099, 0.002110, 0.002104), "us"),
        ((0.0123, 0.0124, 0.0122, 0.0125, 0.0123), "us"),
        ((0.351, 0.350, 0.352, 0.349, 0.353), "ms"),
        ((12.51, 12.48, 12.55, 12.49, 12.52), "ms"),
    ],
)
def test_a_box_of_response_times_can_be_recomputed_by_hand(values: tuple[float, ...], unit: str) -> None:
    verdict = steady_state(ROUNDS, values)
    entries = dict(time_box("RND 4KiB 0/100", verdict, "Rounds 3-7").entries)
    assert entries["Tracking Variable"] == f"Latency ({unit}), RND 4KiB 0/100"
    average = float(entries[f"Average Latency ({unit})"])
    factor = 1000 if unit == "us" else 1
    assert average == pytest.approx(sum(values) / 5 * factor, rel=1e-4)
    printed = {name: float(text) for name, text in entries.items() if name.startswith(("Allowed", "Measured Max"))}
    assert printed["Allowed Maximum Data Excursion"] == pytest.approx(0.2 * average, rel=1e-4)
    assert printed["Allowed Maximum Slope Excursion"] == pytest.approx(0.1 * average, rel=1e-4)
    assert printed["Measured Maximum Data Excursion"] == pytest.approx((max(values) - min(values)) * factor, rel=1e-4)
    slope, sign, start = re.fullmatch(
        r"(-?[\d.]+) \* R ([+-]) ([\d.]+)", entries["Least Squares Linear Fit Formula"]
    ).groups()  # type: ignore[union-attr]
    assert printed["Measured Maximum Slope Excursion"] == pytest.approx(abs(float(slope)) * 4, rel=1e-3)
    assert float(slope) * 5 + float(start) * (-1 if sign == "-" else 1) == pytest.approx(average, rel=1e-3)
    for text in printed.values():
        assert text > 0


def test_a_box_without_a_verdict_is_in_ms() -> None:
    entries = dict(time_box("RND 4KiB 0/100", None, "n/a: why").entries)
    assert (entries["Average Latency (ms)"], entries["Steady"]) == ("n/a", "n/a")


def test_percentiles_of_equal_times_are_that_time_and_not_the_middle_of_its_bucket() -> None:
    # 84,945 ns lies above the middle of its bucket, 84,927.5 ns.
    one = synthetic_direction(20_000, 4096)
    bucket = int(latency_buckets(np.array([84_945]))[0])
    same = replace(
        one, latency_ns_sum=20_000 * 84_945, latency_ns_min=84_945, latency_ns_max=84_945, histogram=((bucket, 20_000),)
    )
    times = direction_times(same)
    assert (times.percentile(0.5), times.percentile(0.999)) == (0.084945, 0.084945)
    assert merged([times, times]).percentile(0.999) == 0.084945
    step = replace(synthetic_step(TRACKED, 0), write=same)
    assert mean_latency_ns(step) == 84_945


def test_without_a_known_range_a_percentile_is_the_middle_of_its_bucket() -> None:
    times = ResponseTimes(np.array([4000], np.uint64), np.array([100], np.uint64))
    assert times.percentile(0.5) == times.middles_ms[0]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (
            (83715.0, 97000.0, 71090.0, 83000.0, 84000.0),
            "average 83,761, excursion 25,910 of 16,752 allowed (too wide), slope ",
        ),
        (
            (0.31, 0.29, 0.33, 0.31, 0.31),
            "average 0.31000, excursion 0.04000 of 0.06200 allowed, slope 0.00800 of 0.03100 allowed",
        ),
        ((0.0,) * 5, "average 0, excursion 0 of 0 allowed, slope 0 of 0 allowed"),
    ],
)
def test_a_line_of_the_log_has_one_format_of_numbers(values: tuple[float, ...], shown: str) -> None:
    verdict = steady_state(ROUNDS, values)
    window = MeasurementWindow(rounds=ROUNDS, verdicts={"X": verdict}, reached=False)
    line = judged_line(RoundOutcome(stage="round", index=7, steps=(), window=window, ended=None), "round 7")
    assert shown in line
    assert not re.search(r"\de[+-]\d", line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (one_decimal(24632.0), "24,632.0"),
        (milliseconds_text(1234.5), "1,234.500"),
        (significant(1_234_567.0), "1,234,567.000"),
        (minutes_label(0.508), "30.5 s"),
        (minutes_label(0.0), "0 s"),
        (minutes_label(1.0), "1 min"),
        *((ordinal(number), text) for number, text in ((1, "1st"), (22, "22nd"), (11, "11th"), (31, "31st"))),
    ],
)
def test_numbers_have_separators_and_less_than_a_minute_is_in_seconds(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize("scale", [0.0001, 0.00037, 0.095, 0.2499, 1.0, 24.9])
@pytest.mark.parametrize("values", [(1.0, 1.01, 0.99, 1.02, 1.05), (1.0, 0.98, 0.93, 0.9, 0.885)])
def test_four_times_the_printed_slope_is_the_printed_slope_excursion(values: tuple[float, ...], scale: float) -> None:
    verdict = steady_state((1, 2, 3, 4, 5), [value * scale for value in values])
    box = dict(time_box("RND 4KiB 0/100", verdict, "Rounds 1-5").entries)
    slope = Decimal(box["Least Squares Linear Fit Formula"].partition(" * R")[0])
    printed = Decimal(box["Measured Maximum Slope Excursion"])
    assert abs(abs(slope * 4) - printed) <= Decimal((0, (1,), int(printed.as_tuple().exponent)))
    assert len(printed.as_tuple().digits) >= 4
