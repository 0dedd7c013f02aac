"""The figures of a test loop as data: rounds, matrices, seconds and those of its own page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import MOVED_SHARE, cell_spreads, headline_window, shown
from assay.results.step import cell_label, throughput
from assay.spec.lazy import LazyModule
from assay.spec.units import KIB, SECOND_NS, kib_label, kib_value, kibibytes
from assay.summary.pages.figures import NARROW_ASPECT, WINDOW_COLOURS, MainFigure, main_tail, matrix_heat, window_lines
from assay.summary.pages.model import Figure, Series, Tick
from assay.words.digits import block, share, si
from assay.words.printed import NOT_AVAILABLE, depth_label, mix_label, percent, size_label

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from assay.engine.records import StoredSequence, StoredTest
    from assay.procedures.families.loop.result import LoopResult
    from assay.summary.pages.histograms import Distribution, Part
    from assay.words.coded import Order
else:
    np = LazyModule("numpy")


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
            room="box",
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
    """Plot values per block size and mix as columns; None without one. titles : of the values, and of their axis."""
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


_IOPS = "IOPS"
_DIGITS = 3
MOVED_MARK = f"* IOPS moved by more than {percent(MOVED_SHARE)} in the window"
_LARGE, _THOUSAND = 99.95, 1000


def matrix_maps(
    settings: LoopSettings,
    result: LoopResult,
    sequences: Sequence[StoredSequence],
    parts: dict[Cell, Part],
    prefix: str,
) -> Iterator[tuple[str, Figure]]:
    """A map per quantity of a test of IOPS, each behind a sentence; none without a measurement window."""
    quantities: tuple[tuple[str, str, Mapping[Cell, float | None]], ...] = (
        ("iops", _IOPS, result.matrix),
        ("mb", "Throughput (MB/s)", _mean_throughput(settings, sequences)),
        ("mean", "Mean Response Time (ms)", {cell: maps.latency_ms_mean for cell, maps in parts.items()}),
    )
    moved = _moved(settings, result)
    mark = f"; {MOVED_MARK}" if moved else ""
    for name, title, values in quantities:
        figure = _map(f"{prefix}-map-{name}", title, settings, values, moved)
        if figure:
            yield f"{title} of every cell, averaged over the measurement window{mark}.", figure


def matrix_map(name: str, settings: LoopSettings, result: LoopResult) -> Figure | None:
    """The test's own variable in every cell, with a mark at those that moved; None without a measurement window."""
    return _map(name, shown(settings).axis, settings, result.matrix, _moved(settings, result), text=_few_digits)


def _moved(settings: LoopSettings, result: LoopResult) -> frozenset[Cell]:
    return frozenset(cell for cell, one in cell_spreads(result, settings).items() if one.moved)


def _mean_throughput(settings: LoopSettings, sequences: Sequence[StoredSequence]) -> dict[Cell, float | None]:
    return {
        cell: float(sum(throughput(sequence.steps[index]) for sequence in sequences) / len(sequences))
        for index, cell in enumerate(settings.cells)
        if sequences
    }


def _map(
    name: str,
    title: str,
    settings: LoopSettings,
    values: Mapping[Cell, float | None],
    moved: Container[Cell],
    *,
    text: Callable[[float | None], str] | None = None,
) -> Figure | None:
    printed = text or _text
    sizes, mixes = sorted(settings.sizes_bytes), sorted(settings.read_pcts)
    rows = [[Cell(read_pct=mix, transfer_bytes=size) for size in sizes] for mix in mixes]
    return matrix_heat(
        name,
        [[values.get(cell) for cell in row] for row in rows],
        [[printed(values.get(cell)) + ("*" if cell in moved else "") for cell in row] for row in rows],
        columns=[kib_label(size) for size in sizes],
        rows=[mix_label(mix) for mix in mixes],
        titles=("Block Size (KiB)", "R/W Mix", title),
    )


def _few_digits(value: float | None) -> str:
    """As ``_text``, thousands in three digits. Worked: 24632.0 -> ``"24.6k"``."""
    return si(value) if value and value >= _THOUSAND else _text(value)


def _text(value: float | None) -> str:
    """Three digits or all before the point. Worked: 24632.0 -> ``"24,632"``, 99.97 -> ``"100"``, 14 -> ``"14.0"``."""
    if not value:
        return NOT_AVAILABLE
    return f"{value:,.0f}" if value >= _LARGE else f"{value:#.{_DIGITS}g}"


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


_QUOTED = 4 * KIB
_MARK = f"* varied by more than {share(MOVED_SHARE)}"
_WAYS = {100: "read", 0: "write"}
_TITLES = {"iops": "IOPS by block size and mix", "latency": "Mean response time by block size and mix"}


def loop_main_figures(
    test: StoredTest, result: LoopResult, distribution: Distribution, prefix: str
) -> Iterator[MainFigure]:
    """What says most of it first: of throughput its rounds, of response times their tail, of IOPS the matrix."""
    settings = test.settings_as(LoopSettings)
    matrix, rounds = [*_matrix(settings, result, prefix)], [*_rounds(settings, result, prefix)]
    tail = _tail(settings, distribution, prefix)
    order = {"iops": (*matrix, *tail), "latency": (*tail, *matrix)}
    yield from (*order.get(settings.variable, tail), *rounds)


def _matrix(settings: LoopSettings, result: LoopResult, prefix: str) -> Iterator[MainFigure]:
    """The average of every cell; none of a single block size."""
    title = _TITLES.get(settings.variable)
    figure = matrix_map(f"{prefix}-main-matrix", settings, result) if len(settings.sizes_bytes) > 1 else None
    if figure and title:
        moved = any(cell_spread.moved for cell_spread in cell_spreads(result, settings).values())
        note = "; ".join((depth_label(settings.demand), *([_MARK] if moved else [])))
        yield MainFigure(kind="matrix", title=title, note=note, figure=figure)


def _tail(settings: LoopSettings, distribution: Distribution, prefix: str) -> tuple[MainFigure, ...]:
    """Pure reads and writes of 4 KiB, or of the smallest size where it has no such cell."""
    size = _QUOTED if _QUOTED in settings.sizes_bytes else min(settings.sizes_bytes)
    parts = {part.key: part for part in distribution.parts}
    known = [(way, parts.get((kib_value(size), mix))) for mix, way in _WAYS.items()]
    tails = [(f"{way} {block(size)}", part.times) for way, part in known if part]
    title = f"Response times, {block(size)}"
    return main_tail(f"{prefix}-main-tail", tails, depth_label(settings.demand), title)


def _rounds(settings: LoopSettings, result: LoopResult, prefix: str) -> Iterator[MainFigure]:
    """The tracked cells by round with what is judged; of few cells every cell."""
    figure = _by_round(f"{prefix}-main-rounds", settings, result)
    if figure:
        yield MainFigure(kind="curve", title="Rounds", note=depth_label(settings.demand), figure=figure)


def _by_round(name: str, settings: LoopSettings, result: LoopResult) -> Figure | None:
    drawn = mixes_figure if len(settings.cells) <= len(_WAYS) else tracking_figure
    return drawn(name, result, settings)
