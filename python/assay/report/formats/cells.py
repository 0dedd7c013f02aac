"""What the text of a cell is to the eye: a number, nothing, or of the level that its table gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from assay.summary.pages.model import is_missing

if TYPE_CHECKING:
    from assay.summary.pages.model import Box, Group, Table
    from assay.summary.record import Level

_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.(\d+))?(?: ?%)?")
WHOLE = 0.8
"""Where in the room of a bar the whole is, so that what is above it is seen to be."""
# Names with one value each are no column, even where all values are numbers.
_PAIR, _FEW = 2, 2
OF_LEVEL: dict[Level, str] = {"good": "good", "warn": "warn", "bad": "bad", "unknown": "faint"}
"""CSS classes of levels."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with its looks.

    look : names of CSS classes. pad : widths of a digit that are missing on its right to stand with the decimal points
    of its column.
    """

    text: str
    look: str = ""
    pad: float = 0.0


def look(text: str, level: Level | None = None) -> str:
    """The CSS class of a text: ``number``, ``faint`` where there is no value, else that of its level, if any.

    Worked: ``1,024`` is ``number``, ``n/a`` is ``faint``, ``WARN`` of level warn is ``warn``.
    """
    if _NUMBER.fullmatch(text):
        return "number"
    return "faint" if text and is_missing(text) else OF_LEVEL[level] if level else ""


def entry_looks(block: Box | Group) -> list[tuple[str, str, str]]:
    """Name, text and CSS class of each entry."""
    levels = dict(block.levels)
    return [(name, text, look(text, levels.get(name))) for name, text in block.entries]


def table_cells(table: Table) -> list[list[Cell]]:
    """All cells of a table with their looks; those of a column of numbers align at the decimal point."""
    width = max(map(len, table.rows), default=0)
    levels = {(line, place): level for line, place, level in table.levels}
    columns: list[list[Cell]] = []
    for place in range(width):
        texts = [row[place] if place < len(row) else "" for row in table.rows]
        # A column without any value stands as the numbers before it.
        behind = place > 0 and columns[-1][0].look.startswith("number")
        column = _column(texts, aligned=width > _PAIR or len(table.rows) > _FEW, behind=behind)
        for line, cell in enumerate(column):
            if level := levels.get((line, place)):
                verdict = "verdict " if table.columns[place] in table.verdicts else ""
                column[line] = replace(cell, look=f"{verdict}{look(cell.text, level)}")
        columns.append(column)
    return [[columns[place][line] for place in range(len(row))] for line, row in enumerate(table.rows)]


def repeats(table: Table) -> list[list[bool]]:
    """Whether each cell is of a merged column and has the text that stands above it, so that it is not shown again.

    What is the same in two tests is not one: where the first column is merged, its text has to be the same as well.
    Worked: ``Test`` and ``From`` merged, rows A x, A x, B x -> of the second row both are, of the third none.
    """
    merged = [name in table.merged for name in table.columns]
    result = [[False] * len(row) for row in table.rows]
    for line, (above, row) in enumerate(pairwise(table.rows if any(merged) else ()), 1):
        if not merged[0] or above[0] == row[0]:
            result[line] = [one and old == new for one, old, new in zip(merged, above, row, strict=True)]
    return result


def drawn_bars(table: Table) -> dict[int, list[float | None]]:
    """How long the bars of a table are, 1.0 to the end of their room, by the place of their column.

    Worked: of shares 0.5, None and 2.0 in the third column -> ``{2: [0.4, None, 1.0]}``, since the whole is at 0.8.
    """
    if table.bars is None or table.bars.column not in table.columns:
        return {}
    lengths = [None if share is None else min(share * WHOLE, 1.0) for share in table.bars.shares]
    return {table.columns.index(table.bars.column): lengths}


def _column(texts: list[str], *, aligned: bool, behind: bool) -> list[Cell]:
    """Behind : a column of numbers stands before it."""
    result = [_NUMBER.fullmatch(text) for text in texts]
    if (
        not aligned
        or not (behind or any(result))
        or not all(match or is_missing(text) for text, match in zip(texts, result, strict=True))
    ):
        return [Cell(text, look(text).replace("number", "figure-text")) for text in texts]
    decimals = [len(match[1] or "") if match else 0 for match in result]
    most = max(decimals)
    # Missing digits, and half a digit for a missing decimal point.
    pads = [most - own + (0.5 if most and not own else 0.0) for own in decimals]
    return [
        Cell(text, "number", pad) if match else Cell(text, f"number {look(text)}".strip())
        for text, match, pad in zip(texts, result, pads, strict=True)
    ]
