"""How wide texts are, from the advance widths of the font."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FONT = Path(__file__).parent.parent / "assets/fonts/IBMPlexSans-Regular.ttf"
_UNKNOWN = 0.6
"""Of a character that the font lacks, in ems."""


def text_width(text: str, letters: float) -> float:
    """Width of a text in the unit of its letters. Worked: ``"1,234"`` at 10 is 26.7: four digits of 6.0, a comma."""
    widths = _advances()
    return sum(widths.get(one, _UNKNOWN) for one in text) * letters


@cache
def _advances() -> dict[str, float]:
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - only those who draw pay for it

    with TTFont(FONT, lazy=True) as font:
        metrics, em = font["hmtx"], font["head"].unitsPerEm
        return {chr(code): metrics[name][0] / em for code, name in font.getBestCmap().items()}
