"""Figures that Iometer wrote beside those of runs, as printed tables: marked as unverified wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.summary.pages.model import Table
from assay.words.printed import NOT_AVAILABLE, number_text, printable
from assay.workloads.iometer.results_shown import UNVERIFIED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.compare.comparison import Comparison
    from assay.compare.unverified import Beside, OldFigure, Unverified

COLUMNS_MAX = 4
"""Subjects beside a file in one table; further ones follow in another."""
NOTES = (
    f"{UNVERIFIED} The file does not say in which state the drive was, what was written to it, or on which host.",
    "Each is a single figure of a file, without spread: no interval, no rank, and no gate uses it.",
)
_KEYS = ("Run", "Specification", "Workload", "Figure", "Unit")


def unverified_tables(comparison: Comparison) -> Iterator[Table]:
    """The files, then for each its figures beside those of the subjects, and why some have no ratio."""
    if not comparison.unverified:
        return
    rows = tuple(
        (one.letter, one.called, one.version, str(one.run_count), "unverified") for one in comparison.unverified
    )
    columns = ("", "Results of Iometer", "Version", "Runs", "Level")
    yield Table(caption="Unverified results next to the runs", columns=columns, rows=rows, notes=NOTES)
    for one in comparison.unverified:
        yield from _figures(one, [subject.letter for subject in comparison.subjects])
        yield from _apart(one)


def _figures(unverified: Unverified, letters: list[str]) -> Iterator[Table]:
    for begin in range(0, len(letters), COLUMNS_MAX):
        places = range(begin, min(begin + COLUMNS_MAX, len(letters)))
        shown = tuple(letters[place] for place in places)
        which = f" to {shown[0]} - {shown[-1]}" if len(letters) > COLUMNS_MAX else ""
        ratios = tuple(f"{unverified.letter} / {letter}" for letter in shown)
        rows = tuple(
            (
                *(str(figure.run), printable(figure.spec), figure.load, figure.title, figure.unit),
                *(_own(figure, figure.entries[place]) for place in places),
                NOT_AVAILABLE if figure.value is None else number_text(figure.value, figure.unit),
                *(_ratio(figure.entries[place]) for place in places),
            )
            for figure in unverified.figures
        )
        columns = (*_KEYS, *shown, f"{unverified.letter} (unverified)", *ratios)
        yield Table(caption=f"{unverified.letter}, unverified, next to the runs{which}", columns=columns, rows=rows)


def _own(figure: OldFigure, entry: Beside) -> str:
    return NOT_AVAILABLE if entry.value is None else number_text(entry.value, figure.unit)


def _ratio(entry: Beside) -> str:
    """A ratio without brackets: there is no interval. Worked: 1.25 -> ``1.250``."""
    return "apart" if entry.ratio is None else f"{entry.ratio:.3f}"


def _apart(unverified: Unverified) -> Iterator[Table]:
    reasons = dict.fromkeys(
        (str(figure.run), printable(figure.spec), entry.letter, entry.reason)
        for figure in unverified.figures
        for entry in figure.entries
        if entry.reason
    )
    if reasons:
        columns = ("Run", "Specification", "Compared with", "Why there is no ratio")
        yield Table(caption=f"{unverified.letter}, unverified, apart", columns=columns, rows=tuple(reasons))
