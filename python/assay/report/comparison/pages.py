"""The pages of a comparison, the one page of a gate, and the survey that was published in 2010."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING

from assay.compare.comparison import remarks
from assay.report.comparison.figures import dot_figures, pages_per_test
from assay.report.comparison.gate import VERDICT_WORDS, gate_figures
from assay.report.comparison.tables import (
    cell_tables,
    cohort_tables,
    drives_table,
    gate_table,
    quoted_tables,
    subject_table,
    summary_tables,
    unlike_tables,
    unverified_tables,
)
from assay.spec.units import count_label
from assay.summary.pages.model import Page, Report, Table, slug
from assay.words.printed import utc, utc_datetime

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.compare.comparison import Comparison
    from assay.compare.gate import GateResult, Verdict
    from assay.compare.subject import Subject
    from assay.summary.pages.model import Block


BLIND_DATE = (2000, 1, 1, 0, 0, 0)
"""A date tells who measured; a blind comparison has this one."""

FIRST_TITLE = "Drives compared"
_DRIVES_BESIDE = 6
"""So many drives have their sentences on the sheet of the figure."""
_REASONS_MAX = 4
"""Reasons in a banner."""


def comparison_report(comparison: Comparison, published: Sequence[Table] = ()) -> Report:
    """Lay out a comparison: who is best in what, then who is compared, all numbers, ratios, ranks, curves and cells.

    published : figures of others, which stand on a page of their own after all that was measured.
    """
    subjects = comparison.subjects
    pages = (
        *_first(comparison),
        *(_page(title, *blocks) for title, blocks in pages_per_test(comparison)),
        _page("What is compared", subject_table(subjects), *unlike_tables(subjects)),
        *(
            _page(table.caption, table)
            for table in (
                *summary_tables(comparison),
                *quoted_tables(comparison),
                *cohort_tables(comparison),
                *cell_tables(comparison),
                *unverified_tables(comparison),
            )
        ),
        *([_page("Published figures", *published)] if published else ()),
    )
    banner = _banner(comparison)
    return _report("Comparison", (replace(page, banner=banner) for page in pages), subjects, blind=comparison.blind)


def _page(title: str, *blocks: Block) -> Page:
    """A page of a report; one of tables alone runs on over as many sheets as it needs."""
    runs_on = all(block.block == "table" for block in blocks)
    return Page(title="", subtitle=title, header=None, banner=None, blocks=blocks, anchor=slug(title), runs_on=runs_on)


def _first(comparison: Comparison) -> list[Page]:
    """Where each drive stands, a dot per drive and number, and a sentence and the states of each; more where many."""
    figures = list(dot_figures(comparison))
    if not figures:
        return []
    table = drives_table(comparison, remarks(comparison))
    if len(comparison.subjects) > _DRIVES_BESIDE:
        return [_page(FIRST_TITLE, table), *(_page(FIRST_TITLE, figure) for figure in figures)]
    return [_page(FIRST_TITLE, table, figures[0]), *(_page(FIRST_TITLE, figure) for figure in figures[1:])]


def gate_report(gate_result: GateResult) -> Report:
    """Lay out a gate as one page: every number with its verdict and the reason for it, who is compared, and bars."""
    subjects = (gate_result.baseline, *gate_result.subjects)
    repeats = gate_result.baseline.run_count
    caption = "A is the baseline" + (f", {repeats} repeats" if repeats > 1 else "")
    tables = (gate_table(gate_result), subject_table(subjects, caption), *unlike_tables(subjects))
    page = replace(_page("Against the baseline", *tables, *gate_figures(gate_result)), runs_on=True)
    count = gate_result.count
    counts = f"{count('fail')} failed, {count('undecided')} undecided, {count('pass')} passed"
    return _report("Gate", [_coloured(page, gate_result.verdict, counts)], subjects, blind=gate_result.blind)


def _coloured(page: Page, verdict: Verdict, counts: str) -> Page:
    """The verdict of a gate on its page: in red where it failed, in amber where it cannot decide, else as a title."""
    words = f"GATE: {VERDICT_WORDS[verdict].upper()} - {counts}"
    if verdict == "fail":
        return replace(page, banner=words)
    return replace(page, notice=words) if verdict == "undecided" else replace(page, subtitle=words)


def _report(title: str, pages: Iterable[Page], subjects: Sequence[Subject], *, blind: bool) -> Report:
    summaries = [run.summary for subject in subjects for run in subject.runs]
    tools = {f"{summary.platform.tool} {summary.platform.tool_version}" for summary in summaries}
    latest_ns = max(summary.started_wall_ns for summary in summaries)
    return Report(
        title=f"{title} of {count_label(len(subjects), 'drive')}" + (", blind" if blind else ""),
        label="; ".join(dict.fromkeys(subject.label for subject in subjects)),
        colophon=", ".join(sorted(tools)),
        # The latest begin of a run: the same runs give the same report.
        date=BLIND_DATE if blind else utc_datetime(latest_ns).timetuple()[:6],
        pages=tuple(replace(page, title=title) for page in pages),
        facts=_facts(subjects, blind=blind),
    )


def _banner(comparison: Comparison) -> str | None:
    """That subjects stand apart, with the reason, and that files are unverified, on every page."""
    apart = [
        f"{subject.letter} APART: {'; '.join(dict.fromkeys(unlikeness.what for unlikeness in subject.unlike))}"
        for subject in comparison.subjects
        if subject.unlike
    ]
    more = [f"{len(apart) - _REASONS_MAX} MORE APART"] if len(apart) > _REASONS_MAX else []
    files = [f"{', '.join(file.letter for file in comparison.unverified)} UNVERIFIED: figures of Iometer"]
    return " - ".join((*apart[:_REASONS_MAX], *more, *(files if comparison.unverified else ()))) or None


def _facts(subjects: Sequence[Subject], *, blind: bool) -> str:
    """When, by which edition, and how many. Worked: ``2012-05-01 08:00 UTC to ... - PTS-C 1.0 - 3 drives, 3 runs``."""
    runs = [run for subject in subjects for run in subject.runs]
    dates = sorted(run.summary.started_wall_ns for run in runs)
    when = "dates withheld" if blind else " to ".join(dict.fromkeys((utc(dates[0]), utc(dates[-1]))))
    editions = "; ".join(dict.fromkeys(run.summary.edition_title for run in runs))
    counts = f"{count_label(len(subjects), 'drive')}, {count_label(len(runs), 'run')}"
    return f"{when} \N{MIDDLE DOT} {editions} \N{MIDDLE DOT} {counts}"


_FILE = "survey-2010.toml"


def published_tables() -> tuple[Table, ...]:
    """The pool's IOPS of 4 KiB random accesses: fresh against steady writes, and steady reads and writes.

    Source: Calypso Blind Survey 2010. Worked: MLC-3 from 50,156 to 2,716 IOPS -> ``"0.054"``.
    """
    data = tomllib.loads(resources.files("assay.spec").joinpath(_FILE).read_text("utf-8"))
    note = f"Published in {data['source']}, not measured here. {data['note']}"
    fresh = tuple(
        (drive["drive"], f"{drive['fresh']:,}", f"{drive['steady']:,}", f"{drive['steady'] / drive['fresh']:.3f}")
        for drive in data["fresh"]
    )
    steady = tuple((drive["drive"], f"{drive['read']:,}", f"{drive['write']:,}") for drive in data["steady"])
    return (
        Table(
            caption="Pool of 2010: RND 4KiB W, fresh and steady",
            columns=("Drive", "Fresh IOPS", "Steady IOPS", "Steady over fresh"),
            rows=fresh,
            notes=(note,),
        ),
        Table(
            caption="Pool of 2010: RND 4KiB at steady state",
            columns=("Drive", "Read IOPS", "Write IOPS"),
            rows=steady,
            notes=(note,),
        ),
    )
