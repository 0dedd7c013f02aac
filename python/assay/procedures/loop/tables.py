"""The tables of numbers of a test loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.engine.records import Cell
from assay.pages.data_tables import PERCENTILE_COLUMNS, histogram_tables
from assay.pages.header import model_label, serial_label
from assay.pages.model import DataTable
from assay.pages.printed import NOT_APPLICABLE, NOT_AVAILABLE, or_na, paragraph, rounds_label
from assay.procedures.loop.open_loop import OPEN_LOOP_SHARES, offered_rates, open_loop_times
from assay.procedures.loop.result import complete_rounds, window_times
from assay.procedures.loop.settings import LoopSettings
from assay.procedures.loop.spread import cell_spreads
from assay.procedures.loop.values import headline_window, no_window_reason
from assay.procedures.loop.variable import shown
from assay.results import (
    HOST_COLUMNS,
    NINES,
    effective_queue_depth,
    error_count,
    iops,
    max_latency_ns,
    mean_latency_ns,
    round_hosts,
    throughput,
)
from assay.spec.units import kib_value, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StepRecord, StoredRun, StoredTest
    from assay.procedures.loop.open_loop import LatencyTimes
    from assay.procedures.loop.spread import Spread
    from assay.procedures.loop.values import LoopResult


ROUNDS_COLUMNS = (
    "round",
    "block_kib",
    "read_pct",
    "iops",
    "mb_per_s",
    "effective_queue_depth",
    "latency_ms_mean",
    "latency_ms_max",
    "error_count",
    *HOST_COLUMNS,
)


def loop_tables(run: StoredRun, test: StoredTest, result: LoopResult, suffix: str) -> Iterator[DataTable]:
    """The tables of a test loop. ``suffix`` tells tests of the same name apart.

    Numbers are unrounded; ``n/a`` where none may be printed, ``N/A`` where the drive cannot run a size.
    """
    name = test.settings.test.replace("-", "_")
    yield _matrix(run, test, result, f"{name}_matrix{suffix}")
    yield _rounds(test, f"{name}_rounds{suffix}")
    yield _response_times(test, result, f"{name}_response_times{suffix}")
    if test.settings.demand.arrivals_per_s is not None:
        yield _open_loop(test, result, f"{name}_open_loop{suffix}")
    yield from histogram_tables(test, suffix)


def _matrix(run: StoredRun, test: StoredTest, result: LoopResult, name: str) -> DataTable:
    """A test's matrix, one row per cell, sorted by block size and then by read share.

    The first three columns are ``block_kib``, ``read_pct`` and the test's own variable; note says why a number is
    missing.
    """
    settings = test.settings_as(LoopSettings)
    window = headline_window(result)
    drive = (model_label(run), serial_label(run))
    steady = ("reached" if window.reached else "not reached") if window else NOT_AVAILABLE
    rounds = rounds_label(window.rounds if window else ())
    spreads = cell_spreads(result, settings)
    rows = []
    for size in sorted({*settings.sizes_bytes, *settings.not_applicable}):
        absent = NOT_APPLICABLE if size in settings.not_applicable else NOT_AVAILABLE
        note = settings.not_applicable.get(size, "" if window else no_window_reason(result))
        for read_pct in sorted(settings.read_pcts):
            value = result.matrix.get(Cell(read_pct=read_pct, transfer_bytes=size), absent)
            found = (value, 100 - read_pct, rounds, steady, *drive, paragraph(note) if note else "")
            spread = spreads.get(Cell(read_pct=read_pct, transfer_bytes=size))
            rows.append((kib_value(size), read_pct, *found, *_spread(spread, absent)))
    variable = shown(settings).column
    columns = ("block_kib", "read_pct", variable, "write_pct", "rounds", "steady_state")
    more = ("drive_model", "drive_serial", "note", *spread_columns(variable))
    return DataTable(name=name, columns=(*columns, *more), rows=tuple(rows))


def spread_columns(variable: str) -> tuple[str, str, str, str]:
    """Names of the least and greatest round of the window, the coefficient of variation, and the mark."""
    return f"{variable}_least", f"{variable}_greatest", "variation_share", "moved_over_20_pct"


def _spread(spread: Spread | None, absent: str) -> tuple[Any, ...]:
    if spread is None:
        return (absent,) * 4
    return spread.least, spread.greatest, spread.variation, "yes" if spread.moved else "no"


def _rounds(test: StoredTest, name: str) -> DataTable:
    """Every cell of every complete round in the order they ran."""
    hosts = round_hosts(test)
    rows = (
        (
            round_.index,
            kib_value(cell.transfer_bytes),
            cell.read_pct,
            *_measured(record),
            *map(or_na, hosts[round_.index]),
        )
        for round_ in complete_rounds(test)
        for cell, record in zip(test.settings_as(LoopSettings).cells, round_.cells, strict=True)
    )
    return DataTable(name=name, columns=ROUNDS_COLUMNS, rows=tuple(rows))


def _response_times(test: StoredTest, result: LoopResult, name: str) -> DataTable:
    rows = []
    for cell, times in window_times(test, result).items():
        nines = [or_na(times.percentiles_ms.get(share)) for share in NINES]
        values = (times.iops, or_na(times.latency_ms_mean), *nines, or_na(times.latency_ms_max))
        rows.append((kib_value(cell.transfer_bytes), cell.read_pct, *values))
    columns = ("block_kib", "read_pct", "iops", "latency_ms_mean_of_ios", *PERCENTILE_COLUMNS, "latency_ms_max")
    return DataTable(name=name, columns=columns, rows=tuple(sorted(rows)))


def _open_loop(test: StoredTest, result: LoopResult, name: str) -> DataTable:
    times = open_loop_times(test, result)
    rows = []
    for cell, rate in offered_rates(test, result).items():
        both = (value for kind in (times[cell].service, times[cell].intended) for value in _latencies(kind))
        level = None if rate.level == "unknown" else rate.level
        values = (rate.offered_per_s, rate.achieved_per_s, rate.share, or_na(level), *both)
        rows.append((kib_value(cell.transfer_bytes), cell.read_pct, *values))
    nines = tuple(f"p{share * 100:g}" for share in OPEN_LOOP_SHARES)
    latencies = tuple(f"{kind}_ms_{what}" for kind in ("service", "intended") for what in ("mean", *nines, "max"))
    columns = ("block_kib", "read_pct", "offered_per_s", "achieved_per_s", "achieved_share", "verdict", *latencies)
    return DataTable(name=name, columns=columns, rows=tuple(sorted(rows)))


def _latencies(times: LatencyTimes) -> tuple[Any, ...]:
    nines = (times.percentiles_ms.get(share) for share in OPEN_LOOP_SHARES)
    return tuple(map(or_na, (times.latency_ms_mean, *nines, times.latency_ms_max)))


def _measured(record: StepRecord) -> tuple[Any, ...]:
    mean, largest = mean_latency_ns(record), max_latency_ns(record)
    return (
        float(iops(record)),
        float(throughput(record)),
        effective_queue_depth(record),
        NOT_AVAILABLE if mean is None else milliseconds(mean),
        NOT_AVAILABLE if largest is None else milliseconds(largest),
        error_count(record),
    )
