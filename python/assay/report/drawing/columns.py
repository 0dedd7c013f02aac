"""Columns in space, as the specification's pages have them: boxes on a floor, seen from a corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.report.drawing.frame import Axis, number_ticks, wrapped
from assay.report.drawing.theme import group, path, polygon, polyline, series_class, text, text_width
from assay.summary.pages.model import TURNED_NOTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.drawing.theme import Point, Size
    from assay.summary.pages.model import Figure, Series, Tick

_HALF, _EDGE = 0.3, 0.5
"""Half the side of a column, whose neighbours are 1 away, and how far the floor goes beyond the middle of the last."""
_ASIDE, _HEIGHT, _DEPTH, _FALL = 0.36, 0.52, 0.3, 0.18
"""Of the room: how far the floor goes aside from front to back; the height of the highest column; how far the floor
goes up from front to back, and from the nearer end of the x axis to the other."""
_TICKS_MAX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Space:
    """Where a place in space is seen.

    count, rows : columns along x, and series from front to back. most : height of the room in the unit of the values.
    falls : the end of the x axis is the nearer one, on the right; else its beginning is, on the left.
    """

    left: float
    top: float
    width: float
    height: float
    count: int
    rows: int
    most: float
    falls: bool

    def seen(self, x: float, depth: float, value: float) -> Point:
        across, back = (x + _EDGE) / self.count, (depth + _EDGE) / self.rows
        aside, far = (back, 1 - across) if self.falls else (1 - back, across)
        up = _DEPTH * back + _FALL * far + _HEIGHT * value / self.most
        right = (1 - _ASIDE) * across + _ASIDE * aside
        return self.left + self.width * right, self.top + self.height * (1 - up)

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the floor along x, the nearer one first."""
        both = (self.count - _EDGE, -_EDGE)
        return both if self.falls else (both[1], both[0])

    @property
    def back(self) -> float:
        return self.rows - _EDGE


def column_parts(figure: Figure, size: Size) -> Iterator[str]:
    """Walls with the scale of heights, columns from the back to the front, and labels."""
    rows = figure.series[::-1] if figure.highest_first else figure.series
    most = figure.y_most or max((y for series in figure.series for y in series.y), default=1.0) or 1.0
    ticks = number_ticks(Axis(low=0, high=most, log=False, start=0, end=1), _TICKS_MAX)
    space = _space(figure, rows, size, ticks, most)
    yield path("".join(_walls(space, ticks)), "g")
    for tick in ticks:
        # The scale stands at the corner that is seen on the left.
        x, y = space.seen(-_EDGE, -_EDGE if space.falls else space.back, tick.at)
        yield text((x - size.letters * 0.4, y + size.letters * 0.35), tick.label, anchor="end")
    for depth, series in reversed(list(enumerate(rows))):
        columns = list(zip(series.x, series.y, strict=True))
        # The columns farther away first.
        ordered = columns if space.falls else reversed(columns)
        drawn = (part for x, value in ordered for part in _column(space, x, depth, value))
        yield group(drawn, series_class(series.colour))
    yield from _labels(figure, rows, space, size.letters)
    yield from _titles(figure, space, size)


def _space(figure: Figure, rows: Sequence[Series], size: Size, ticks: Sequence[Tick], most: float) -> _Space:
    letters, falls = size.letters, figure.highest_left
    names = max((text_width(series.label, letters) for series in rows), default=0) + letters
    heights = max(text_width(tick.label, letters) for tick in ticks) + letters
    left, right = (heights, names) if falls else (max(heights, names), letters)
    top, bottom = letters * 1.8, letters * 3.4
    return _Space(
        left=left,
        top=top,
        width=size.width - left - right,
        height=size.height - top - bottom,
        count=max(len(figure.ticks), 1),
        rows=max(len(rows), 1),
        most=most,
        falls=falls,
    )


def _walls(space: _Space, ticks: Sequence[Tick]) -> Iterator[str]:
    """Lines of both walls behind at each height, and the floor."""
    near, far = space.ends
    for tick in ticks:
        yield polyline(
            space.seen(x, depth, tick.at) for x, depth in ((far, -_EDGE), (far, space.back), (near, space.back))
        )
    corners = ((far, -_EDGE), (near, -_EDGE), (near, space.back), (far, space.back))
    yield polygon([space.seen(x, depth, 0) for x, depth in corners])


def _column(space: _Space, x: float, depth: float, value: float) -> Iterator[str]:
    """The three faces that are seen: the front, the side at the nearer end, which is dark, and the lit top."""
    low, high, front, back = x - _HALF, x + _HALF, depth - _HALF, depth + _HALF
    near = high if space.falls else low
    side = [space.seen(*at) for at in ((near, front, 0), (near, back, 0), (near, back, value), (near, front, value))]
    top = [
        space.seen(*at) for at in ((low, front, value), (high, front, value), (high, back, value), (low, back, value))
    ]
    face = [space.seen(*at) for at in ((low, front, 0), (high, front, 0), (high, front, value), (low, front, value))]
    faces = [polygon(corners) for corners in (face, side, top)]
    yield path("".join(faces), "b") + path(faces[1], "lo") + path(faces[2], "hi")


def _labels(figure: Figure, rows: Sequence[Series], space: _Space, letters: float) -> Iterator[str]:
    """Names of the columns along the front, and of series along the nearer end; none that touch."""
    columns = [(tick.label, space.seen(tick.at, -_EDGE, 0)) for tick in figure.ticks]
    for label, (x, y) in _apart(columns, letters):
        yield text((x, y + letters * 1.2), label, anchor="end" if space.falls else "start")
    series = [(row.label, space.seen(space.ends[0], depth, 0)) for depth, row in enumerate(rows)]
    side = 0.4 if space.falls else -0.4
    for label, (x, y) in _apart(series, letters):
        yield text((x + letters * side, y + letters * 0.8), label, anchor="start" if space.falls else "end")


def _apart(labels: Sequence[tuple[str, Point]], letters: float) -> list[tuple[str, Point]]:
    """Labels that do not touch each other, the last one and the first before those between."""
    kept: list[tuple[str, Point]] = []
    for label, (x, y) in (*labels[-1:], *labels[:-1]):
        wide = text_width(label, letters) + letters * 0.4
        if all(
            abs(x - right) >= (wide + text_width(other, letters)) / 2 or abs(y - down) >= letters
            for other, (right, down) in kept
        ):
            kept.append((label, (x, y)))
    return kept


def _titles(figure: Figure, space: _Space, size: Size) -> Iterator[str]:
    letters = size.letters
    under = size.height - letters * 0.5
    turned = f"; {figure.z_title}: {TURNED_NOTE}" if figure.highest_first else ""
    for index, line in enumerate(wrapped(f"{figure.y_title}{turned}", size.width, letters)):
        yield text((0, letters * (1 + 1.25 * index)), line)
    if space.falls:
        yield text((space.left, under), figure.x_title)
        yield text((size.width, under), figure.z_title, anchor="end")
    else:
        yield text((size.width, under), figure.x_title, anchor="end")
        yield text((0, under), figure.z_title)
