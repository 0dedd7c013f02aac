"""What stands on the pages of a PDF can be read: checked on the glyphs of a report of every kind of test.

Each rule of the checker is held against a page made up to break it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import typst
from assay.report import build_report, records_of_tests
from assay.report.first_page.front import Paper, report_front
from assay.report.first_page.run_summary import summarise_run
from assay.report.formats.pdf import FONTS, figure_svg, report_pdf
from assay.summary.pages.model import Figure, Header, Page, Report, Series, Table, Tick
from every_kind import EVERY, KINDS
from layout_check import (
    FURTHER,
    few_ticks,
    front_names,
    nameless_gaps,
    own_sheets,
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


def paper_of(run: StoredRun) -> Paper:
    """What stands on paper of a run."""
    return Paper(
        report=build_report(run),
        front=report_front(run, tests := records_of_tests(run), summarise_run(run, tests, None)),
    )


def pictures_of(paper: Paper) -> dict[str, bytes]:
    return {one.name: figure_svg(one) for one in paper.figures}


def many_tests() -> StoredRun:
    """Eight tests, none of which became steady."""
    base = synthetic_test(tracked=FALLING, ended="round-limit")
    names = ("iops", *(f"iops-{place}" for place in range(2, 9)))
    return replace(
        synthetic_run(), tests=tuple(replace(base, settings=replace(base.settings, test=one)) for one in names)
    )


LIKE_OTHERS = {
    *("study-data-pattern", "study-write-cache", "study-over-provisioning", "study-active-range"),
    *("study-workload-dependency", "study-cell-order", "study-alignment"),
}
"""Studies whose tables and figures are those of others with fewer or other rows."""


@pytest.mark.parametrize("kind", [one for name, one in zip(KINDS, EVERY, strict=True) if name not in LIKE_OTHERS])
def test_every_page_of_a_report_can_be_read(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    paper = paper_of(quiet(kind))
    pictures = pictures_of(paper)
    assert len(pictures) == len(paper.figures)
    faults = report_faults(report_pdf(paper, pictures), paper)
    assert [fault for fault in faults if not _has_reason(fault, paper)] == []
    assert [fault for figure in paper.figures for fault in few_ticks(figure, pictures[figure.name])] == []
    assert [label for figure in paper.figures for label in nameless_gaps(figure)] == []


def test_letters_on_both_sides_of_a_place_to_break_are_glyphs_of_their_own(quiet: Callable[[str], StoredRun]) -> None:
    run = quiet("lat")
    assert run.journal is not None
    paper = paper_of(replace(run, journal=replace(run.journal, hash="9fb19973157cacaf" + "f0a69ffc6299d3cf" * 3)))
    faults = report_faults(report_pdf(paper, pictures_of(paper)), paper)
    assert [fault for fault in faults if fault.rule == "overlap"] == []


def test_chapters_and_pages_are_in_the_outline_and_summaries_link_to_them(quiet: Callable[[str], StoredRun]) -> None:
    paper = paper_of(quiet("iops"))
    report = paper.report
    document = PdfDocument(report_pdf(paper, pictures_of(paper)))
    pages = [*report.pages, *report.disclosure]
    outline = list(document.get_toc())
    assert front_names(paper) == ["Summary", "Method"]
    assert [entry.get_title() for entry in outline] == [*front_names(paper), *(page.subtitle for page in pages)]
    assert [entry.level for entry in outline] == [0, 0, *(0 if page.chapter else 1 for page in pages)]
    numbers = [sheets[0] - 1 for _, sheets in own_sheets(document, paper)]
    first, summary = (document[number].get_textpage().get_text_range() for number in numbers[:2])
    assert all(page.subtitle in first for page in pages[1:] if page.chapter)
    assert all(f"{page.subtitle} {page.place}" in summary.replace("\r\n", " ") for page in report.pages[2:-1])


def test_the_front_of_many_tests_has_a_sheet_for_each_in_the_outline() -> None:
    run = many_tests()
    paper = paper_of(replace(run, tests=run.tests[:3]))
    pdf = report_pdf(paper, pictures_of(paper))
    names = ["Summary", "IOPS", "IOPS-2", "IOPS-3", "Method"]
    assert [entry.get_title() for entry in PdfDocument(pdf).get_toc()][: len(names)] == names
    faults = [fault for fault in report_faults(pdf, paper) if fault.page in names]
    assert [fault for fault in faults if not _has_reason(fault, paper)] == []
    # All figures of the first test stand on the summary.
    assert [fault.page for fault in faults] == ["IOPS"]


def test_the_summary_of_many_tests_runs_over_sheets_and_not_into_the_footer() -> None:
    report = build_report(many_tests())
    paper = Paper(report=replace(report, pages=report.pages[-1:], disclosure=()))
    faults = report_faults(report_pdf(paper, {}), paper)
    assert [fault for fault in faults if fault.rule != "blank"] == []


def test_each_sheet_behind_the_pages_has_a_number_of_its_own(quiet: Callable[[str], StoredRun]) -> None:
    paper = paper_of(quiet("iops"))
    document = PdfDocument(report_pdf(paper, pictures_of(paper)))
    behind = dict(own_sheets(document, paper))[paper.report.pages[-1]][0] - 1
    sheets = [sheet.get_textpage().get_text_range() for sheet in document][behind:]
    assert len(sheets) >= 1 + len(paper.report.disclosure)
    for number, text in enumerate(sheets, 1):
        assert f"A{number} of A{len(sheets)}" in text


def _has_reason(fault: Fault, paper: Paper) -> bool:
    return fault.rule == "blank" and (_is_bare(fault.page, paper) or _short(fault.page, paper.report))


def _is_bare(name: str, paper: Paper) -> bool:
    """Whether a sheet of the front has no figures: of a test without any, or behind the first one of a part."""
    tests = paper.front.tests if paper.front else ()
    return name.endswith(FURTHER) or any(", ".join(one.labels) == name and not one.figures for one in tests)


def _short(place: str, report: Report) -> bool:
    for page in (*report.pages, *report.disclosure):
        if page.place == place:
            tables = [block for block in page.all_blocks if isinstance(block, Table)]
            pictured = any(isinstance(block, Figure) for block in page.all_blocks)
            return not pictured and sum(len(table.rows) for table in tables) <= SHORT_TABLE_ROWS
    return False


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
    assert few_ticks(figure, figure_svg(figure)) == []
    lonely = replace(figure, ticks=(Tick(at=1.0, label="one"),))
    assert few_ticks(lonely, figure_svg(lonely)) == ["f: x axis ['one']"]
    assert nameless_gaps(replace(figure, series=(replace(line, x=(), y=()),))) == ["line"]
    assert nameless_gaps(replace(figure, series=(replace(line, x=(), y=(), label="line n/a"),))) == []
