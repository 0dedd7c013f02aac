"""How the response times of a test loop are spread over its measurement window, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.pages.distribution import CURVES_MAX, Distribution, part
from assay.pages.heat_figures import spread_heat
from assay.pages.model import pictured
from assay.pages.tail import tail_figure
from assay.procedures.loop.figures import mixes_figure
from assay.procedures.loop.maps import MOVED_MARK, iops_map, matrix_maps
from assay.procedures.loop.open_loop import window_sequences
from assay.procedures.loop.result import cell_times
from assay.procedures.loop.seconds import seconds_figure
from assay.procedures.loop.settings import LoopSettings
from assay.procedures.loop.spread import cell_spreads
from assay.results import cell_label, step_times
from assay.spec.units import KIB, kib_value
from assay.words.coded import coded
from assay.words.printed import outstanding_label, rounds_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredSequence, StoredTest
    from assay.pages.distribution import Part
    from assay.pages.model import Figure
    from assay.procedures.loop.values import LoopResult

_SIZES, _MIXES, _PURE = (4 * KIB, 8 * KIB), (100, 65, 0), (0, 100)
"""Cells of these are drawn beside those that are tracked: they are those of the response time test."""

_FEW = 3
_MATRIX_ASPECT = 1.9
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


def loop_picture(test: StoredTest, result: LoopResult, prefix: str) -> Figure | None:
    """What says most of a test loop: of response times their tail, of IOPS the matrix, of throughput the rounds."""
    drawn = {"latency": _tails, "iops": _matrix}.get(test.settings_as(LoopSettings).variable, _rounds)
    return drawn(test, result, prefix)


def _rounds(test: StoredTest, result: LoopResult, prefix: str) -> Figure | None:
    """Throughput in all rounds, a line per mix."""
    settings = test.settings_as(LoopSettings)
    figure = mixes_figure(f"{prefix}-picture", result, settings)
    asked = f"Does throughput settle as the rounds go on? {outstanding_label(settings.demand)}."
    return pictured(figure, figure.name, asked) if figure and result.matrix else None


def _matrix(test: StoredTest, result: LoopResult, prefix: str) -> Figure | None:
    """IOPS of every cell as colours, with the numbers."""
    settings = test.settings_as(LoopSettings)
    figure = iops_map(f"{prefix}-picture", settings, result) if len(settings.sizes_bytes) > 1 else None
    mark = f"; {MOVED_MARK}" if any(one.moved for one in cell_spreads(result, settings).values()) else ""
    asked = f"How do IOPS depend on block size and mix? k: thousands; {outstanding_label(settings.demand)}{mark}."
    return pictured(figure, figure.name, asked, _MATRIX_ASPECT) if figure else None


def _tails(test: StoredTest, result: LoopResult, prefix: str) -> Figure | None:
    """The tail of 4 KiB reads and writes."""
    settings = test.settings_as(LoopSettings)
    cells = [Cell(read_pct=share, transfer_bytes=_SIZES[0]) for share in _PURE]
    found = [
        (cell_label(cell, settings.access), cell_times(test, result, cell)) for cell in cells if cell in settings.cells
    ]
    curves = [(label, times) for label, times in found if times]
    figure = tail_figure(f"{prefix}-picture", curves)
    reading = f"How slow are the slowest I/Os? {outstanding_label(settings.demand)}."
    return pictured(figure, figure.name, reading) if figure else None


def _parts(settings: LoopSettings, sequences: list[StoredSequence]) -> dict[Cell, Part]:
    times = [found for one in sequences if (found := step_times(one))]
    return {
        cell: part(
            (kib_value(cell.transfer_bytes), cell.read_pct),
            cell_label(cell, settings.access),
            [one.steps[place] for one in sequences],
            [found[place] for found in times],
        )
        for place, cell in enumerate(settings.cells)
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
