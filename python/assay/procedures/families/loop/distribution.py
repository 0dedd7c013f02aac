"""How the response times of a test loop are spread over its measurement window, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.maps import matrix_maps
from assay.procedures.families.loop.open_loop import window_sequences
from assay.procedures.families.loop.seconds import seconds_figure
from assay.procedures.families.loop.settings import LoopSettings
from assay.results import cell_label, step_times
from assay.spec.units import KIB, kib_value
from assay.summary.pages.distribution import CURVES_MAX, Distribution, part
from assay.summary.pages.heat_figures import spread_heat
from assay.words.coded import coded
from assay.words.printed import rounds_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import Cell, StoredSequence, StoredTest
    from assay.procedures.families.loop.values import LoopResult
    from assay.summary.pages.distribution import Part
    from assay.summary.pages.model import Figure

_SIZES, _MIXES, _PURE = (4 * KIB, 8 * KIB), (100, 65, 0), (0, 100)
"""Cells of these are drawn beside those that are tracked: they are those of the response time test."""

_FEW = 3
_SPREAD, _SPREAD_MAX = "spread", 24
DRAWN = (
    "Drawn are the tracked cells, and 4 and 8 KiB at 100, 65 and 0 % reads; where these are fewer than three, the "
    f"cells that run first are drawn as well, up to {CURVES_MAX}."
)


def loop_distribution(test: StoredTest, result: LoopResult, prefix: str) -> Distribution:
    """Response times of every cell, histograms of the window's rounds added; no part without a result."""
    settings, sequences = test.settings_as(LoopSettings), window_sequences(test, result)
    parts = _parts(settings, sequences)
    cells = sorted(parts, key=lambda cell: (cell.transfer_bytes, cell.read_pct))
    window = result.window if sequences else None
    return Distribution(
        name=settings.test.replace("-", "_"),
        title=settings.test_label,
        over=f"rounds {rounds_label(window.rounds)}" if window else "",
        prefix=prefix,
        columns=("block_kib", "read_pct"),
        parts=tuple(parts[cell] for cell in cells),
        withheld=result.withheld or coded("five-rounds"),
        curves=tuple(cells.index(cell) for cell in drawn_cells(settings)) if parts else (),
        rule=DRAWN,
        maps=_maps(settings, result, sequences, parts, prefix),
        printed=f"{prefix}-{_SPREAD}",
        printed_title="by Cell",
    )


def drawn_cells(settings: LoopSettings) -> tuple[Cell, ...]:
    """The cells whose response times are drawn, by the rule of ``DRAWN``; those that are tracked come first."""

    def named(cell: Cell) -> bool:
        return cell.read_pct in _MIXES and cell.transfer_bytes in _SIZES

    tracked = [cell for cell in settings.cells if cell in settings.tracking]
    chosen = tracked + [cell for cell in settings.cells if named(cell) and cell not in tracked]
    others = [cell for cell in settings.cells if cell not in chosen] if len(chosen) < _FEW else []
    return tuple([*chosen, *others][:CURVES_MAX])


def _parts(settings: LoopSettings, sequences: list[StoredSequence]) -> dict[Cell, Part]:
    times = [parts for sequence in sequences if (parts := step_times(sequence))]
    return {
        cell: part(
            (kib_value(cell.transfer_bytes), cell.read_pct),
            cell_label(cell, settings.access),
            [sequence.steps[index] for sequence in sequences],
            [time[index] for time in times],
        )
        for index, cell in enumerate(settings.cells)
        if sequences
    }


def _spread(parts: dict[Cell, Part], name: str) -> Iterator[tuple[str, Figure]]:
    """How I/Os are spread over response times, a row per cell; of many, those of 4 KiB, all reads and all writes."""
    cells = sorted(parts, key=lambda cell: (-cell.read_pct, cell.transfer_bytes))
    chosen = [cell for cell in cells if cell.transfer_bytes == _SIZES[0] or cell.read_pct in _PURE]
    shown = cells if len(cells) <= _SPREAD_MAX else chosen[:_SPREAD_MAX]
    if len(shown) < _FEW:
        return
    figure = spread_heat(name, [parts[cell].label for cell in shown], [parts[cell].times for cell in shown])
    which = "a row per cell" if len(shown) == len(cells) else "a row per cell of 4 KiB, of reads and of writes alone"
    if figure:
        yield f"share of the I/Os by response time, {which}; fields far on the right are the slow ones.", figure


def _maps(
    settings: LoopSettings, result: LoopResult, sequences: list[StoredSequence], parts: dict[Cell, Part], prefix: str
) -> tuple[tuple[str, Figure], ...]:
    """The spread of response times by cell, the matrix of IOPS as maps, and the tracked cells second by second."""
    maps = (*_spread(parts, f"{prefix}-{_SPREAD}"),)
    if settings.variable == "iops":
        maps += (*matrix_maps(settings, result, sequences, parts, prefix),)
    seconds = seconds_figure(f"{prefix}-seconds", settings, sequences)
    return (*maps, *((seconds,) if seconds else ()))
