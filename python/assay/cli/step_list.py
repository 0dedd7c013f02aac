"""The steps of a stored run, as a list to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.words.visible import visible

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

_SHOWN_MAX = 60


def print_steps(run: StoredRun) -> None:
    """Print the sequences of a run with the numbers of their steps on standard error, the first 60 of them."""
    from assay.results.workload import numbered_steps  # noqa: PLC0415

    listed = numbered_steps(run)
    rows = [_row(one.first, one.last, one.name) for one in listed[:_SHOWN_MAX]]
    width = max((len(row[0]) for row in rows), default=0)
    for numbers, words in rows:
        click.echo(visible(f"{numbers:>{width}}  {words}"), err=True)
    if more := len(listed) - len(rows):
        click.echo(f"{more:,} more sequences, up to step {listed[-1].last:,}", err=True)


def _row(first: int, last: int, name: str) -> tuple[str, str]:
    """Worked: steps 2 to 57 of round 1 -> ``2-57`` and ``iops-1, round 1``."""
    return str(first) if first == last else f"{first}-{last}", name
