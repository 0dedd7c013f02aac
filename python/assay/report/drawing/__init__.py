"""Figures as SVG text: one writer for paper and screen, drawn at the size at which they are shown.

Texts are measured with the widths of the font that shows them; colours are rules of ``theme``, so that a page gives
them light and dark.
"""

from __future__ import annotations

from assay.report.drawing.picture import figure_svg
from assay.report.drawing.theme import Size, screen_rules

__all__ = ["Size", "figure_svg", "screen_rules"]
