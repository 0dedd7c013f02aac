"""What stands on the pages of a PDF can be read: checked on the glyphs of a report of every kind of test.

Each rule of the checker is held against a page made up to break it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import typst
from assay.pages.model import Figure, Header, Page, Report, Series, Table, Tick
from assay.report import build_report, reports_of_tests
from assay.report.figure import figure_svg
from assay.report.front import Paper, report_front
from assay.report.glyphs import FONTS
from assay.report.pdf import report_pdf
from every_kind import EVERY
from layout_check import (
    few_ticks,
    nameless_gaps,
    report_faults,
    sheet_faults,
    split_numbers,
    unknowns,
)
from pypdfium2 import PdfDocument
from report_run import FALLING, synthetic_run, synthetic_test

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records import StoredRun
    from layout_check import Fault

SHORT_TABLE_ROWS = 8
"""A page of short tables and no figure may be half empty: the specification gives them a page of their own."""


@pytest.mark.parametrize("kind", EVERY)
def test_every_page_of_a_report_can_be_read(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    run = quiet(kind)
    report = build_report(run)
    paper = Paper(report=report, front=report_front(run, reports_of_tests(run), None))
    faults = report_faults(printed(paper), report)
    assert [fault for fault in faults if not _has_reason(fault, report)] == []
    assert [fault for figure in paper.figures for fault in few_ticks(figure)] == []
    assert [label for figure in report.figures for label in nameless_gaps(figure)] == []


def test_letters_on_both_sides_of_a_place_to_break_are_glyphs_of_their_own(quiet: Callable[[str], StoredRun]) -> None:
    run = quiet("lat")
    assert run.journal is not None
    report = build_report(replace(run, journal=replace(run.journal, hash="9fb19973157cacaf" + "f0a69ffc6299d3cf" * 3)))
    faults = report_faults(printed(Paper(report=report)), report)
    assert [fault for fault in faults if fault.rule == "overlap"] == []


def test_chapters_and_pages_are_in_the_outline_and_summaries_link_to_them(quiet: Callable[[str], StoredRun]) -> None:
    report = build_report(quiet("iops"))
    document = PdfDocument(printed(Paper(report=report)))
    pages = [*report.pages, *report.disclosure]
    outline = list(document.get_toc())
    assert [entry.get_title() for entry in outline] == [page.subtitle for page in pages]
    assert [entry.level for entry in outline] == [0 if page.chapter else 1 for page in pages]
    first, summary = document[0].get_textpage().get_text_range(), document[1].get_textpage().get_text_range()
    assert all(page.subtitle in first for page in pages[1:] if page.chapter)
    assert all(f"{page.subtitle} {page.place}" in summary.replace("\r\n", " ") for page in report.pages[2:-1])


def test_the_summary_of_many_tests_runs_over_sheets_and_not_into_the_footer() -> None:
    base = synthetic_test(tracked=FALLING, ended="round-limit")
    names = ("iops", *(f"iops-{place}" for place in range(2, 9)))
    tests = tuple(replace(base, settings=replace(base.settings, test=name)) for name in names)
    report = build_report(replace(synthetic_run(), tests=tests))
    report = replace(report, pages=report.pages[-1:], disclosure=())
    faults = report_faults(printed(Paper(report=report)), report)
    assert [fault for fault in faults if fault.rule != "blank"] == []


def test_each_sheet_behind_the_pages_has_a_number_of_its_own(quiet: Callable[[str], StoredRun]) -> None:
    report = build_report(quiet("iops"))
    document = PdfDocument(printed(Paper(report=report)))
    sheets = [sheet.get_textpage().get_text_range() for sheet in document][len(report.pages) - 1 :]
    assert len(sheets) >= 1 + len(report.disclosure)
    for number, text in enumerate(sheets, 1):
        assert f"A{number} of A{len(sheets)}" in text


def printed(paper: Paper) -> bytes:
    return report_pdf(paper, {one.name: figure_svg(one) for one in paper.figures})


def _has_reason(fault: Fault, report: Report) -> bool:
    """A sheet of the front has as little on it as its test shows."""
    return fault.rule == "blank" and (not fault.page or _short(fault.page, report))


def _short(place: str, report: Report) -> bool:
    (page,) = (page for page in (*report.pages, *report.disclosure) if page.place == place)
    blocks = [*page.blocks, *(block for column in page.columns for block in column)]
    tables = [block for block in blocks if isinstance(block, Table)]
    return (
        not any(isinstance(block, Figure) for block in blocks)
        and sum(len(table.rows) for table in tables) <= SHORT_TABLE_ROWS
    )


FULL = "#v(1fr) a #v(1fr) b #v(1fr) c #v(1fr)"
MADE_UP = {
    "overlap": f"{FULL} #place(top)[#pad(60pt)[covered]] #place(top)[#pad(62pt)[covering]]",
    "edge": f"{FULL} #place(top + right, dx: 80pt)[outside]",
    "small": f"{FULL} #scale(60%)[shrunk]",
    "blank": "a #v(45%) b #v(1fr) c",
    "key": f"{FULL} logical_cpu_count",
}


@pytest.mark.parametrize("rule", MADE_UP)
def test_a_made_up_page_breaks_each_rule_alone(rule: str, tmp_path: Path) -> None:
    assert _rules(FULL, tmp_path) == set()
    assert _rules(MADE_UP[rule], tmp_path) == {rule}


def _rules(source: str, folder: Path) -> set[str]:
    file = folder / "page.typ"
    file.write_text(f'#set page(paper: "a5")\n#set text(font: "DejaVu Sans", size: 10pt)\n{source}\n', "ascii")
    pdf = typst.compile(file, root=folder, font_paths=[FONTS], ignore_system_fonts=True)
    assert isinstance(pdf, bytes)
    return {fault.rule for fault in sheet_faults(1, PdfDocument(pdf)[0])}


HEADER = Header(form="1.0", organisation="", revision="", dates=(), parties=(), groups=())
PAGE = Page(
    title="",
    subtitle="Of it",
    header=HEADER,
    banner=None,
    blocks=(Table(caption="", columns=("",), rows=(("1,234",),)),),
)


def test_a_number_over_two_lines_and_a_header_of_unknowns_are_found() -> None:
    assert split_numbers(PAGE, ["all 1,234 of them"]) == []
    assert split_numbers(PAGE, ["all 1,2", "34 of them"]) == ["1,234"]
    assert unknowns(PAGE, ["unknown"] * 5 + ["Of it"] + ["unknown"] * 9) == []
    assert unknowns(PAGE, ["unknown"] * 6 + ["Of it"]) == ["6 times"]


def test_an_axis_with_one_label_and_a_curve_without_a_point_are_found() -> None:
    line = Series(label="line", x=(1.0, 2.0), y=(10.8, 12.4), colour=0)
    figure = Figure(name="f", kind="lines", alt="", x_title="x", y_title="y", y_scale="log", series=(line,))
    assert few_ticks(figure) == []
    lonely = replace(figure, ticks=(Tick(at=1.0, label="one"),))
    assert few_ticks(lonely) == ["f: x axis ['one']"]
    assert nameless_gaps(replace(figure, series=(replace(line, x=(), y=()),))) == ["line"]
    assert nameless_gaps(replace(figure, series=(replace(line, x=(), y=(), label="line n/a"),))) == []
