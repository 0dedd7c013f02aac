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

    from rich.console import Console
    from rich.table import Table

_UNBROKEN_COLUMNS = 10_000
"""Width where no terminal is: a line in a file or a pipe is never broken."""
PROSE_COLUMNS = 120
"""Width of a table of sentences there: its cells are folded."""
_WORD_COLUMNS = 24
"""A longer word, such as a path, may be broken; a number never is."""
_GAP = 2
_KEPT_PERCENT = "\N{NO-BREAK SPACE}%"
_FILLED = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
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
    if not sys.stdout.isatty() and _print_whole(texts, [header in right for header in headers], width):
        return
    least = [_least(column) for column in zip(*texts, strict=True)]
    at_right = {index for index, header in enumerate(headers) if header in right}
    for number, places in enumerate(_parts(least, key, width)):
        if number:
            click.echo()
        _print_part(width, [[row[place] for place in places] for row in texts], [one in at_right for one in places])


def fits(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table need not be printed in parts; always so where no terminal is."""
    if not sys.stdout.isatty():
        return True
    least = [_least(tuple(map(visible, column))) for column in zip(headers, *rows, strict=True)]
    return sum(one + _GAP for one in least) - _GAP <= _columns()


def numeric(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> set[str]:
    """The headers of the columns that hold nothing but numbers, shares, and n/a where there is none.

    Worked: cells ``1,579.8 %`` and ``N/A`` -> the column does; ``1-5`` -> it does not.
    """
    columns = zip(*rows, strict=True)
    return {header for header, cells in zip(headers, columns, strict=False) if all(map(_NUMBER.fullmatch, cells))}


def print_heading(text: str, *, style: str = "bold") -> None:
    """Print a line above a table, or one that must not be missed, broken at words on a terminal."""
    from rich.text import Text  # noqa: PLC0415

    console = _console()
    console.print(Text(_broken(visible(text), console.width), style=style))


def print_paragraph(text: str, *, mark: str = "") -> None:
    """Print a text, broken at words on a terminal; ``mark`` stands before its first line, the others under the text."""
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = _console()
    grid = Table.grid(padding=(0, 1, 0, 0))
    before = (Text(visible(mark)),) if mark else ()
    left = console.width - (cell_len(visible(mark)) + 1 if mark else 0)
    grid.add_row(*before, Text(_broken(visible(text), left), overflow="fold"))
    _put(grid, console.width)


def _print_whole(texts: Sequence[Sequence[str]], right: Sequence[bool], width: int) -> bool:
    """Print a table with no cell broken, at once: of ten thousand rows each look at a cell takes its time.

    False, and nothing printed, where the table is wider than that.
    """
    taken = [tuple(map(_cells, row)) for row in texts]
    widths = [max(column) for column in zip(*taken, strict=True)]
    if sum(widths) + _GAP * (len(widths) - 1) > width:
        return False
    lines = []
    for row, cells in zip(texts, taken, strict=True):
        filled = [
            " " * (each - own) + text if at_right else text + " " * (each - own)
            for text, own, each, at_right in zip(row, cells, widths, right, strict=True)
        ]
        lines.append((" " * _GAP).join(filled).rstrip())
    click.echo("\n".join(lines))
    return True


def _columns() -> int:
    """Of the terminal; where there is none, a line is not broken."""
    return get_terminal_size().columns if sys.stdout.isatty() else _UNBROKEN_COLUMNS


def _cells(text: str) -> int:
    """The columns that a text takes: some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(text)


def _console(width: int | None = None) -> Console:
    from rich.console import Console  # noqa: PLC0415

    return Console(width=width or (None if sys.stdout.isatty() else _UNBROKEN_COLUMNS), highlight=False)


def _put(table: Table, width: int) -> None:
    """Print without the spaces that fill the last column, which Rich puts behind the width, too."""
    console = _console(width + _GAP)
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(_FILLED.sub(_reset, line) for line in captured.get().splitlines()))


def _reset(filled: re.Match[str]) -> str:
    return "\x1b[0m" if "\x1b" in filled[0] else ""


def _least(cells: Sequence[str]) -> int:
    """The columns below which a column breaks a number, or a word that is not overlong."""
    words = [word for cell in cells for word in cell.replace(" %", _KEPT_PERCENT).split(" ")]
    return min(max(map(_cells, words), default=0), _WORD_COLUMNS)


def _parts(least: Sequence[int], key: int, width: int) -> list[list[int]]:
    """The places of the columns of each part, about as many in each; those of the key are in all of them."""
    result: list[list[list[int]]] = []
    for each in range(max(len(least) - key, 1), 0, -1):
        parts = _groups(len(least), key, each)
        if each == 1 or all(sum(least[one] + _GAP for one in part) - _GAP <= width for part in parts):
            result.append(parts)
    # As few parts as there must be; of those the one whose parts are nearest to equal.
    return min(result, key=lambda parts: (len(parts), len(parts[0])))


def _groups(count: int, key: int, each: int) -> list[list[int]]:
    """Worked: 4 columns, the first of them the key, 2 more in each part -> ``[[0, 1, 2], [0, 3]]``."""
    begins = range(key, max(count, key + 1), each)
    return [[*range(min(key, count)), *range(begin, min(begin + each, count))] for begin in begins]


def _print_part(width: int, texts: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    widths = _widths(list(zip(*texts, strict=True)), width)
    if all(text.isascii() for row in texts for text in row):
        for number, row in enumerate(texts):
            _print_row(row, widths, right, bold=not number)
    else:
        _print_wide(width, texts, widths, right)


def _print_row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool], *, bold: bool) -> None:
    """Print the lines of a row. Rich, which knows letters of two columns, takes longer to load than a list to print."""
    cells = [_broken(text, width).split("\n") for text, width in zip(row, widths, strict=True)]
    for parts in zip_longest(*cells, fillvalue=""):
        placed = [
            part.rjust(width) if at_right else part.ljust(width)
            for part, width, at_right in zip(parts, widths, right, strict=True)
        ]
        line = (" " * _GAP).join(placed).rstrip()
        click.echo(click.style(line, bold=True) if bold else line)


def shown_columns(most: int) -> int:
    """The columns of the terminal, at most so many; those where no terminal is."""
    return min(get_terminal_size().columns, most) if sys.stdout.isatty() else most


def _print_wide(width: int, texts: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    header, *rows = texts
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for cell, at_right, each in zip(header, right, widths, strict=True):
        table.add_column(Text(cell), justify="right" if at_right else "left", overflow="fold", width=each)
    for row in rows:
        table.add_row(*(Text(_broken(cell, each)) for cell, each in zip(row, widths, strict=True)))
    _put(table, width)


def _broken(text: str, width: int) -> str:
    """A text on lines of a width, broken at words, of which a number with its sign of per cent is one."""
    if _cells(text) <= width or _cells(text) != len(text):
        # Letters that take two columns are broken by Rich.
        return text
    lines = textwrap.wrap(text.replace(" %", _KEPT_PERCENT), width, break_on_hyphens=False)
    return "\n".join(lines).replace(_KEPT_PERCENT, " %")


def _widths(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Of each column what its longest cell takes; where that is too much in all, the widest give first."""
    widths = [max(map(_cells, column)) for column in columns]
    least = [_least(column) for column in columns]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    for limits in (least, [1] * len(widths)):
        while excess > 0 and (able := [index for index, width in enumerate(widths) if width > limits[index]]):
            widths[max(able, key=widths.__getitem__)] -= 1
            excess -= 1
    return widths
