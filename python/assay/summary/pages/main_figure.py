"""Figures that answer the question of a test, and how much each has to show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from assay.summary.pages.tail import tail_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.results import ResponseTimes
    from assay.summary.pages.model import Figure

FigureKind = Literal["saturation", "matrix", "tail", "demand", "recovery", "curve"]
FIGURE_KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
"""In the order in which a summary prefers them."""

FLAT_RATIO = 1.25
"""A figure whose highest value is below this times its lowest has little to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainFigure:
    """One of the few figures of a test's page.

    kind : what it shows; two of one kind are not shown together on a summary. title : a noun phrase.
    note : what it is of, such as demand and unit, in small type. figure : as data.
    """

    kind: FigureKind
    title: str
    figure: Figure
    note: str = ""

    @property
    def varies(self) -> bool:
        """Whether its highest value is clearly above its lowest. Worked: 24.6k and 3.95k IOPS -> yes; 667k -> no."""
        return _ratio(self._values()) >= FLAT_RATIO

    def _values(self) -> list[float]:
        heat = self.figure.heat
        return [one for row in heat.rows for one in row if one] if heat else self.figure.y_values


def main_figures(
    prefix: str, drawn: Iterable[tuple[FigureKind, str, Figure | None]], note: str = ""
) -> Iterator[MainFigure]:
    """Figures of the pages of a test as those of its summary. drawn : kind, title and figure; None is left out.

    Worked: ``hir`` and three figures, the second of which is None -> ``hir-main-0`` and ``hir-main-2``.
    """
    for index, (kind, title, figure) in enumerate(drawn):
        if figure:
            named = replace(figure, name=f"{prefix}-main-{index}", reading="")
            yield MainFigure(kind=kind, title=title, note=note, figure=named)


def main_tail(
    name: str, curves: Sequence[tuple[str, ResponseTimes]], note: str, title: str = "Response times"
) -> tuple[MainFigure, ...]:
    """The tail of response times up to the slowest I/O; none without an I/O. note : what the curves are of."""
    figure = tail_figure(name, curves)
    return (MainFigure(kind="tail", title=title, note=note, figure=figure),) if figure else ()


def _ratio(values: Iterable[float]) -> float:
    """The highest of all positive values over the lowest. Worked: 2, 0 and 6 -> 3; nothing -> 1."""
    result = [value for value in values if value > 0]
    return max(result) / min(result) if result else 1.0


def preferred(main_figures: Iterable[MainFigure]) -> list[MainFigure]:
    """Those that vary first, then by kind; of one kind in the order in which they came.

    Worked: a flat saturation curve and a tail that rises -> the tail, then the curve.
    """
    return sorted(main_figures, key=lambda main_figure: (not main_figure.varies, FIGURE_KINDS.index(main_figure.kind)))


def chosen(main_figures: Iterable[MainFigure], count: int = 2) -> tuple[MainFigure, ...]:
    """The figures of a summary: the preferred ones, each of another kind as long as there are other kinds.

    Worked: two matrices and a tail -> the first matrix and the tail.
    """
    ordered = preferred(main_figures)
    first = {one.kind: one for one in reversed(ordered)}
    unlike = [one for one in ordered if first[one.kind] is one]
    same = [one for one in ordered if first[one.kind] is not one]
    return tuple([*unlike, *same][:count])
