"""Elements of SVG as text. Lengths keep a tenth of their unit."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


def length(value: float) -> str:
    """A length as short as it can be. Worked: 12.04 -> ``"12"``, 0.27 -> ``"0.3"``, -0.01 -> ``"0"``."""
    tenths = round(value * 10)
    return str(tenths // 10) if tenths % 10 == 0 else str(tenths / 10)


def text(at: Point, words: str, *, anchor: Anchor = "start", kind: str = "t", bold: bool = False) -> str:
    """Words with their baseline at a point."""
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    weight = ' font-weight="700"' if bold else ""
    return f'<text class="{kind}" x="{length(at[0])}" y="{length(at[1])}"{side}{weight}>{escape(words)}</text>'


def rect(left: float, top: float, width: float, height: float, kind: str) -> str:
    """A rectangle of a class."""
    sides = (("x", left), ("y", top), ("width", max(width, 0)), ("height", max(height, 0)))
    return f'<rect class="{kind}" {" ".join(f"{name}={chr(34)}{length(value)}{chr(34)}" for name, value in sides)}/>'


def path(points: str, kind: str, *, dash: str = "", width: float = 0) -> str:
    """A path of a class; nothing where it has no point."""
    if not points:
        return ""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    wide = f' stroke-width="{length(width)}"' if width else ""
    return f'<path class="{kind}" d="{points}"{dashed}{wide}/>'


def polyline(points: Iterable[Point]) -> str:
    """The data of a path through points. Worked: (1, 2) and (3.5, 4) -> ``"M1 2L3.5 4"``."""
    data = "L".join(f"{length(x)} {length(y)}" for x, y in points)
    return f"M{data}" if data else ""


def polygon(points: Sequence[Point]) -> str:
    """The data of a closed path, each corner from the one before. Worked: a square of 2 -> ``"M1 1l2 0 0 2-2 0Z"``."""
    tenths = [(round(x * 10), round(y * 10)) for x, y in points]
    steps = [(after - before) / 10 for pair in pairwise(tenths) for before, after in zip(*pair, strict=True)]
    data = "".join(part if part[0] == "-" else f" {part}" for part in map(length, steps))
    return f"M{length(points[0][0])} {length(points[0][1])}l{data}Z"


def group(parts: Iterable[str], kind: str, *, clip: str = "") -> str:
    """Parts of one class. clip : the name of what they are cut by."""
    cut = f' clip-path="url(#{clip})"' if clip else ""
    return f'<g class="{kind}"{cut}>{"".join(parts)}</g>'
