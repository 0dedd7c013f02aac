"""``results.json``: every number of a report, unrounded, with what it rests on."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.finding import facts
from assay.report.checks import checks_of
from assay.report.label import conformity_label, deviations
from assay.report.variable import shown
from assay.units import kibibytes
from assay.window import (
    effective_queue_depth,
    error_count,
    host_checks,
    iops,
    is_complete,
    issued_bytes,
    lead_in_latency_ns_max,
    max_latency_ns,
    mean_latency_ns,
    offered_rates,
    open_loop_times,
    reference_checks,
    throughput,
    void_reason,
    window_count,
    window_times,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.records import (
        Cell,
        LoopSettings,
        MeasurementWindow,
        ReferenceDrive,
        Round,
        StepRecord,
        StoredRun,
        StoredTest,
        TestSettings,
    )
    from assay.report.sheets import Sheets
    from assay.window import LoopResult, SaturationResult, WindowTimes

SCHEMA = 1


def results_json(run: StoredRun, tests: Sequence[Sheets]) -> bytes:
    """Write a run's results as JSON text, ASCII only, keys in a fixed order.

    Numbers are unrounded; what is unknown or may not be printed is null. Rates also carry their exact
    numerator and denominator.
    """
    content = {
        "schema": SCHEMA,
        "run_id": run.run_id,
        "journal": asdict(run.journal) if run.journal else None,
        "label": conformity_label(run),
        "deviations": list(deviations(run)),
        "identity": asdict(run.identity),
        "platform": asdict(run.platform),
        "certificate": asdict(run.certificate) if run.certificate else None,
        "checks": [facts(one) for one in (*host_checks(run), *reference_checks(_reference(run)))],
        "description": run.description,
        "plan": run.plan,
        "started_wall_ns": run.started_wall_ns,
        "report_date_ns": run.report_date_ns,
        "tests": [_test(sheets) for sheets in tests],
        "skipped": [asdict(test) for test in run.skipped],
    }
    return (json.dumps(content, indent=1, default=str) + "\n").encode("ascii")


def _test(sheets: Sheets) -> dict[str, Any]:
    test = sheets.test
    return {
        "settings": asdict(test.settings),
        "started_wall_ns": test.started_wall_ns,
        "ended_wall_ns": test.ended_wall_ns,
        "ended": test.ended,
        "purge": asdict(test.purge) if test.purge else None,
        **sheets.results(),
        "checks": [facts(one) for one in checks_of(sheets.run, test)],
        "histogram": [_judged_step(step, test.settings) for step in test.steps("histogram")],
    }


def _reference(run: StoredRun) -> ReferenceDrive | None:
    return run.certificate.reference if run.certificate else None


def window_results(window: MeasurementWindow | None, withheld: str | None) -> dict[str, Any] | None:
    """A measurement window with its verdicts; None where there is none or nothing may be printed."""
    return asdict(window) if window and not withheld else None


def loop_results(test: StoredTest, result: LoopResult) -> dict[str, Any]:
    """The numbers of a test loop."""
    settings = test.loop
    times = window_times(test, result)
    return {
        "error_count": result.error_count,
        "withheld": result.withheld,
        "window": window_results(result.window, result.withheld),
        "matrix": [_matrix_cell(cell, result, settings) for cell in settings.cells],
        "response_times": [{**_cell_key(cell), **_times(found)} for cell, found in times.items()],
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


def _times(times: WindowTimes) -> dict[str, Any]:
    nines = {f"latency_ms_p{share * 100:g}": value for share, value in times.percentiles_ms.items()}
    return {"iops": times.iops, "latency_ms_mean_of_ios": times.average_ms, **nines, "latency_ms_max": times.largest_ms}


def saturation_results(test: StoredTest, result: SaturationResult) -> dict[str, Any]:
    """The numbers of a write saturation test."""
    marks = ("peak", "peak_drop", "steady", "first_steady")
    return {
        "error_count": result.error_count,
        "withheld": result.withheld,
        "window": window_results(result.window, result.withheld),
        "steady_iops": result.steady_iops,
        "plateau": result.plateau,
        "marks": {name: asdict(mark) if (mark := getattr(result, name)) else None for name in marks},
        "samples": [_judged_step(step, test.settings) for step in test.steps("sample")],
    }


def _matrix_cell(cell: Cell, result: LoopResult, settings: LoopSettings) -> dict[str, Any]:
    return {**_cell_key(cell), shown(settings).column: result.matrix.get(cell)}


def _round(round_: Round, test: StoredTest) -> dict[str, Any]:
    # A round that was cut short has fewer cells.
    cells = zip(test.loop.cells, round_.cells, strict=False)
    complete = is_complete(round_.cells, test.loop)
    return {
        "round": round_.index,
        "complete": complete,
        "void": void_reason(round_.cells, test.loop),
        "cells": [{**_cell_key(cell), **step_results(record)} for cell, record in cells],
    }


def _judged_step(step: StepRecord, settings: TestSettings) -> dict[str, Any]:
    return {**step_results(step), "void": void_reason([step], settings)}


def _cell_key(cell: Cell) -> dict[str, Any]:
    return {
        "block_kib": kibibytes(cell.transfer_bytes),
        "read_pct": cell.read_pct,
        "write_pct": 100 - cell.read_pct,
    }


def step_results(record: StepRecord) -> dict[str, Any]:
    """The numbers of one step."""
    rate = iops(record)
    return {
        "iops": float(rate),
        "iops_numerator": rate.numerator,
        "iops_denominator": rate.denominator,
        "mb_per_s": float(throughput(record)),
        "span_ns": record.span_ns,
        "lead_in_ns": record.lead_in_ns,
        "carried_in_ns": record.carried_in_ns,
        "carried_out_ns": record.carried_out_ns,
        "start_wall_ns": record.start_wall_ns,
        "read_io_count": window_count(record.read),
        "write_io_count": window_count(record.write),
        "read_bytes_issued": issued_bytes(record.read),
        "write_bytes_issued": issued_bytes(record.write),
        "effective_queue_depth": effective_queue_depth(record),
        "latency_ns_mean": mean_latency_ns(record),
        "latency_ns_max": max_latency_ns(record),
        "lead_in_latency_ns_max": lead_in_latency_ns_max(record),
        "offered_io_count": record.offered_io_count,
        "submission_gap_ns_max": record.submission_gap_ns_max,
        "stall_ns_max": record.stall_ns_max,
        "error_count": error_count(record),
        "cpu_ns": record.cpu_ns,
        "ended": record.ended,
    }
