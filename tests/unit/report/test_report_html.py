"""The HTML report as text: anchors, tables, themes, pictures, and blocks that it does not know."""

import json
import re
from base64 import b64encode
from dataclasses import dataclass, replace
from hashlib import sha256
from html import unescape
from itertools import pairwise
from typing import Any, Literal

import pytest
from assay.report import build_report
from assay.report.formats.cells import Cell, look, repeats, table_cells
from assay.report.formats.html import ASSETS, _large, _unbroken, asset_files, figure_data, linked, report_html
from assay.report.formats.pdf import figure_svg
from assay.summary.pages.figures import log_range, log_ticks
from assay.summary.pages.model import Figure, Heat, Page, Report, Series, Table, Tick, slug, unique
from assay.summary.record import Level
from report_run import HOSTILE, synthetic_run, synthetic_settings, synthetic_test


def lines(**changes: Any) -> Figure:
    line = Series(label="RND", x=(1.0, 2.0), y=(0.307, 0.25), colour=0)
    plain = Figure(name="f", kind="lines", alt="What is seen", x_title="Round", y_title="Time (ms)", series=(line,))
    return replace(plain, **changes)


def page_of(*blocks: Any) -> Page:
    first = build_report(synthetic_run()).pages[0]
    return replace(first, blocks=blocks)


def report_of(*pages: Page, **changes: Any) -> Report:
    return replace(build_report(synthetic_run()), pages=pages, appendix=(), **changes)


def html_of(report: Report) -> str:
    return report_html(report).decode("utf-8")


def anchors_of(text: str) -> list[str]:
    return re.findall(r'<article class="page[^"]*" id="([^"]*)"', text)


def table(*rows: tuple[str, ...], **changes: Any) -> Table:
    return Table(
        caption="Rates", columns=tuple(f"column {place}" for place in range(len(rows[0]))), rows=rows, **changes
    )


def test_a_text_is_repeated_in_a_merged_column_alone_and_not_from_another_test() -> None:
    rows = (("A", "x", "1"), ("A", "x", "1"), ("B", "x", "1"))
    table = Table(caption="", columns=("Test", "From", "Value"), rows=rows, merged=("Test", "From"))
    assert repeats(table) == [[False] * 3, [True, True, False], [False] * 3]
    assert repeats(replace(table, merged=("From",))) == [[False] * 3, [False, True, False], [False, True, False]]


def test_anchors_stay_when_another_test_is_added() -> None:
    run = synthetic_run()
    other = replace(synthetic_test(), settings=replace(synthetic_settings(), test="iops-own"))
    alone = anchors_of(html_of(build_report(run)))
    for tests in ((other, *run.tests), (*run.tests, run.tests[0])):
        more = anchors_of(html_of(build_report(replace(run, tests=tests))))
        assert set(alone) < set(more)
    assert "iops" in alone
    assert "iops-steady-state-measurement-window" in alone


def test_every_place_has_a_name_of_its_own_and_every_link_leads_somewhere() -> None:
    run = synthetic_run()
    text = html_of(build_report(replace(run, tests=run.tests * 2)))
    names = re.findall(r'\sid="([^"]*)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]*)"', text)) <= set(names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Max IOPS, MRT=27.9 ms - TC2", "max-iops-tc2"), (HOSTILE[2], "script"), ("\u202e", "place"), ("A b", "a-b")],
)
def test_a_text_becomes_a_word_for_addresses(text: str, expected: str) -> None:
    assert slug(text) == expected


def test_equal_names_are_numbered() -> None:
    assert unique(["a", "a", "a-2", "a"]) == ["a", "a-2", "a-2-2", "a-3"]


def test_headings_come_in_order_below_one_title() -> None:
    text = html_of(build_report(synthetic_run()))
    levels = [int(level) for level in re.findall(r"<h(\d)", text.split("<body", 1)[1])]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_standard_header_is_open_on_the_page_of_all_tests_and_folded_where_it_repeats_it() -> None:
    forms = re.findall(r'<details class="form[^"]*"( open)?>', html_of(build_report(synthetic_run())))
    # The first page has none, and those of a test begin with what they show.
    assert [bool(one) for one in forms] == [True, *[False] * (len(forms) - 1)]


@pytest.mark.parametrize(
    ("text", "level", "expected"),
    [
        ("YES", None, ""), ("NO", "bad", "bad"), ("steady", "good", "good"), ("any", "unknown", "faint"),
        ("n/a", "bad", "faint"), ("1,574,857", None, "number"), ("100 %", None, "number"), ("None", None, ""),
    ],
)  # fmt: skip
def test_a_colour_follows_the_level_and_not_the_words(text: str, level: Level | None, expected: str) -> None:
    assert look(text, level) == expected


def _cells(*rows: tuple[str, ...]) -> list[list[Cell]]:
    return table_cells(Table(caption="", columns=tuple("abc"), rows=rows))


def test_numbers_of_a_column_stand_with_their_points_below_each_other() -> None:
    cells = _cells(("a", "1.25", "x"), ("b", "1,000", "2"), ("c", "n/a", "3"), ("d", "0.5", ""))
    assert [(row[1].look, row[1].pad) for row in cells] == [
        ("number", 0.0), ("number", 2.5), ("number faint", 0.0), ("number", 1.0),
    ]  # fmt: skip
    assert [row[2].look for row in cells] == ["", "figure-text", "figure-text", ""]


def test_a_table_keeps_every_text_and_tells_its_name() -> None:
    text = html_of(report_of(page_of(table(("a", "1.5", "YES"), (HOSTILE[0], "2", "NO"), ("c", "", "pass")))))
    assert 'aria-label="Rates"' in text
    assert '<td class="number pad-3">2</td><td>NO</td>' in text
    assert HOSTILE[0] not in text


def test_a_table_without_rows_or_with_a_ragged_one_is_laid_out() -> None:
    ragged = Table(caption="Ragged", columns=("a", "b", "c"), rows=(("1", "2"), ("1", "2", "3")))
    text = html_of(report_of(page_of(replace(ragged, rows=()), ragged)))
    assert text.count("</table>") == 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Strange:
    """What another version may make."""

    block: Literal["strange"] = "strange"
    alt: str = "A block of another version"


def test_a_block_of_an_unknown_kind_costs_no_other() -> None:
    text = html_of(report_of(page_of(Strange(), table(("a", "1"))), label="x"))
    assert "A block of another version" in text
    assert "</table>" in text


def test_a_figure_is_drawn_in_the_page_with_its_numbers_beside_it() -> None:
    text = html_of(report_of(page_of(lines())))
    assert text.count('aria-label="What is seen"') == 2
    (data,) = re.findall(r'id="figures">(.*?)</script>', text)
    found = json.loads(data)["f"]
    assert found["series"] == [["RND", [1, 2], [0.307, 0.25]]]
    assert (found["x"], found["y"]) == ("Round", "Time (ms)")


def test_numbers_of_a_figure_have_nine_digits_and_fields_their_names() -> None:
    x = (0.00035026562500000005, 1.0)
    short = figure_data(replace(lines(), series=(Series(label="a", x=x, y=(24632.123456789, 3.0), colour=0),)))
    assert short["series"] == [["a", [0.000350265625, 1], [24632.1235, 3]]]
    heat = Heat(x_edges=(0.0, 1.0, 2.0), y_edges=(1.0, 10.0), rows=((5.0, None),), colour_title="I/Os")
    ticks = (Tick(at=0.5, label="4"), Tick(at=1.5, label="8"))
    drawn = figure_data(lines(kind="heat", series=(), heat=heat, ticks=ticks, y_scale="log", y_ticks=ticks[:1]))
    assert (drawn["columns"], drawn["rows"], drawn["fields"]) == (["4", "8"], ["1 - 10"], [[5, None]])


def test_style_and_script_are_those_that_the_policy_allows() -> None:
    text = html_of(report_of(page_of()))
    (policy,) = re.findall(r'Security-Policy" content="([^"]*)"', text)
    allowed = unescape(policy)
    parts = [
        *re.findall(r"<style>(.*?)</style>", text, re.DOTALL),
        *re.findall(r"<script>(.*?)</script>", text, re.DOTALL),
    ]
    assert len(parts) == 3
    assert all(f"sha256-{b64encode(sha256(one.encode()).digest()).decode()}" in allowed for one in parts)
    assert "unsafe-inline" not in allowed
    assert not re.search(r"<[^>]* (style|on\w+)=", text)


def test_a_page_of_a_server_links_what_a_file_holds() -> None:
    text = report_html(report_of(page_of()), assets=linked("/assets")).decode()
    files = asset_files()
    assert '<link rel="stylesheet" href="/assets/page.css">' in text
    assert "<style>" not in text
    assert {"page.css", "page.js"} < files.keys()
    named = set(re.findall(r'url\("([^"]*)"\)', files["page.css"].decode()))
    assert named == files.keys() - {"page.css", "page.js"}


def test_the_same_report_gives_the_same_bytes() -> None:
    report = build_report(synthetic_run())
    assert html_of(report) == html_of(report)


def test_text_stands_out_in_both_themes() -> None:
    style = (ASSETS / "report.css").read_text("utf-8")
    colours = {name: both for name, *both in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", style)}
    for theme in (0, 1):
        for text in ("ink", "soft", "link", "good", "bad", "warn"):
            for ground in ("paper", "ground", "shade"):
                assert contrast(colours[text][theme], colours[ground][theme]) >= 4.5, (text, ground, theme)
        assert contrast(colours["link"][theme], colours["here"][theme]) >= 4.5
        assert contrast("#ffffff", colours["alarm"][theme]) >= 4.5


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2. Worked: black on white is 21."""
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_cell_breaks_no_line_inside_a_range_of_rounds_and_stays_escaped() -> None:
    assert _unbroken("average of rounds 1-5, <b>") == ('average of rounds <span class="whole">1-5</span>, &lt;b&gt;')
    assert _unbroken("2011-06-01") == "2011-06-01"


def test_a_log_axis_reaches_to_the_next_labelled_place_where_that_is_near() -> None:
    low, high = log_range((10.0, 3200.0))
    assert (round(low, 2), high) == (7.49, 5000.0)
    assert log_ticks(low, high)[-2:] == (2000.0, 5000.0)
    assert log_ticks(0.02, 60.0) == (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    assert round(log_range((10.0, 1000.0))[1]) == 1259
    assert log_ticks(*log_range((3_900.0, 24_600.0))) == (5_000.0, 10_000.0, 15_000.0, 20_000.0, 25_000.0)


def test_a_legend_lists_lines_as_they_end_unless_they_end_close_to_each_other() -> None:
    def ordered(*ends: float) -> tuple[int, ...]:
        series = tuple(Series(label=f"{end}", x=(1.0,), y=(end,), colour=place) for place, end in enumerate(ends))
        return lines(series=series, legend_title="Size").legend_order

    assert ordered(10.0, 300.0, 2_000.0) == (2, 1, 0)
    assert ordered(2_630.0, 2_625.0, 2_635.0) == (0, 1, 2)
    assert ordered(2_630.0, 2_630.1) == (0, 1)


def test_a_line_that_a_later_one_hides_is_wider_and_many_points_are_small() -> None:
    both = tuple(
        Series(label=f"{rate}", x=(1.0, 2.0), y=(rate, rate), colour=place)
        for place, rate in enumerate((6.30, 6.31, 32.0))
    )
    figure = lines(series=both)
    assert figure.covered == {0}
    assert figure_svg(figure).count(b'stroke-width="3.5"') == 1
    many = replace(both[0], x=tuple(map(float, range(101))), y=(1.0,) * 101, mode="markers")
    assert (many.dense, both[0].dense) == (True, False)


def test_a_column_without_a_value_stands_as_the_numbers_before_it() -> None:
    (row,) = {tuple(cell.look for cell in cells) for cells in _cells(("a", "1.5", "n/a"), ("b", "2.5", "n/a"))}
    assert row == ("", "number", "number faint")


def test_large_numbers_of_a_matrix_are_rounded_for_a_narrow_window() -> None:
    assert _large("8,648.7") == '<span class="exact" data-short="8,649">8,648.7</span>'
    assert (_large("12.6"), _large("8,648.5"), _large("<1")) == ("12.6", "8,648.5", "&lt;1")


def test_an_axis_of_little_more_than_a_decade_is_labelled_all_along() -> None:
    assert log_ticks(240.0, 4_000.0) == (300.0, 500.0, 1_000.0, 2_000.0, 3_000.0)
    assert log_ticks(0.04, 12.0, most=5) == (0.1, 0.3, 1.0, 3.0, 10.0)
