"""The plots of the loop tests' pages as data: what is drawn, not how."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.families.loop.values import headline_window
from assay.procedures.families.loop.variable import shown
from assay.results import cell_label
from assay.spec.units import KIB, kib_label, kibibytes
from assay.summary.pages.model import Figure, Series, Tick
from assay.summary.pages.verdict import NARROW_ASPECT, WINDOW_COLOURS, window_lines
from assay.words.printed import mix_label, size_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.procedures.families.loop.settings import LoopSettings
    from assay.procedures.families.loop.values import LoopResult
    from assay.words.subject import Order

ROUND_TITLE = "Round"
BLOCK_TITLE = "Block Size (KiB)"
MIX_TITLE = "R/W Mix"
PREFIX: dict[str, Order] = {"random": "RND", "sequential": "SEQ"}


# The same size and the same mix have one colour in every figure; the slow end, writes and reads have the clearest.
_SIZES = tuple(kib * KIB // 2 for kib in (2048, 256, 128, 64, 32, 16, 8, 1))
_MIXES = (0, 100, 65, 50, 35, 95, 5)


def _colours(values: Sequence[int], known: Sequence[int]) -> list[int]:
    """The colour of each value: its place among those that are known, or among the values where one is not.

    Worked: mixes of 0, 65 and 100 -> 0, 2 and 1; of 0 and 70 -> 0 and 1.
    """
    all_known = set(values) <= set(known)
    return [known.index(value) if all_known else index for index, value in enumerate(values)]


def convergence_figure(
    name: str, result: LoopResult, settings: LoopSettings, values: Mapping[Cell, tuple[float, ...]], read_pct: int = 0
) -> Figure | None:
    """Plot the cells of one mix by round, one series per block size, largest first; None before the first round.

    values : per cell, one value per round.
    """
    cells = [cell for cell in settings.cells if cell.read_pct == read_pct]
    series = tuple(
        Series(label=size_label(cell.transfer_bytes), x=_floats(result.rounds), y=values[cell], colour=colour)
        for cell, colour in zip(cells, _colours([cell.transfer_bytes for cell in cells], _SIZES), strict=True)
    )
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt=f"{shown(settings).noun} by round at {mix_label(read_pct)}, a line per block size",
            x_title=ROUND_TITLE,
            rounds=True,
            y_title=shown(settings).axis,
            y_scale="log" if len(series) > 1 and _positive(series) else "linear",
            legend_title=f"{PREFIX[settings.access]} {mix_label(read_pct)}",
            series=series,
            span=_span(result),
        )
    )


def mixes_figure(name: str, result: LoopResult, settings: LoopSettings) -> Figure | None:
    """Plot every cell by round from zero on, with the measurement window; None before the first round."""
    cells = sorted(settings.cells, key=lambda cell: cell.read_pct)
    series = tuple(
        Series(
            label=cell_label(cell, settings.access), x=_floats(result.rounds), y=result.by_round[cell], colour=colour
        )
        for cell, colour in zip(cells, _colours([cell.read_pct for cell in cells], _MIXES), strict=True)
    )
    noun, axis = shown(settings).noun, shown(settings).axis
    figure = Figure(
        name=name,
        kind="lines",
        alt=f"{noun} by round, a line per cell",
        x_title=ROUND_TITLE,
        rounds=True,
        y_title=axis,
        series=series,
        span=_span(result),
    )
    return _drawn(replace(figure, y_most=max(figure.y_values, default=None)))


def tracking_figure(name: str, result: LoopResult, settings: LoopSettings) -> Figure | None:
    """Plot the tracking variables in all rounds, with average, band and fit over the measurement window."""
    window = headline_window(result)
    several = len(settings.tracking) > 1
    series: list[Series] = []
    lines: list[Series] = []
    for index, cell in enumerate(settings.tracking):
        label = cell_label(cell, settings.access)
        series.append(
            Series(
                label=label,
                x=_floats(result.rounds),
                y=result.by_round[cell],
                colour=index,
                mode="lines+markers",
            )
        )
        if window:
            lines += window_lines(window.verdicts[label], colours=(index,) * 3 if several else WINDOW_COLOURS)
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt="Tracking variables by round with average, 110 % and 90 % lines and the least squares fit",
            x_title=ROUND_TITLE,
            rounds=True,
            y_title=shown(settings).axis,
            y_scale="log" if several and _positive(series) else "linear",
            series=_legend_once([*series, *lines]),
            span=_span(result),
        )
    )


def _span(result: LoopResult) -> tuple[float, float] | None:
    """The rounds of the measurement window on an axis of rounds, with half a round on both sides."""
    window = headline_window(result)
    return (window.rounds[0] - 0.5, window.rounds[-1] + 0.5) if window else None


def window_figure(name: str, result: LoopResult, settings: LoopSettings, cell: Cell) -> Figure | None:
    """Plot one tracking variable in the measurement window, or in all rounds where there is none."""
    label = cell_label(cell, settings.access)
    window = headline_window(result)
    rounds = window.rounds if window else result.rounds
    values = result.by_round[cell][-len(rounds) :] if rounds else ()
    series = [Series(label=label, x=_floats(rounds), y=values, colour=0, mode="markers" if window else "lines+markers")]
    if window:
        series += window_lines(window.verdicts[label], colours=WINDOW_COLOURS)
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt=f"{label}: {shown(settings).noun} in the rounds of the measurement window, with average, band and fit",
            x_title=ROUND_TITLE,
            rounds=True,
            y_title=shown(settings).axis,
            series=tuple(series),
            aspect=NARROW_ASPECT,
            narrow=True,
        )
    )


def plane_figure(name: str, result: LoopResult, settings: LoopSettings) -> Figure | None:
    """Plot the window average by block size on log axes, one series per R/W mix; None without a matrix."""
    sizes = sorted(settings.sizes_bytes)
    if len(sizes) == 1:
        return _bars_figure(name, result, settings, sizes[0])
    series = []
    mixes = sorted(settings.read_pcts)
    for read_pct, colour in zip(mixes, _colours(mixes, _MIXES), strict=True):
        results = {size: result.matrix.get(_cell(read_pct, size), 0.0) for size in sizes}
        # A log axis has no place for zero.
        points = [(kibibytes(size), value) for size, value in results.items() if value > 0]
        series.append(Series.through(points, mix_label(read_pct), colour))
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt=f"{shown(settings).noun} by block size on logarithmic axes, a line per read/write mix",
            x_title=BLOCK_TITLE,
            y_title=shown(settings).axis,
            legend_title=MIX_TITLE,
            x_scale="log",
            y_scale="log",
            ticks=tuple(Tick(at=kibibytes(size), label=kib_label(size)) for size in sizes),
            series=tuple(series),
        )
    )


def _bars_figure(name: str, result: LoopResult, settings: LoopSettings, size: int) -> Figure | None:
    """Plot the window averages of a single block size, a bar for each R/W mix."""
    mixes = sorted(settings.read_pcts)
    results = {read_pct: result.matrix.get(_cell(read_pct, size)) for read_pct in mixes}
    return _drawn(
        Figure(
            name=name,
            kind="bars",
            alt=f"{shown(settings).noun} of {size_label(size)} as bars, a bar per read/write mix",
            x_title=f"{MIX_TITLE}, {size_label(size)}",
            y_title=shown(settings).axis,
            legend_title=MIX_TITLE,
            ticks=tuple(Tick(at=float(index), label=mix_label(read_pct)) for index, read_pct in enumerate(mixes)),
            series=tuple(
                Series(label=mix_label(read_pct), x=(float(index),), y=(value,), colour=index)
                for index, read_pct in enumerate(mixes)
                if (value := results[read_pct]) is not None
            ),
        )
    )


def columns_figure(name: str, settings: LoopSettings, matrix: Mapping[Cell, float]) -> Figure | None:
    """Plot a matrix as columns over block size (x) and R/W mix (z); a cell without a value has none."""
    names = shown(settings)
    return matrix_columns(name, (names.noun, names.axis), settings.sizes_bytes, settings.read_pcts, matrix)


def matrix_columns(
    name: str,
    titles: tuple[str, str],
    sizes_bytes: Iterable[int],
    read_pcts: Iterable[int],
    matrix: Mapping[Cell, float],
) -> Figure | None:
    """The same of any values per block size and mix; None without one. titles : what they are, and of their axis."""
    if not matrix:
        return None
    sizes, mixes = sorted(sizes_bytes), sorted(read_pcts)
    return Figure(
        name=name,
        kind="columns",
        alt=f"{titles[0]} as columns over block size and read/write mix",
        x_title=BLOCK_TITLE,
        y_title=titles[1],
        z_title=MIX_TITLE,
        ticks=tuple(Tick(at=float(index), label=kib_label(size)) for index, size in enumerate(sizes)),
        series=tuple(
            Series(
                label=mix_label(read_pct),
                x=tuple(float(place) for place in range(len(sizes))),
                y=tuple(matrix.get(_cell(read_pct, size), 0.0) for size in sizes),
                colour=colour,
            )
            for read_pct, colour in zip(mixes, _colours(mixes, _MIXES), strict=True)
        ),
    )


def _legend_once(series: Iterable[Series]) -> tuple[Series, ...]:
    seen: set[str] = set()
    shown = []
    for one in series:
        shown.append(replace(one, label="") if one.label in seen else one)
        seen.add(one.label)
    return tuple(shown)


def _positive(series: Iterable[Series]) -> bool:
    # A log axis has no place for zero.
    return all(y > 0 for one in series for y in one.y)


def _drawn(figure: Figure) -> Figure | None:
    return figure if any(series.x for series in figure.series) else None


def _floats(rounds: Iterable[int]) -> tuple[float, ...]:
    return tuple(float(index) for index in rounds)


def _cell(read_pct: int, transfer_bytes: int) -> Cell:
    return Cell(read_pct=read_pct, transfer_bytes=transfer_bytes)
