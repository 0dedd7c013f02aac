"""Markers of points: nine shapes, each as the data of a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.drawing.svg import length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.report.drawing.svg import Point


def markers(points: Iterable[Point], index: int, radius: float) -> str:
    """A marker at each point, as one path. index : of the shape.

    Worked: a square of radius 2 at (10, 10) -> ``"M8.2 8.2h3.6v3.6h-3.6Z"``.
    """
    shape = _SHAPES[index % len(_SHAPES)]
    return "".join(shape(x, y, radius) for x, y in points)


def _circle(x: float, y: float, radius: float) -> str:
    # Of a chord that is shorter than its diameter the two arcs would be more than a circle.
    radius = round(radius, 1)
    r, two = length(radius), length(2 * radius)
    return f"M{length(x - radius)} {length(y)}a{r} {r} 0 1 0 {two} 0a{r} {r} 0 1 0 -{two} 0"


def _square(x: float, y: float, radius: float) -> str:
    half, side = radius * 0.9, length(radius * 1.8)
    return f"M{length(x - half)} {length(y - half)}h{side}v{side}h-{side}Z"


def _shape(corners: tuple[tuple[float, float], ...]) -> Callable[[float, float, float], str]:
    """A closed shape. corners : in radii."""

    def drawn(x: float, y: float, radius: float) -> str:
        return f"M{'L'.join(f'{length(x + radius * right)} {length(y + radius * down)}' for right, down in corners)}Z"

    return drawn


_THIN = 0.38
_PLUS = ((-_THIN, -1.1), (_THIN, -1.1), (_THIN, -_THIN), (1.1, -_THIN), (1.1, _THIN), (_THIN, _THIN))
_CROSS = ((0, -0.5), (0.7, -1.1), (1.1, -0.7), (0.5, 0), (1.1, 0.7), (0.7, 1.1))


def _turned(half: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """A shape from its half, which is turned by half a circle."""
    return (*half, *((-right, -down) for right, down in half))


_STAR = (
    (0, -1.2), (0.28, -0.39), (1.14, -0.37), (0.46, 0.15), (0.71, 0.97), (0, 0.48), (-0.71, 0.97), (-0.46, 0.15),
    (-1.14, -0.37), (-0.28, -0.39),
)  # fmt: skip
_HEXAGON = ((0, -1.1), (0.95, -0.55), (0.95, 0.55), (0, 1.1), (-0.95, 0.55), (-0.95, -0.55))
_SHAPES: tuple[Callable[[float, float, float], str], ...] = (
    _circle,
    _square,
    _shape(((0, -1.15), (1.05, 0.8), (-1.05, 0.8))),
    _shape(((0, -1.2), (1.05, 0), (0, 1.2), (-1.05, 0))),
    _shape(((0, 1.15), (1.05, -0.8), (-1.05, -0.8))),
    _shape(_turned(_PLUS)),
    _shape(_turned(_CROSS)),
    _shape(_STAR),
    _shape(_HEXAGON),
)
