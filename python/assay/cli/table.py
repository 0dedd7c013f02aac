"""Tables on the terminal: aligned columns under a header."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from assay.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_UNBROKEN_COLUMNS = 10_000
"""Width where no terminal is: a line in a file or a pipe is never broken."""


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = ()) -> None:
    """Print rows under their headers on standard output; on a terminal, long cells are folded to its width.

    right : headers of the columns whose cells stand at the right, as numbers do.
    Worked: headers ("drive", "GB"), row ("sim:a", "128"), right {"GB"} -> lines ``drive   GB`` and ``sim:a  128``.
    """
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        table.add_column(Text(visible(header)), justify="right" if header in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else _UNBROKEN_COLUMNS).print(table)
