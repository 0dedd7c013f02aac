"""The numbers of a test that a limit is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.nearest import did_you_mean
from assay.summary.measures import key_of_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.compare.limits.model import LimitEntry
    from assay.summary.pages.test_report import TestReport
    from assay.summary.record import Measure

Fault = tuple[str, str, str]
"""Key, reason and remedy of a name that is not known."""


def chosen_measures(report: TestReport, entry: LimitEntry) -> tuple[list[Measure], Fault | None]:
    """Every number of a test that has the name and the cell of a limit, or what of these is not known.

    A value that is a number and that no cell has is no fault: a drive may lack a cell that others have.
    """
    known = report.measures
    if not known:
        return [], None
    if entry.wanted_cell and (fault := _unknown_cell(known, entry)):
        return [], fault
    cells = [one for one in known if _is_in(one, entry)]
    measures = [cell for cell in cells if _has_key(cell, entry)]
    if measures or not cells:
        return measures, None
    names = list(dict.fromkeys(cell.key for cell in cells))
    remedy = did_you_mean(str(entry.measure), names, f"choose from {', '.join(names)}")
    return [], ("measure", f'is "{entry.measure}", which {report.name.casefold()} does not have there', remedy)


def _has_key(measure: Measure, entry: LimitEntry) -> bool:
    """Whether a number is meant; one that is named by its item also by the key of its unit."""
    return measure.key == entry.measure or (bool(entry.item) and key_of_unit(measure.unit) == entry.measure)


def _is_in(measure: Measure, entry: LimitEntry) -> bool:
    if entry.item:
        return measure.printed == entry.item
    cell = dict(measure.cell)
    return all(key in cell and cell[key] == value for key, value in entry.wanted_cell.items())


def _unknown_cell(known: Iterable[Measure], entry: LimitEntry) -> Fault | None:
    values: dict[str, dict[str | int | float, None]] = {"item": {}} if entry.item else {}
    for one in known:
        for key, value in one.cell if not entry.item else (("item", one.printed),):
            values.setdefault(key, {})[value] = None
    for key, value in entry.wanted_cell.items():
        place = "item" if entry.item else f"cell.{key}"
        if key not in values:
            remedy = did_you_mean(key, values, f"choose from {', '.join(values)}")
            return place, "is unknown in this test", remedy
        texts = [text for text in values[key] if isinstance(text, str)]
        if texts and value not in values[key]:
            remedy = did_you_mean(str(value), texts, f"choose from {', '.join(texts[:8])}")
            return place, f'is "{value}", which this test does not have', remedy
    return None
