"""The pages of a comparison, and the one page of a gate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from assay.compare.remark import remarks
from assay.compare.standing import ranked_numbers
from assay.report.comparison.dots import dot_figures
from assay.report.comparison.gate.figure import gate_figures
from assay.report.comparison.states import drives_table
from assay.report.comparison.tables import (
    cell_tables,
    cohort_tables,
    gate_table,
    quoted_tables,
    subject_table,
    summary_tables,
    unlike_tables,
)
from assay.report.comparison.tests import pages_per_test
from assay.report.comparison.unverified_tables import unverified_tables
from assay.report.formats.anchors import slug
from assay.spec.units import count_label
from assay.summary.pages.model import Page, Report, Table
from assay.words.printed import utc, utc_datetime

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.compare.comparison import Comparison
    from assay.compare.gate import GateResult, Verdict
    from assay.compare.subject import Subject
    from assay.report.comparison.tests import Titled
    from assay.summary.pages.model import Block

BLIND_DATE = (2000, 1, 1, 0, 0, 0)
"""A date tells who measured; a blind comparison has this one."""

_VERDICTS: dict[Verdict, str] = {
    "pass": "PASSED",
    "fail": "FAILED",
    "undecided": "CANNOT DECIDE",
}
_ROWS_MAX = 16
"""Rows of tables on one page."""
_GATE_ROWS_MAX = 26
"""Rows of all tables of a gate and bars of its figure on one page."""
_ROWS_STACKED = 26
"""Rows of several tables, one above the other, with their captions, heads and notes."""
_HEAD_ROWS, _NOTE_ROWS = 3, 3
UNVERIFIED_TITLE = "Unverified results next to the runs"
FIRST_TITLE = "Drives compared"
_DRIVES_BESIDE = 6
"""So many drives have their sentences on the sheet of the figure."""
_NARROW = 78
"""Characters of a line of half a page."""
_SAID_MAX = 4
"""Reasons in a banner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What stands on one page below its title: blocks across it, or tables in two columns.

    titles : of what it holds, one of each.
    """

    titles: tuple[str, ...]
    blocks: tuple[Block, ...] = ()
    columns: tuple[tuple[Table, ...], ...] = ()

    @classmethod
    def of(cls, title: str, table: Table) -> Self:
        """A page with one table."""
        narrow = _width(table) <= _NARROW
        return cls(titles=(title,), columns=((table,),)) if narrow else cls(titles=(title,), blocks=(table,))

    def with_table(self, title: str, table: Table) -> Self | None:
        """The page with one more table; None where it has no room for it."""
        titles = tuple(dict.fromkeys((*self.titles, title)))
        if (_width(table) <= _NARROW) != bool(self.columns) or table.spanner:
            return None
        if not self.columns:
            blocks = (*self.blocks, table)
            return replace(self, titles=titles, blocks=blocks) if _height(blocks) <= _ROWS_STACKED else None
        last = (*self.columns[-1], table)
        if _height(last) <= _ROWS_STACKED:
            return replace(self, titles=titles, columns=(*self.columns[:-1], last))
        return replace(self, titles=titles, columns=(*self.columns, (table,))) if len(self.columns) == 1 else None

    def finished(self) -> Self:
        """A page of one table has it across; of several each has its caption."""
        held = [*self.blocks, *(table for column in self.columns for table in column)]
        if len(held) == 1:
            return replace(self, blocks=tuple(held), columns=())
        return replace(
            self,
            blocks=tuple(replace(block, titled=True) if isinstance(block, Table) else block for block in self.blocks),
        )

    @property
    def title(self) -> str:
        """Of all that it holds. Worked: three titles -> ``"The numbers that people quote to Ranks"``."""
        first, last = self.titles[0], self.titles[-1]
        return first if first == last else f"{first}{'; ' if len(self.titles) == 2 else ' to '}{last}"  # noqa: PLR2004


def _width(table: Table) -> int:
    """Characters that a table needs in a line."""
    if table.spanner:
        return _NARROW + 1
    texts = zip(table.columns, *table.rows, strict=True)
    return sum(max(map(len, column)) + 2 for column in texts)


def _height(blocks: Sequence[Block]) -> int:
    """Rows that tables take with their captions, heads and notes."""
    tables = [block for block in blocks if isinstance(block, Table)]
    return sum(len(table.rows) + _HEAD_ROWS + _NOTE_ROWS * len(table.notes) for table in tables)


def comparison_report(comparison: Comparison, published: Sequence[Table] = ()) -> Report:
    """Lay out a comparison: who is best in what, then who is compared, all numbers, ratios, ranks, curves and cells.

    published : figures of others, which stand on a page of their own behind all that was measured.
    """
    subjects = comparison.subjects
    tables = (
        *((table, "What is compared") for table in (subject_table(subjects), *unlike_tables(comparison))),
        *((table, "Summary performance") for table in summary_tables(comparison)),
        *((table, table.caption) for table in quoted_tables(comparison)),
        *((table, table.caption) for table in cohort_tables(comparison)),
    )
    cells = ((table, table.caption) for table in cell_tables(comparison))
    parts = [
        *_first(comparison),
        *map(_sheet, pages_per_test(comparison)),
        *_paged(tables),
        *_paged(cells),
        *_paged((table, UNVERIFIED_TITLE) for table in unverified_tables(comparison)),
        *([Sheet(titles=("Published figures",), blocks=tuple(published))] if published else ()),
    ]
    return _report("Comparison", parts, subjects, blind=comparison.blind, banner=_banner(comparison))


def _first(comparison: Comparison) -> list[Sheet]:
    """Where each drive stands, a dot per drive and number, and a sentence and the states of each; more where many."""
    numbers = tuple(ranked_numbers(comparison))
    figures = list(dot_figures(comparison, numbers))
    if not figures:
        return []
    table = drives_table(comparison, remarks(comparison.subjects, numbers))
    alone = len(comparison.subjects) > _DRIVES_BESIDE
    sheets = [Sheet(titles=(FIRST_TITLE,), blocks=(figure,)) for figure in figures]
    if alone:
        return [*_paged([(table, FIRST_TITLE)]), *sheets]
    return [replace(sheets[0], blocks=(table, *sheets[0].blocks)), *sheets[1:]]


def gate_report(gate_result: GateResult) -> Report:
    """Lay out a gate as one page; further ones only where there are more numbers than it holds.

    Bars of the changes first, then every number with its verdict and the reason for it, then who is compared.
    """
    subjects = (gate_result.baseline, *gate_result.subjects)
    first, *rest = _parts_of(gate_table(gate_result))
    caption = "A is the baseline" + (
        f", {len(gate_result.baseline.runs)} repeats" if len(gate_result.baseline.runs) > 1 else ""
    )
    tables = (first, subject_table(subjects, caption), *unlike_tables(gate_result))
    title = "Against the baseline"
    figures = list(gate_figures(gate_result))
    one_page = sum(len(table.rows) for table in tables) + len(gate_result.gated) <= _GATE_ROWS_MAX
    head = [Sheet(titles=(title,), blocks=(*tables, *figures))] if one_page else [
        *(Sheet(titles=(title,), blocks=(figure,)) for figure in figures),
        *_paged((table, title) for table in tables),
    ]  # fmt: skip
    parts = [*head, *(_sheet((title, (one,))) for one in rest)]
    count = gate_result.count
    counts = f"{count('fail')} failed, {count('undecided')} undecided, {count('pass')} passed"
    return _coloured(
        _report("Gate", parts, subjects, blind=gate_result.blind, banner=None), gate_result.verdict, counts
    )


def _coloured(report: Report, verdict: Verdict, counts: str) -> Report:
    """The verdict of a gate on every page: in red where it failed, in amber where it cannot decide, else as a title."""
    words = f"GATE: {_VERDICTS[verdict]} - {counts}"
    pages = report.pages
    if verdict == "fail":
        return replace(report, pages=tuple(replace(page, banner=words) for page in pages))
    if verdict == "undecided":
        return replace(report, pages=tuple(replace(page, notice=words) for page in pages))
    return replace(report, pages=tuple(replace(page, subtitle=words) for page in pages))


def _report(
    title: str,
    parts: Iterable[Sheet],
    subjects: Sequence[Subject],
    *,
    blind: bool,
    banner: str | None,
) -> Report:
    pages = [
        Page(
            title=title,
            subtitle=part.title,
            header=None,
            banner=banner,
            blocks=part.blocks,
            columns=part.columns,
            anchor=slug(part.title),
        )
        for part in parts
    ]
    numbered = tuple(replace(page, place=f"{place} of {len(pages)}") for place, page in enumerate(pages, 1))
    tools = {f"{run.run.platform.tool} {run.run.platform.tool_version}" for subject in subjects for run in subject.runs}
    return Report(
        title=f"{title} of {count_label(len(subjects), 'drive')}" + (", blind" if blind else ""),
        label="; ".join(dict.fromkeys(subject.label for subject in subjects)),
        colophon=", ".join(sorted(tools)),
        date=BLIND_DATE if blind else utc_datetime(_latest_ns(subjects)).timetuple()[:6],
        pages=numbered,
        facts=_facts(subjects, blind=blind),
    )


def _paged(tables: Iterable[tuple[Table, str]]) -> list[Sheet]:
    """Tables under their titles: narrow ones in two columns of a page, wide ones one above the other, long in parts."""
    sheets: list[Sheet] = []
    for table, title in tables:
        for part in _parts_of(table):
            held = sheets[-1].with_table(title, part) if sheets else None
            if held:
                sheets[-1] = held
            else:
                sheets.append(Sheet.of(title, part))
    return [sheet.finished() for sheet in sheets]


def _sheet(titled: Titled) -> Sheet:
    title, blocks = titled
    return Sheet(titles=(title,), blocks=tuple(blocks))


def _parts_of(table: Table) -> list[Table]:
    """A table as parts that each fit a page; the notes stand below the last."""
    begins = range(0, max(len(table.rows), 1), _ROWS_MAX)
    parts = [replace(table, rows=table.rows[begin : begin + _ROWS_MAX], notes=()) for begin in begins]
    return [*parts[:-1], replace(parts[-1], notes=table.notes)]


def _latest_ns(subjects: Sequence[Subject]) -> int:
    """When the last of the runs began: the same runs give the same report."""
    return max(run.run.started_wall_ns for subject in subjects for run in subject.runs)


def _banner(comparison: Comparison) -> str | None:
    """That subjects stand apart, with the reason, and that files are unverified, on every page."""
    said = [
        f"{letter} APART: {'; '.join(dict.fromkeys(one.what for one in listed))}"
        for letter, listed in comparison.unlike.items()
    ]
    more = [f"{len(said) - _SAID_MAX} MORE APART"] if len(said) > _SAID_MAX else []
    files = [f"{', '.join(one.letter for one in comparison.unverified)} UNVERIFIED: figures of Iometer"]
    return " - ".join((*said[:_SAID_MAX], *more, *(files if comparison.unverified else ()))) or None


def _facts(subjects: Sequence[Subject], *, blind: bool) -> str:
    """When, by which edition, and how many. Worked: ``2012-05-01 08:00 UTC to ... - PTS-C 1.0 - 3 drives, 3 runs``."""
    runs = [run for subject in subjects for run in subject.runs]
    dates = sorted(run.run.started_wall_ns for run in runs)
    when = "dates withheld" if blind else " to ".join(dict.fromkeys((utc(dates[0]), utc(dates[-1]))))
    editions = "; ".join(dict.fromkeys(str(run.tests[0].edition.title) for run in runs))
    counts = f"{count_label(len(subjects), 'drive')}, {count_label(len(runs), 'run')}"
    return f"{when} \N{MIDDLE DOT} {editions} \N{MIDDLE DOT} {counts}"
