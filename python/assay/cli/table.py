"""Tables on the terminal: aligned columns under a header; and text between them, broken at words."""

from __future__ import annotations

import re
import sys
import textwrap
from itertools import zip_longest
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_UNBROKEN_COLUMNS = 10_000
"""Width where no terminal is: a line in a file or a pipe is never broken."""
PROSE_COLUMNS = 120
"""Width of a table of sentences there: its cells are folded."""
_WORD_COLUMNS = 24
"""A longer word, such as a path, may be broken; a number never is."""
_GAP = 2
_KEPT_PERCENT = "\N{NO-BREAK SPACE}%"
_NUMBER = re.compile(r"-?[\d,]+(\.\d+)?( %)?|n/a|N/A|")


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[str] = (),
    key: int = 1,
    prose: bool = False,
) -> None:
    """Print rows under their headers on standard output; on a terminal, long cells are folded to its width.

    right : headers of the columns whose cells stand at the right, as numbers do.
    key : how many columns, the first ones, name a row. What is too wide for the terminal even so is printed in parts,
    each with these. prose : some cells are sentences, which are folded where no terminal is, too.
    Worked: headers ("drive", "GB"), row ("sim:a", "128"), right {"GB"} -> lines ``drive   GB`` and ``sim:a  128``.
    """
    width = PROSE_COLUMNS if prose and not sys.stdout.isatty() else _columns()
    texts = [tuple(map(visible, row)) for row in (headers, *rows)]
    at_right = [header in right for header in headers]
    # Where no terminal is, ten thousand rows are printed at once, without a look at where a cell could be broken.
    if not sys.stdout.isatty() and _total(full := [max(map(_cells, column)) for column in _columns_of(texts)]) <= width:
        click.echo("\n".join(_line(row, full, at_right) for row in texts))
        return
    for number, indices in enumerate(_parts([_least(column) for column in _columns_of(texts)], key, width)):
        if number:
            click.echo()
        _print_part(width, [[row[index] for index in indices] for row in texts], [at_right[index] for index in indices])


def fits(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table need not be printed in parts; always so where no terminal is."""
    if not sys.stdout.isatty():
        return True
    return _total([_least(tuple(map(visible, column))) for column in _columns_of((headers, *rows))]) <= _columns()


def numeric(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> set[str]:
    """The headers of the columns that hold nothing but numbers, shares, and n/a where there is none.

    Worked: cells ``1,579.8 %`` and ``N/A`` -> the column does; ``1-5`` -> it does not.
    """
    columns = zip(*rows, strict=True)
    return {header for header, cells in zip(headers, columns, strict=False) if all(map(_NUMBER.fullmatch, cells))}


def print_heading(text: str, *, alarm: bool = False) -> None:
    """Print a bold line above a table, broken at words on a terminal; ``alarm``: in red."""
    for line in _folded(visible(text), _columns()):
        styled = click.style(line, bold=True, fg="red" if alarm else None)
        click.echo(styled if sys.stdout.isatty() else line)


def print_paragraph(text: str, *, mark: str = "") -> None:
    """Print a text, broken at words on a terminal; ``mark`` stands before its first line, the others under the text."""
    mark = f"{visible(mark)} " if mark else ""
    taken = _cells(mark)
    for number, line in enumerate(_folded(visible(text), _columns() - taken)):
        click.echo(f"{' ' * taken if number else mark}{line}".rstrip())


def shown_columns(most: int) -> int:
    """The columns of the terminal, at most so many; those where no terminal is."""
    return min(get_terminal_size().columns, most) if sys.stdout.isatty() else most


def _columns() -> int:
    """Columns of the terminal; where there is none, a line is not broken."""
    return get_terminal_size().columns if sys.stdout.isatty() else _UNBROKEN_COLUMNS


def _columns_of(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    return list(zip(*rows, strict=True))


def _cells(text: str) -> int:
    """The columns that a text takes: some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(text)


def _total(widths: Sequence[int]) -> int:
    """The columns that a table takes with the gaps between its columns."""
    return sum(widths) + _GAP * (len(widths) - 1)


def _least(cells: Sequence[str]) -> int:
    """The columns below which a column breaks a number, or a word that is not overlong."""
    words = [word for cell in cells for word in cell.replace(" %", _KEPT_PERCENT).split(" ")]
    return min(max(map(_cells, words), default=0), _WORD_COLUMNS)


def _parts(least: Sequence[int], key: int, width: int) -> list[list[int]]:
    """The indices of the columns of each part, about as many in each; those of the key are in all of them."""
    splits: list[list[list[int]]] = []
    for count in range(max(len(least) - key, 1), 0, -1):
        parts = _groups(len(least), key, count)
        if count == 1 or all(_total([least[index] for index in part]) <= width for part in parts):
            splits.append(parts)
    # As few parts as there must be; of those the split whose parts are nearest to equal.
    return min(splits, key=lambda parts: (len(parts), len(parts[0])))


def _groups(count: int, key: int, each: int) -> list[list[int]]:
    """Worked: 4 columns, the first of them the key, 2 more in each part -> ``[[0, 1, 2], [0, 3]]``."""
    begins = range(key, max(count, key + 1), each)
    return [[*range(min(key, count)), *range(begin, min(begin + each, count))] for begin in begins]


def _print_part(width: int, texts: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    widths = _widths(_columns_of(texts), width)
    for number, row in enumerate(texts):
        for parts in zip_longest(*map(_folded, row, widths), fillvalue=""):
            line = _line(parts, widths, right)
            click.echo(line if number else click.style(line, bold=True))


def _line(parts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """A line of a table from its cells, each filled to its width."""
    filled = []
    for part, width, at_right in zip(parts, widths, right, strict=True):
        fill = " " * (width - _cells(part))
        filled.append(fill + part if at_right else part + fill)
    return (" " * _GAP).join(filled).rstrip()


def _folded(text: str, width: int) -> list[str]:
    """A text on lines of a width, broken at words, of which a number with its sign of per cent is one."""
    if _cells(text) <= width:
        return [text]
    kept = text.replace(" %", _KEPT_PERCENT)
    fold = textwrap.wrap if _cells(text) == len(text) else _folded_wide
    return [line.replace(_KEPT_PERCENT, " %") for line in fold(kept, width, break_on_hyphens=False)]


def _folded_wide(text: str, width: int, **_: bool) -> list[str]:
    """As ``textwrap.wrap``, for a text with letters that take two columns."""
    from rich.cells import chop_cells  # noqa: PLC0415

    lines: list[str] = []
    for word in text.split(" "):
        if lines and _cells(line := f"{lines[-1]} {word}") <= width:
            lines[-1] = line
        else:
            lines += chop_cells(word, width)
    return lines


def _widths(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Of each column what its longest cell takes; where that is too much in all, the widest give first."""
    widths = [max(map(_cells, column)) for column in columns]
    least = [_least(column) for column in columns]
    excess = _total(widths) - width
    for limits in (least, [1] * len(widths)):
        while excess > 0 and (able := [index for index, width in enumerate(widths) if width > limits[index]]):
            widths[max(able, key=widths.__getitem__)] -= 1
            excess -= 1
    return widths
