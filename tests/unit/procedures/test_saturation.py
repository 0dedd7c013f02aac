"""Write saturation: verdict samples, stop rules, marks, and what is printed of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from assay.errors import VerificationError
from assay.procedures.families.saturation.figures import FILLS, response_figure, saturation_readings
from assay.procedures.families.saturation.record import level_text
from assay.procedures.families.saturation.result import (
    saturation_result,
    saturation_window,
    verdict_minutes,
    written_bytes,
)
from assay.report import build_report
from assay.spec.steady import steady_state
from assay.spec.units import GB, MINUTE_NS
from assay.summary.pages.figures import minutes_window, verdict_figure
from assay.summary.pages.model import Box, Figure, Table
from assay.words.text import text_or_none
from report_run import judged_samples, synthetic_run
from saturation_run import saturation_settings, saturation_step, saturation_test

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.plan.until import RoundOutcome
    from assay.summary.pages.model import Page

CAPACITY = 256 * GB
FRESH, STEADY = 50_000.0, 2_500.0


def cliff(fresh_minutes: int, minutes: int) -> list[float]:
    """A fresh plateau, then the steady level at once."""
    return [FRESH] * fresh_minutes + [STEADY] * (minutes - fresh_minutes)


def driven(rates: list[float], **changes: object) -> list[RoundOutcome]:
    """Run the driver over minutes of given rates."""
    settings = saturation_settings(**changes)
    steps = iter(saturation_step(rate) for rate in rates)

    return judged_samples(settings, lambda count: [next(steps) for _ in range(count)])


def count(judged: list[RoundOutcome]) -> int:
    return sum(len(one.steps) for one in judged)


def test_the_verdict_samples_are_minutes_31_62_93_and_so_on() -> None:
    rates = [1.0] * 155
    for minute in (31, 62, 93, 124, 155):
        rates[minute - 1] = 1000.0
    found = saturation_window([saturation_step(rate) for rate in rates], saturation_settings())
    assert found is not None
    assert found.verdicts["RND 4KiB 0/100"].values == (1000.0,) * 5
    assert found.reached


def test_there_is_no_verdict_before_minute_155() -> None:
    samples = [saturation_step(1000.0)] * 155
    assert saturation_window(samples[:-1], saturation_settings()) is None
    assert saturation_window(samples, saturation_settings()) is not None


def test_the_first_rule_that_holds_ends_the_test() -> None:
    judged = driven([1000.0] * 2000)
    assert (count(judged), judged[-1].ended) == (155, "steady")
    falling = [50_000.0 * 0.99**minute for minute in range(2000)]
    judged = driven(falling, amount_bytes=CAPACITY)
    assert judged[-1].ended == "amount"
    written = written_bytes([step for one in judged for step in one.steps])
    last = judged[-1].steps[-1].write.window_bytes
    assert written - last < CAPACITY <= written


def test_time_alone_goes_on_past_a_steady_verdict_to_24_hours() -> None:
    judged = driven([1000.0] * 2000, stop="time")
    assert (count(judged), judged[-1].ended) == (1440, "time")
    assert judged[4].window is not None
    assert judged[4].window.reached


def test_the_amount_alone_ignores_time_and_verdict() -> None:
    judged = driven([10_000.0] * 9000, stop="amount", time_ns=MINUTE_NS, amount_bytes=CAPACITY)
    per_minute = 10_000 * 60 * 4096
    assert count(judged) == -(-CAPACITY // per_minute)
    assert judged[-1].ended == "amount"


def test_the_five_point_rule_alone_ignores_time_and_amount() -> None:
    judged = driven(cliff(100, 2000), stop="steady", time_ns=MINUTE_NS, amount_bytes=1)
    assert judged[-1].ended == "steady"
    assert count(judged) == 31 * 8


def test_a_sample_with_an_error_ends_the_test() -> None:
    settings = saturation_settings()
    bad = saturation_step(1000.0)
    bad = replace(bad, write=replace(bad.write, errors={5: 1}))
    judged = judged_samples(settings, lambda count: [bad] * count)
    assert (len(judged), judged[0].ended) == (1, "incomplete")


def test_the_marks_of_a_cliff_are_at_the_cliff() -> None:
    result = saturation_result(saturation_test(cliff(100, 1440)), CAPACITY)
    assert result.peak is not None
    assert result.peak_drop is not None
    assert result.steady is not None
    assert (result.peak.minutes, result.peak.iops) == (1.0, FRESH)
    assert (result.peak_drop.minutes, result.peak_drop.iops) == (101.0, STEADY)
    # The median of five samples lets the first two after the cliff still see the plateau.
    assert result.steady.minutes == 101.0
    assert result.steady_iops == STEADY
    assert not result.plateau


def test_a_single_slow_minute_is_no_peak_drop() -> None:
    rates = cliff(100, 1440)
    rates[40] = 1.0
    result = saturation_result(saturation_test(rates), CAPACITY)
    assert result.peak_drop is not None
    assert result.peak_drop.minutes == 101.0


def test_a_flat_drive_has_no_peak_drop_and_is_steady_from_the_start() -> None:
    result = saturation_result(saturation_test([340.0, 348.0] * 720), CAPACITY)
    assert result.peak_drop is None
    assert result.steady is not None
    assert result.steady.minutes == 1.0


def test_gigabytes_are_base_ten_and_fills_are_of_user_capacity() -> None:
    result = saturation_result(saturation_test([10_000.0] * 155), CAPACITY)
    written = 155 * 10_000 * 60 * 4096
    assert result.written_gb[-1] == written / 1e9
    assert result.fills[-1] == written / CAPACITY


def test_a_verdict_before_one_fill_carries_the_warning() -> None:
    test = saturation_test([1000.0] * 155, ended="steady")
    result = saturation_result(test, CAPACITY)
    assert result.plateau
    pages = wsat_pages(build_report(synthetic_run(test)).pages)
    assert {page.banner for page in pages} == {
        "STILL FRESH-OUT-OF-BOX PLATEAU: the five-point rule held before one drive fill"
    }


def test_a_test_that_ended_by_time_without_steady_state_is_no_failure_and_prints_no_steady_figure() -> None:
    test = saturation_test([50_000.0 * 0.998**minute for minute in range(1440)])
    result = saturation_result(test, CAPACITY)
    assert (result.steady_iops, result.steady) == (None, None)
    assert result.peak_drop is not None
    assert result.peak_drop.iops == pytest.approx(40_000, rel=0.003)
    pages = wsat_pages(build_report(synthetic_run(test)).pages)
    assert {page.banner for page in pages} == {None}
    assert {"Convergence": "not reached", "Window": "1,302 min to 1,426 min"}.items() <= entries(pages[0]).items()
    assert dict(strip(pages[0]).entries)["Steady-state IOPS"] == "not reached"


def test_an_interrupted_saturation_prints_no_headline() -> None:
    test = saturation_test(cliff(100, 400), ended="interrupted")
    result = saturation_result(test, CAPACITY)
    assert (result.steady_iops, text_or_none(result.withheld)) == (None, "the test did not run to its end")
    page = wsat_pages(build_report(synthetic_run(test)).pages)[0]
    assert dict(strip(page).entries)["First sample"] == "n/a"
    assert page.banner == "INTERRUPTED"


def test_a_forged_verdict_is_refused() -> None:
    test = saturation_test([1000.0] * 155, ended="steady")
    assert test.verdict is not None
    with pytest.raises(VerificationError):
        saturation_result(replace(test, verdict=replace(test.verdict, reached=False)), CAPACITY)


def test_the_four_pages_of_1_0_have_their_titles_and_axes() -> None:
    pages = wsat_pages(build_report(synthetic_run(saturation_test(cliff(100, 1440)))).pages)
    assert [page.subtitle for page in pages] == [
        "Client IOPS (Linear) vs Time (Linear)",
        "Client IOPS (Log) vs Time (Linear)",
        "Client IOPS (Linear) vs Total Gigabytes Written (Linear)",
        "Client IOPS (Log) vs Total Gigabytes Written (Linear)",
    ]
    figures = [next(block for block in page.blocks if isinstance(block, Figure)) for page in pages]
    assert [figure.y_scale for figure in figures] == ["linear", "log", "linear", "log"]
    assert figures[0].series[0].x[-1] == 1440
    assert {series.label for series in figures[0].series[1:]} == {"Peak", "Peak drop", "Level reached"}


def wsat_pages(pages: tuple[Page, ...]) -> list[Page]:
    return [page for page in pages if "WSAT" in page.title and page.title.endswith("Report Page")]


def strip(page: Page) -> Box:
    return next(block for block in page.blocks if isinstance(block, Box) and block.title == "Write saturation")


def entries(page: Page) -> dict[str, str]:
    return {name: value for group in page.header.groups for name, value in group.entries}


def test_a_percentile_that_no_sample_can_give_says_so_in_the_legend() -> None:
    result = saturation_result(saturation_test([1000.0] * 155), CAPACITY)
    nothing = replace(result, percentiles={0.99999: (None,) * 155})
    figure = response_figure("response", nothing, FILLS)
    assert figure is not None
    assert [series.label for series in figure.series] == ["ART", "99.999 % n/a", "MRT"]


def selection(test: StoredTest) -> list[tuple[str, ...]]:
    report = build_report(synthetic_run(test))
    (table,) = (block for block in report.pages[-1].all_blocks if isinstance(block, Table))
    names = ("Select Performance Data", "Unit", "Measured", "Basis")
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return [tuple(row.get(name, "n/a") for name in names) for row in found]


def test_fresh_out_of_box_is_the_first_sample_and_the_highest_is_called_so() -> None:
    test = saturation_test([900.0, *cliff(100, 1439)])
    first, settled, *_ = selection(test)
    assert first[:3] == ("RND 4KiB 0/100, first sample", "IOPS", "900.0")
    assert settled[0] == "RND 4KiB 0/100, settled"
    marks = dict(strip(wsat_pages(build_report(synthetic_run(test)).pages)[0]).entries)
    fills = 900 * 60 * 4096 / CAPACITY
    assert marks["First sample (FOB)"] == f"900.0: the first 1 min, {fills:.2f} drive fills written at its end"
    assert float(marks["Highest sample (peak)"].split()[0].rstrip(":").replace(",", "")) > 900


def test_a_saturation_too_short_for_the_rule_is_not_judged() -> None:
    said = "not judged: ended after 65 min, the rule needs 155 min"
    test = saturation_test([1000.0] * 65)
    first, settled, last, *_ = selection(test)
    assert (first[2], settled[2]) == ("1,000.0", "n/a")
    assert settled[3] == "n/a: ended after 65 min, the rule needs 155 min"
    assert last[:1] == ("RND 4KiB 0/100, last sample",)
    report = build_report(synthetic_run(test))
    assert dict(strip(wsat_pages(report.pages)[0]).entries)["Steady-state IOPS"] == said
    (tests,) = (block for block in report.pages[0].blocks if isinstance(block, Table) and block.caption == "Tests")
    assert tests.rows[0][-1] == said


@pytest.mark.parametrize(
    ("reached", "judged", "said"),
    [
        (True, "YES", "the level on the right is the steady state"),
        (False, "not reached", "the right end is no level: steady state was not reached"),
        (
            None,
            "not judged: ended after 65 min, the rule needs 155 min",
            "is not known (not judged: ended after 65 min",
        ),
        (None, "n/a", "is not known (n/a)"),
    ],
)
def test_the_sentence_below_the_curve_depends_on_the_verdict(reached: bool | None, judged: str, said: str) -> None:
    sentences = saturation_readings(saturation_settings(), judged, "level reached", reached=reached)
    assert all(said in text for name, text in sentences.items() if name.startswith("iops-"))


def test_a_verdict_over_samples_is_named_by_minutes_in_figure_and_box() -> None:
    settings = replace(saturation_settings(), samples_per_verdict=30, first_verdict_sample=1, sample_ns=60 * 10**9)
    values = (1.0,) * 5
    verdict = steady_state((2, 3, 4, 5, 6), values, range_limit=Fraction(1, 5), slope_limit=Fraction(1, 10))
    minutes = verdict_minutes(verdict, settings)
    assert minutes == (31.0, 61.0, 91.0, 121.0, 151.0)
    assert minutes_window(verdict, minutes) == "31-151 min, R = 2-6"
    figure = verdict_figure("f", "RND", verdict, "IOPS", minutes)
    assert figure.x_title == "Time (Minutes)"
    assert [tick.label for tick in figure.ticks] == ["31", "61", "91", "121", "151"]


def test_a_first_sample_longer_than_a_fill_is_not_called_fresh_out_of_box() -> None:
    # A minute of 4 KiB writes at this rate is more than the drive holds.
    fast = CAPACITY / 4096 / 60 * 1.34
    test = saturation_test([fast, *cliff(100, 1439)])
    report = build_report(synthetic_run(test))
    marks = dict(strip(wsat_pages(report.pages)[0]).entries)
    assert marks["First sample"].endswith("1.34 drive fills written at its end: not all fresh out of box")


def test_the_mark_of_the_level_names_the_samples_that_the_verdict_is_of() -> None:
    settings, test = saturation_settings(), saturation_test(cliff(100, 1440))
    result = saturation_result(test, CAPACITY)
    said = level_text(settings, result)
    assert result.steady is not None
    late = replace(result, steady=replace(result.steady, sample=1431))
    assert "of 2,500.0 IOPS in the last 10 samples; that" in level_text(settings, late)
    assert said.startswith(
        "level reached: the median of five samples stays within 10 % of 2,500.0 IOPS for the next 30 samples; that is "
        "the average of the five that the rule judges ("
    )
    marks = dict(strip(wsat_pages(build_report(synthetic_run(test)).pages)[0]).entries)
    assert marks["Steady-state IOPS"].startswith("2,500.0: average of ")
    assert "Level reached: within 10 % of it from" in marks
