"""Lines, points and bars in a plane."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from assay.report.drawing.legend import dash_of
from assay.report.drawing.svg import group, length, path, polyline, rect, text
from assay.report.drawing.theme import COVERED_TIMES, markers, series_class, text_width
from assay.words.digits import si
from assay.words.printed import bar_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.drawing.frame import Frame
    from assay.report.drawing.svg import Point
    from assay.summary.pages.model import Figure, Series

_WIDTH, _RADIUS, _DENSE_RADIUS, _MARK_RADIUS = 0.15, 0.33, 0.14, 0.62
"""Of lines and markers, in letters."""
_BAR_SHARE = 0.6
"""Of the distance of two bars."""


def plane_parts(frame: Frame, clip: str) -> Iterator[str]:
    """Every series, those that others hide wider."""
    figure = frame.figure
    covered = figure.covered
    for index, series in enumerate(figure.series):
        if series.x:
            times = COVERED_TIMES if index in covered else 1
            yield group(_series(frame, series, times), series_class(series.colour), clip=clip)


def window(frame: Frame) -> str:
    """The measurement window, which lies behind all; nothing where there is none."""
    span = frame.figure.span
    if not span:
        return ""
    ends = sorted(min(max(frame.x.at(at), frame.x.start), frame.x.end) for at in span)
    return rect(ends[0], frame.y.end, ends[1] - ends[0], frame.y.start - frame.y.end, "w")


def _series(frame: Frame, series: Series, times: float) -> Iterator[str]:
    letters, points = frame.letters, _points(frame, series)
    if series.mark:
        yield path(markers(points, series.colour, letters * _MARK_RADIUS), "k")
        return
    # A line needs two points; one is shown by its marker.
    if "lines" in series.mode and len(points) > 1:
        yield from _line(frame, series, points, letters * _WIDTH * times)
    if series.dense:
        yield path(_dots(points, letters * _DENSE_RADIUS), "d")
    elif "markers" in series.mode or len(points) == 1:
        yield path(markers(points, series.colour, letters * _RADIUS * times), "m")


def _line(frame: Frame, series: Series, points: Sequence[Point], width: float) -> Iterator[str]:
    if series.filled:
        ground = frame.y.start
        area = [(points[0][0], ground), *thinned(points), (points[-1][0], ground)]
        yield path(f"{polyline(area)}Z", "f")
    yield path(polyline(thinned(points)), "l", dash=dash_of(frame.figure, series), width=width)


def _points(frame: Frame, series: Series) -> list[Point]:
    pairs = zip(series.x, series.y, strict=True)
    logs = (frame.x.log, frame.y.log)
    # A logarithmic axis has no place for zero.
    return [(frame.x.at(x), frame.y.at(y)) for x, y in pairs if (x > 0 or not logs[0]) and (y > 0 or not logs[1])]


def thinned(points: Sequence[Point]) -> list[Point]:
    """The points of a line without those that nobody can see: of each half unit across its ends and extremes.

    Worked: 10,000 points over 500 units -> at most 4,000, the highest and the lowest among them.
    """
    kept: list[Point] = []
    for _, one in groupby(points, key=lambda point: round(point[0] * 2)):
        column = list(one)
        extremes = {column[0], column[-1], min(column, key=_height), max(column, key=_height)}
        kept += [point for point in column if point in extremes] if len(extremes) < len(column) else column
    return kept


def _height(point: Point) -> float:
    return point[1]


def _dots(points: Sequence[Point], radius: float) -> str:
    """Small squares, one where several would cover each other."""
    places = dict.fromkeys((round(x * 2) / 2, round(y * 2) / 2) for x, y in points)
    side = length(2 * radius)
    return "".join(f"M{length(x - radius)} {length(y - radius)}h{side}v{side}h-{side}Z" for x, y in places)


def bar_parts(frame: Frame) -> Iterator[str]:
    """A bar from zero for each point, with its value above it where all of them fit."""
    figure, ground = frame.figure, frame.y.at(0)
    half = (frame.x.at(1) - frame.x.at(0)) * _BAR_SHARE / 2
    for series in figure.series:
        bars = [(frame.x.at(x) - half, frame.y.at(y)) for x, y in zip(series.x, series.y, strict=True)]
        drawn = (rect(left, top, 2 * half, ground - top, "b") for left, top in bars)
        yield group(drawn, series_class(series.colour))
    room = (frame.x.at(1) - frame.x.at(0)) - frame.letters * 0.4
    values = [(x, y) for series in figure.series for x, y in zip(series.x, series.y, strict=True)]
    for (x, y), words in zip(values, _bar_texts(figure, room, frame.letters), strict=False):
        yield text((frame.x.at(x), frame.y.at(y) - frame.letters * 0.35), words, anchor="middle")


def _bar_texts(figure: Figure, room: float, letters: float) -> list[str]:
    """The values of all bars in full, else in three digits, else none."""
    values = [y for series in figure.series for y in series.y]
    for printed in (bar_text, si):
        texts = [printed(value) for value in values]
        if max((text_width(one, letters) for one in texts), default=0) <= room:
            return texts
    return []
