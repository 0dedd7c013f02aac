"""The tables of a test loop: numbers for CSV, workbook and JSON, response times, and cells of the last rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from assay.engine.records import Cell
from assay.procedures.families.loop.figures import matrix_maps, seconds_figure
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import (
    OPEN_LOOP_SHARES,
    cell_spreads,
    complete_rounds,
    headline_window,
    no_window_reason,
    offered_rates,
    open_loop_times,
    rounds_origin,
    shown,
    window_sequences,
    window_times,
)
from assay.results.histogram import NINES, step_times
from assay.results.host import round_hosts
from assay.results.step import (
    arrival_label,
    cell_label,
    effective_queue_depth,
    error_count,
    holds_queue_depth,
    iops,
    max_latency_ms,
    max_latency_ns,
    mean_latency_ms,
    mean_latency_ns,
    thread_spread,
    throughput,
)
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import KIB, kib_value
from assay.summary import table as of
from assay.summary.measures import percentile_key
from assay.summary.pages.figures import spread_heat
from assay.summary.pages.header import model_label, serial_label
from assay.summary.pages.histograms import CURVES_MAX, Distribution, histogram_tables, part
from assay.summary.pages.model import Table, Text
from assay.summary.table import Column, Lines, Pivot, named, percentile_columns, table_of
from assay.words.coded import coded
from assay.words.printed import (
    NOT_AVAILABLE,
    UNKNOWN,
    milliseconds_label,
    milliseconds_or_na,
    one_decimal,
    paragraph,
    rounds_label,
    utc,
)
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from assay.engine.records import StepRecord, StoredRun, StoredSequence, StoredTest
    from assay.procedures.families.loop.result import (
        LatencyTimes,
        LoopResult,
        OfferedRate,
        OpenLoopTimes,
        Spread,
        WindowTimes,
    )
    from assay.summary.pages.histograms import Part
    from assay.summary.pages.model import Figure
    from assay.summary.pages.test_record import PagePart
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


def cell_tables(test: StoredTest) -> tuple[Table, ...]:
    """Queue depth, response times, failures and gaps of every cell in the last five rounds."""
    name = test.settings.test_label
    demand = test.settings.demand

    def closed_or_held(record: StepRecord) -> bool:
        return demand.arrivals_per_s is not None or holds_queue_depth(record, demand)

    contents: tuple[tuple[str, Callable[[StepRecord], str]], ...] = (
        (
            "effective queue depth (I/Os outstanding on the drive, mean; ! where off by more than 0.5 %)",
            lambda r: f"{effective_queue_depth(r):,.2f}{'' if closed_or_held(r) else ' !'}",
        ),
        ("average response time (ms)", lambda r: milliseconds_label(mean_latency_ns(r))),
        ("maximum response time (ms)", lambda r: milliseconds_label(max_latency_ns(r))),
        ("failed and short I/Os", lambda r: f"{error_count(r):,}"),
        ("longest time without a submission (ms)", lambda r: milliseconds_label(r.submission_gap_ns_max)),
        ("I/Os of the threads apart, most less fewest over mean (%)", lambda r: _thread_spread(r, test)),
    )
    return tuple(_cell_table(f"{name}: {title}", test, printed) for title, printed in contents)


def _thread_spread(record: StepRecord, test: StoredTest) -> str:
    spread = thread_spread(record, test.settings.demand)
    return UNKNOWN if spread is None else f"{float(100 * spread):.2f}"


def _cell_table(caption: str, test: StoredTest, printed: Callable[[StepRecord], str]) -> Table:
    """Print one quantity of every cell in each of the last five rounds, averaging nothing over rounds."""
    rounds = complete_rounds(test)[-WINDOW_ROUNDS:]
    cells = test.settings_as(LoopSettings).cells
    return Table(
        caption=caption,
        columns=("Cell", *(f"Round {round_.index}" for round_ in rounds)),
        rows=tuple(
            (
                cell_label(cell, test.settings_as(LoopSettings).access),
                *(printed(round_.cells[index]) for round_ in rounds),
            )
            for index, cell in enumerate(cells)
        ),
        folded=True,
        notes=(f"Started {utc(test.started_wall_ns)}, ended {utc(test.ended_wall_ns)}.",),
    )


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


CELLS_PER_PAGE = 10
_OPEN_COLUMNS = (
    "Cell", "Offered (I/Os/s)", "Achieved (I/Os/s)", "Share", "Verdict", "Latency (ms)", "Average",
    *(f"{share * 100:g} %" for share in OPEN_LOOP_SHARES), "Maximum",
)  # fmt: skip
_OPEN_NOTES = (
    """Service: from submission. Intended: the same I/Os from when they were due, their wait to be issued included; I/Os
    that were due but never issued are in neither.""",
    """Verdict: pass from 99 % on, invalid below 95 %; n/a where a step is too short to tell: fewer than ten missing
    or fewer than 1.5 times those outstanding on average. Percentiles are n/a with fewer than ten I/Os beyond.""",
)


def open_loop_parts(test: StoredTest, result: LoopResult) -> tuple[PagePart, ...]:
    """Lay out the pages of an open loop; none for a closed one."""
    arrivals = arrival_label(test.settings.demand)
    if arrivals is None:
        return ()
    subtitle = f"Open Loop - {arrivals}"
    rates, times = offered_rates(test, result), open_loop_times(test, result)
    if not rates:
        return ((subtitle, (Text(paragraphs=(no_window_reason(result),)),)),)
    cells, access = list(rates), test.settings_as(LoopSettings).access
    notes = (rounds_origin(result, "Over"), *map(paragraph, _OPEN_NOTES))
    tables = (
        Table(
            caption="Offered and achieved rate, service latency and latency from intended start",
            columns=_OPEN_COLUMNS,
            rows=tuple(
                row
                for cell in cells[first : first + CELLS_PER_PAGE]
                for row in _open_rows(cell_label(cell, access), rates[cell], times[cell])
            ),
            notes=notes,
        )
        for first in range(0, len(cells), CELLS_PER_PAGE)
    )
    return tuple((subtitle, (table,)) for table in tables)


def _open_rows(label: str, rate: OfferedRate, times: OpenLoopTimes) -> Iterator[tuple[str, ...]]:
    level = NOT_AVAILABLE if rate.level == "unknown" else rate.level.upper()
    share = f"{rate.share:.2%}".replace("%", " %")
    first = (label, one_decimal(rate.offered_per_s), one_decimal(rate.achieved_per_s), share, level)
    yield (*first, "service", *_printed_latencies(times.service))
    yield (*("" for _ in first), "intended", *_printed_latencies(times.intended))


def _printed_latencies(times: LatencyTimes) -> tuple[str, ...]:
    nines = [times.percentiles_ms.get(share) for share in OPEN_LOOP_SHARES]
    values = (times.latency_ms_mean, *nines, times.latency_ms_max)
    return tuple(map(milliseconds_or_na, values))
