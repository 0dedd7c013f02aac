"""Facts that headers, summaries and tables print, held against the report published in 2012 and against each other."""

from __future__ import annotations

import re
from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from assay.procedures.hir.result import idle_recovery_result
from assay.procedures.hir.run import IdleRecoverySettings
from assay.report import build_report
from assay.results.step import iops
from assay.summary.pages.model import Table, Text
from every_kind import EVERY, run_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.summary.pages.model import Report


def rows(report: Report, caption: str) -> list[dict[str, str]]:
    """The rows of every printed table of this caption, by column."""
    found = [block for page in report.pages for block in page.all_blocks if isinstance(block, Table)]
    tables = [table for table in found if table.caption == caption]
    return [dict(zip(table.columns, row, strict=True)) for table in tables for row in table.rows]


def test_write_saturation_prints_the_ranges_of_the_published_report(quiet: Callable[[str], StoredRun]) -> None:
    # "Understanding SSD Performance Using the SNIA SSS PTS" (2012): PC AR and AR AMOUNT 100 %, no AR AMT in summaries.
    report = build_report(quiet("wsat"))
    (header, *_) = (page.header for page in report.pages if "Report Page" in page.title)
    entries = {name: text for group in header.groups for name, text in group.entries}
    assert (entries["PC AR"], entries["AR AMOUNT"], entries["AR Segments"]) == ("100 % (WDPC)", "100 %", "N/A")
    for caption in ("Tests", "Set-up"):
        (row,) = rows(report, caption)
        assert (row["PC AR"], row["TEST AR"], row["AR AMT"], row["SEGMENTS"]) == (
            "100 % (WDPC)",
            "100 %",
            "100 %",
            "N/A",
        )


def test_the_recovery_time_names_its_share(quiet: Callable[[str], StoredRun]) -> None:
    report = build_report(quiet("xsr"))
    items = [row["Select Performance Data"] for row in rows(report, "Select Performance Data")]
    assert "Recovery time to 95 % of the first group's mean" in items


def test_idle_recovery_has_a_second_baseline_from_its_return_phases(quiet: Callable[[str], StoredRun]) -> None:
    run = quiet("hir")
    (test,) = run.tests
    result = idle_recovery_result(test, run.identity.capacity_bytes)
    cycles = test.settings_as(IdleRecoverySettings).cycles
    states = [
        [step for one in test.stage("segment") if one.index == place for step in one.steps] for place in range(1, 6)
    ]
    returned = fmean(float(iops(step)) for steps in states for step in steps[2 * cycles :])
    assert result.return_iops is not None
    assert abs(result.return_iops / returned - 1) < 1e-9
    for state in result.states:
        assert state.over_return == (state.mean_iops or 0) / result.return_iops
    assert len(rows(build_report(run), "Mean burst IOPS against the baseline")[0]) == 8


@pytest.mark.parametrize("kind", ["xsr", "study-oio", pytest.param("hir", marks=pytest.mark.long)])
def test_no_value_without_a_rule_is_called_steady(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    found = rows(build_report(quiet(kind)), "Select Performance Data")
    assert found
    assert not any("steady state" in row["Basis"] for row in found)
    assert any(row["Measured"] != "n/a" for row in found)


def test_access_groups_of_the_same_accesses_have_names_of_their_own(quiet: Callable[[str], StoredRun]) -> None:
    items = [row["Select Performance Data"] for row in rows(build_report(quiet("xsr")), "Select Performance Data")]
    items = items[: len(items) // 2]
    assert len(set(items)) == len(items)
    assert ["group 1" in items[0], "group 2" in items[1], "group 3" in items[2]] == [True] * 3


_LONG = re.compile(r"\bhours?\b|\bminutes?\b|\b\d+ h\b|\b\d\d+ min\b|\b[1-9] min\b(?! \d)")
"""Lengths that no run has whose steps are a thousandth of the edition's; a time limit of a day is 1 min 26 s."""


@pytest.mark.parametrize("kind", EVERY)
def test_sentences_on_a_scaled_run_have_its_own_lengths(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    report = build_report(quiet(kind))
    said = [text for row in rows(report, "Test Description") for text in row.values()]
    said += [text for page in report.pages for one in page.blocks if isinstance(one, Text) for text in one.paragraphs]
    said += [
        text
        for page in report.disclosure
        for column in page.columns
        for one in column
        if isinstance(one, Table) and one.caption.endswith(": settings")
        for row in one.rows
        for text in row
        if row[0] == "Preparation"
    ]
    said += [text for page in report.pages for one in page.blocks if isinstance(one, Table) for text in one.notes]
    assert len(said) > 3
    assert [text for text in said if _LONG.search(text)] == []


@pytest.mark.parametrize("kind", EVERY)
def test_each_figure_has_a_sentence_for_a_reader_who_never_saw_the_specification(
    kind: str, quiet: Callable[[str], StoredRun]
) -> None:
    figures = build_report(quiet(kind)).figures
    assert figures
    assert [figure.name for figure in figures if "?" not in figure.reading or not figure.reading.endswith(".")] == []
    assert [figure.reading for figure in figures if _LONG.search(figure.reading)] == []


def test_the_purpose_of_a_study_stands_with_its_table(quiet: Callable[[str], StoredRun]) -> None:
    pages = [page for page in build_report(quiet("study-oio")).pages if page.subtitle.endswith(": Table")]
    for page in pages:
        assert not any(isinstance(block, Text) for block in page.blocks)
        first = page.blocks[0]
        assert isinstance(first, Table)
        assert first.notes[0].startswith("How do IOPS and response time depend")


def test_a_percentile_that_needs_more_i_os_names_the_page_that_has_it(tmp_path: Path) -> None:
    pages = build_report(run_of("lat", tmp_path / "run", edition="pts-e-2.0")).pages
    (page,) = (one for one in pages if one.subtitle.startswith("IOPS and 99.999 % Response Time"))
    (note,) = (block.paragraphs[0] for block in page.all_blocks if isinstance(block, Text))
    named = note.partition("beyond it. ")[2].partition(" was measured longer")[0]
    assert note.startswith("99.999 % is n/a where fewer than ten I/Os of the window lie beyond it.")
    assert named
    assert any(one.subtitle.startswith(f"Response Time Histogram - {named}") for one in pages)


def test_two_averages_of_one_cell_are_told_apart_where_they_stand(quiet: Callable[[str], StoredRun]) -> None:
    report = build_report(quiet("lat"))
    tables = [block for page in report.pages for block in page.all_blocks if isinstance(block, Table)]
    (average,) = (table for table in tables if table.caption == "Average response time (ms)")
    assert any("mean of the rounds' averages" in note and "Mean under Response Times" in note for note in average.notes)
    behind = [block for page in report.disclosure for block in page.all_blocks if isinstance(block, Table)]
    assert any("Mean" in table.columns for table in behind if table.caption.startswith("LAT: response times"))
