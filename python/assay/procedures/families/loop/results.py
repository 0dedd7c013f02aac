"""The numbers of a test loop in ``results.json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.procedures.families.loop.open_loop import offered_rates, open_loop_times
from assay.procedures.families.loop.result import is_complete, window_times
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.tables import matrix_table, response_table
from assay.results import void_reason
from assay.spec.units import kibibytes
from assay.summary.pages.results import step_results, window_results
from assay.summary.table import records
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from assay.engine.records import Cell, Round, StoredRun, StoredTest
    from assay.procedures.families.loop.values import LoopResult


def loop_results(run: StoredRun, test: StoredTest, result: LoopResult) -> dict[str, Any]:
    """The numbers of a test loop; cells in the order they ran."""
    cells, times = test.settings_as(LoopSettings).cells, window_times(test, result)
    shares = next(iter(times.values())).percentiles_ms if times else ()
    return {
        "error_count": result.error_count,
        "withheld": text_or_none(result.withheld),
        "window": window_results(result.window, result.withheld),
        "matrix": records(matrix_table(run, test, result, cells)),
        "response_times": records(response_table(times.items(), shares=shares)),
        "open_loop": _open_loop(test, result),
        "rounds": [_round(round_, test) for round_ in test.rounds],
    }


def _open_loop(test: StoredTest, result: LoopResult) -> list[dict[str, Any]] | None:
    """Rates and both latencies per cell; null in a closed loop."""
    if test.settings.demand.arrivals_per_s is None:
        return None
    times = open_loop_times(test, result)
    return [
        {**_cell_key(cell), **asdict(rate), **asdict(times[cell])} for cell, rate in offered_rates(test, result).items()
    ]


def _round(round_: Round, test: StoredTest) -> dict[str, Any]:
    # A round that was cut short has fewer cells.
    cells = zip(test.settings_as(LoopSettings).cells, round_.cells, strict=False)
    complete = is_complete(round_.cells, test.settings_as(LoopSettings))
    return {
        "round": round_.index,
        "complete": complete,
        "void": text_or_none(void_reason(round_.cells, test.settings_as(LoopSettings))),
        "cells": [{**_cell_key(cell), **step_results(record)} for cell, record in cells],
    }


def _cell_key(cell: Cell) -> dict[str, Any]:
    return {
        "block_kib": kibibytes(cell.transfer_bytes),
        "read_pct": cell.read_pct,
        "write_pct": 100 - cell.read_pct,
    }
