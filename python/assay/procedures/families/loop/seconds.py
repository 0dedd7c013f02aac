"""The tracked cells of a test loop second by second, over the rounds of the measurement window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.results import cell_label
from assay.spec.units import SECOND_NS
from assay.summary.pages.model import Figure, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredSequence
    from assay.procedures.families.loop.settings import LoopSettings

POINTS_MAX = 600
Points = tuple[tuple[float, ...], tuple[float, ...]]


def seconds_figure(name: str, settings: LoopSettings, sequences: Sequence[StoredSequence]) -> tuple[str, Figure] | None:
    """Plot the I/Os that completed in each whole second of the tracked cells, one round behind the other.

    None where the seconds were not read or the cells are shorter than one. Of more than 600 seconds the least and the
    greatest of each few are drawn.
    """
    result = {cell: _counted(sequences, settings.cells.index(cell)) for cell in settings.tracking}
    most = max((len(counts) for counts in result.values()), default=0)
    if not most:
        return None
    width = -(-most * 2 // POINTS_MAX) if most > POINTS_MAX else 1
    said = f", least and greatest of {width} seconds each" if width > 1 else ""
    figure = Figure(
        name=name,
        kind="lines",
        alt="Completions in each second of the tracking cells over the rounds of the measurement window" + said,
        x_title="Second of the Cell, Rounds in a Row",
        y_title="IOPS",
        series=tuple(
            _series(cell_label(cell, settings.access) + said, thinned(counts, width), index)
            for index, (cell, counts) in enumerate(result.items())
        ),
    )
    return f"Completions in each second of the tracking cells in the measurement window{said}.", figure


def thinned(counts: Sequence[int], width: int) -> Points:
    """The least and the greatest of every ``width`` seconds, each at its own second, in order; all where it is 1.

    Worked: 5, 9, 1, 7 by fours -> 9 in second 2 and 1 in second 3.
    """
    places: list[int] = []
    for first in range(0, len(counts), width):
        few = range(first, min(first + width, len(counts)))
        places += sorted({min(few, key=counts.__getitem__), max(few, key=counts.__getitem__)})
    return tuple(float(place + 1) for place in places), tuple(float(counts[place]) for place in places)


def _counted(sequences: Sequence[StoredSequence], index: int) -> list[int]:
    """Completions of each whole second of one cell, silent ones included; empty where any round's were not read."""
    rounds = [_round(sequence, index) for sequence in sequences]
    return [] if any(result is None for result in rounds) else [count for result in rounds for count in result or ()]


def _round(sequence: StoredSequence, index: int) -> list[int] | None:
    table = sequence.series
    if table is None or table.second is None:
        return None
    whole = sequence.steps[index].span_ns // SECOND_NS
    chosen = (table.step == index) & (table.second < whole)
    counts = np.zeros(whole, np.int64)
    np.add.at(counts, table.second[chosen].astype(np.intp), table.io_count[chosen].astype(np.int64))
    return counts.tolist()


def _series(label: str, points: Points, colour: int) -> Series:
    return Series(label=label, x=points[0], y=points[1], colour=colour, mode="lines")
