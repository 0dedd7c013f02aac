"""Characters that the fonts of paper and figures lack, written so that they can be read all the same.

DejaVu has Latin, Greek, Cyrillic, Hebrew, Arabic and symbols; on paper Droid Sans Fallback has Chinese, Japanese and
Korean besides. Figures are drawn in DejaVu alone. On screen and in the tables every text stands as it is.
"""

from __future__ import annotations

import unicodedata
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

FONTS = Path(__file__).parents[1] / "assets/fonts"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def spelled_out(value: T, mark: str = "", *, wide: bool = False) -> T:
    r"""Write every character that the fonts lack as its number, in a text or in all texts of a page, figure or report.

    mark : what stands for each of them instead, where numbers take too much space. wide : the fonts of paper.
    Worked: ``spelled_out("A \u6771")`` is ``"A \\u{6771}"``.
    """
    if isinstance(value, str):
        return _spelled(value, mark, wide=wide)  # type: ignore[return-value]
    if isinstance(value, tuple):
        # The values of a series are many, and none of them is a text.
        if value and isinstance(value[0], float | int):
            return value
        return tuple(spelled_out(part, mark, wide=wide) for part in value)  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: spelled_out(getattr(value, part.name), mark, wide=wide) for part in fields(value)}
        return replace(value, **parts)
    return value


def _spelled(text: str, mark: str, *, wide: bool) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if _is_known(one, wide=wide) else mark or f"\\u{{{ord(one):x}}}" for one in text)


@cache
def _is_known(character: str, *, wide: bool) -> bool:
    known = ord(character) in _characters("DejaVu*.ttf") or (wide and ord(character) in _characters("Droid*.ttf"))
    return known and not unicodedata.category(character).startswith("C")


@cache
def _characters(names: str) -> frozenset[int]:
    """What every shipped font of these names has a glyph for."""
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - only those who draw pay for it

    characters: list[frozenset[int]] = []
    for path in sorted(FONTS.glob(names)):
        with TTFont(path, lazy=True) as font:
            characters.append(frozenset(font.getBestCmap()))
    return frozenset.intersection(*characters)
