"""The tables of numbers of a test loop: each column with what fills it, for CSV, workbook and ``results.json``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from assay.engine.records import Cell
from assay.procedures.families.loop.open_loop import OPEN_LOOP_SHARES, offered_rates, open_loop_times
from assay.procedures.families.loop.result import complete_rounds, window_times
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.spread import cell_spreads
from assay.procedures.families.loop.values import headline_window, no_window_reason
from assay.procedures.families.loop.variable import shown
from assay.results import (
    NINES,
    effective_queue_depth,
    error_count,
    iops,
    round_hosts,
    throughput,
)
from assay.results.step import max_latency_ms, mean_latency_ms
from assay.spec.units import kib_value
from assay.summary import columns as of
from assay.summary.columns import named, percentile_columns
from assay.summary.measures import percentile_key
from assay.summary.pages.data_tables import histogram_tables
from assay.summary.pages.header import model_label, serial_label
from assay.summary.table import Column, Lines, Pivot, table_of
from assay.words.coded import coded
from assay.words.printed import paragraph, rounds_label
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from assay.engine.records import StepRecord, StoredRun, StoredTest
    from assay.procedures.families.loop.open_loop import LatencyTimes, OfferedRate, OpenLoopTimes
    from assay.procedures.families.loop.result import WindowTimes
    from assay.procedures.families.loop.spread import Spread
    from assay.procedures.families.loop.values import LoopResult
    from assay.summary.table import Declared, Raw, ResultTable
    from assay.words.coded import Coded

_DOWN, _ACROSS = (of.BLOCK_KIB.key,), of.READ_PCT.key


def loop_tables(run: StoredRun, test: StoredTest, result: LoopResult, suffix: str) -> Iterator[ResultTable]:
    """The tables of a test loop. ``suffix`` tells tests of the same name apart."""
    name, settings = test.settings.test.replace("-", "_"), test.settings_as(LoopSettings)
    sizes = sorted({*settings.sizes_bytes, *settings.not_applicable})
    cells = [Cell(read_pct=mix, transfer_bytes=size) for size in sizes for mix in sorted(settings.read_pcts)]
    yield matrix_table(run, test, result, cells, f"{name}_matrix{suffix}")
    yield _rounds(test, f"{name}_rounds{suffix}")
    yield response_table(sorted(window_times(test, result).items(), key=_by_size), f"{name}_response_times{suffix}")
    if test.settings.demand.arrivals_per_s is not None:
        yield _open_loop(test, result, f"{name}_open_loop{suffix}")
    yield from histogram_tables(test, suffix)


def _by_size(one: tuple[Cell, object]) -> tuple[int, int]:
    return one[0].transfer_bytes, one[0].read_pct


def _cell_columns() -> Declared[Cell]:
    """What tells cells apart."""
    return (
        (of.BLOCK_KIB, lambda cell: kib_value(cell.transfer_bytes)),
        (of.READ_PCT, lambda cell: cell.read_pct),
    )


def matrix_table(
    run: StoredRun, test: StoredTest, result: LoopResult, cells: Iterable[Cell], key: str = "matrix"
) -> ResultTable:
    """A test's matrix, one row per cell: average of the window in its own variable, and how far the rounds lie apart.

    The least and the greatest round, the coefficient of variation, and whether a cell that is not tracked moved; note
    says why a number is missing.
    """
    settings, window = test.settings_as(LoopSettings), headline_window(result)
    spreads, reasons = cell_spreads(result, settings), settings.not_applicable
    variable, (column,) = shown(settings).column, named([shown(settings).column])
    why = "" if window else no_window_reason(result)

    def absent(cell: Cell) -> Raw:
        return coded("not-applicable") if cell.transfer_bytes in reasons else None

    def spread(take: Callable[[Spread], Raw]) -> Callable[[Cell], Raw]:
        return lambda cell: take(spreads[cell]) if cell in spreads else absent(cell)

    columns: Declared[Cell] = (
        *_cell_columns(),
        (column, lambda cell: result.matrix.get(cell, absent(cell))),
        (of.WRITE_PCT, lambda cell: 100 - cell.read_pct),
        (Column("rounds", "Rounds"), lambda _: rounds_label(window.rounds) if window else None),
        (Column("steady_state", "Steady state"), lambda _: _steady(result)),
        (Column("drive_model", "Drive"), lambda _: model_label(run)),
        (Column("drive_serial", "Serial"), lambda _: serial_label(run)),
        (Column("note", "Note"), lambda cell: _note(reasons.get(cell.transfer_bytes, why))),
        (Column(f"{variable}_least", "Least round", column.unit), spread(lambda cell: cell.least)),
        (Column(f"{variable}_greatest", "Greatest round", column.unit), spread(lambda cell: cell.greatest)),
        (Column("variation_share", "Coefficient of variation"), spread(lambda cell: cell.variation)),
        (Column("moved_over_20_pct", "Varied by more than 20 %"), spread(lambda cell: cell.moved)),
    )
    pivot = Pivot(_DOWN, _ACROSS, variable, "moved_over_20_pct")
    return table_of(key, column.heading, columns, cells, pivots=(pivot,), section="results")


def _steady(result: LoopResult) -> Raw:
    window = headline_window(result)
    return ("reached" if window.reached else "not reached") if window else None


def _note(text: str) -> str:
    return paragraph(text) if text else ""


class _RoundCell(NamedTuple):
    round_index: int
    cell: Cell
    step: StepRecord
    host: tuple[str | None, Coded | None]


_ROUNDS: Declared[_RoundCell] = (
    (of.ROUND, lambda round_cell: round_cell.round_index),
    (of.BLOCK_KIB, lambda round_cell: kib_value(round_cell.cell.transfer_bytes)),
    (of.READ_PCT, lambda round_cell: round_cell.cell.read_pct),
    (of.IOPS, lambda round_cell: float(iops(round_cell.step))),
    (of.MB_PER_S, lambda round_cell: float(throughput(round_cell.step))),
    (of.DEPTH_FOUND, lambda round_cell: effective_queue_depth(round_cell.step)),
    (of.MEAN, lambda round_cell: mean_latency_ms(round_cell.step)),
    (of.MAXIMUM, lambda round_cell: max_latency_ms(round_cell.step)),
    (of.ERRORS, lambda round_cell: error_count(round_cell.step)),
    (of.HOST, lambda round_cell: round_cell.host[0]),
    (of.HOST_REASON, lambda round_cell: text_or_none(round_cell.host[1])),
)


def _rounds(test: StoredTest, key: str) -> ResultTable:
    """Every cell of every complete round in the order they ran."""
    settings, hosts = test.settings_as(LoopSettings), round_hosts(test)
    rounds = (
        _RoundCell(round_.index, cell, step, hosts[round_.index])
        for round_ in complete_rounds(test)
        for cell, step in zip(settings.cells, round_.cells, strict=True)
    )
    drawn = _DRAWN[settings.variable]
    lines = Lines(of.ROUND.key, drawn, by=(of.BLOCK_KIB.key,), each=of.READ_PCT.key)
    return table_of(key, "Cells of every round", _ROUNDS, rounds, lines=(lines,))


_DRAWN = {"iops": of.IOPS.key, "throughput": of.MB_PER_S.key, "latency": of.MEAN.key}


def response_table(
    found: Iterable[tuple[Cell, WindowTimes]], key: str = "response_times", shares: Iterable[float] = NINES
) -> ResultTable:
    """Rate and response times of every cell over the window."""
    nines = tuple(shares)
    columns: Declared[tuple[Cell, WindowTimes]] = (
        *((column, _of_cell(fill)) for column, fill in _cell_columns()),
        (of.IOPS, lambda one: one[1].iops),
        (of.MEAN_OF_IOS, lambda one: one[1].latency_ms_mean),
        *zip(percentile_columns(nines), map(_share, nines), strict=True),
        (of.MAXIMUM, lambda one: one[1].latency_ms_max),
    )
    pivots = tuple(
        Pivot(_DOWN, _ACROSS, value) for value in (of.MEAN_OF_IOS.key, *map(percentile_key, nines[:1]), of.MAXIMUM.key)
    )
    return table_of(key, "Response times", columns, found, pivots=pivots, section="results")


def _of_cell(fill: Callable[[Cell], Raw]) -> Callable[[tuple[Cell, object]], Raw]:
    return lambda one: fill(one[0])


def _share(share: float) -> Callable[[tuple[Cell, WindowTimes]], Raw]:
    return lambda one: one[1].percentiles_ms.get(share)


class _OpenCell(NamedTuple):
    cell: Cell
    rate: OfferedRate
    times: OpenLoopTimes


def _open_loop(test: StoredTest, result: LoopResult, key: str) -> ResultTable:
    times = open_loop_times(test, result)
    results = [_OpenCell(cell, rate, times[cell]) for cell, rate in offered_rates(test, result).items()]
    columns: Declared[_OpenCell] = (
        (of.BLOCK_KIB, lambda open_cell: kib_value(open_cell.cell.transfer_bytes)),
        (of.READ_PCT, lambda open_cell: open_cell.cell.read_pct),
        (Column("offered_per_s", "Offered", "I/O/s"), lambda open_cell: open_cell.rate.offered_per_s),
        (Column("achieved_per_s", "Achieved", "I/O/s"), lambda open_cell: open_cell.rate.achieved_per_s),
        (Column("achieved_share", "Achieved share"), lambda open_cell: open_cell.rate.share),
        (
            Column("verdict", "Verdict"),
            lambda open_cell: None if open_cell.rate.level == "unknown" else open_cell.rate.level,
        ),
        *_latencies("service", lambda open_cell: open_cell.times.service),
        *_latencies("intended", lambda open_cell: open_cell.times.intended),
    )
    pivots = tuple(Pivot(_DOWN, _ACROSS, value) for value in ("achieved_share", "intended_ms_mean", "intended_ms_max"))
    results.sort(key=lambda one: (one.cell.transfer_bytes, one.cell.read_pct))
    return table_of(key, "Offered rates", columns, results, pivots=pivots, section="results")


def _latencies(
    kind: str, take: Callable[[_OpenCell], LatencyTimes]
) -> Iterator[tuple[Column, Callable[[_OpenCell], Raw]]]:
    """Mean, percentiles and maximum of one of the two latencies."""
    what = kind.capitalize()
    yield Column(f"{kind}_ms_mean", f"{what}, mean", "ms"), lambda one: take(one).latency_ms_mean
    for column, share in zip(percentile_columns(OPEN_LOOP_SHARES, f"{kind}_ms"), OPEN_LOOP_SHARES, strict=True):
        yield (
            replace(column, title=f"{what}, {column.title}"),
            lambda one, share=share: take(one).percentiles_ms.get(share),  # type: ignore[misc]
        )
    yield Column(f"{kind}_ms_max", f"{what}, largest", "ms"), lambda one: take(one).latency_ms_max
