"""The numbers of steps and windows in ``results.json``."""

from __future__ import annotations

from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.results import (
    effective_queue_depth,
    error_count,
    iops,
    issued_bytes,
    lead_in_latency_ns_max,
    max_latency_ns,
    mean_latency_ns,
    throughput,
    void_reason,
    window_count,
)
from assay.words.printed import or_null
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engine.records import MeasurementWindow, StepRecord, TestSettings
    from assay.results.finding import Finding
    from assay.words.coded import Coded


def window_results(window: MeasurementWindow | None, withheld: Coded | None) -> dict[str, Any] | None:
    """A measurement window with its verdicts; None where there is none or nothing may be printed."""
    return asdict(window) if window and not withheld else None


def judged_step(step: StepRecord, settings: TestSettings) -> dict[str, Any]:
    """The numbers of one step, and why it is void; null where it is not."""
    return {**step_results(step), "void": text_or_none(void_reason([step], settings))}


def finding_results(finding: Finding) -> dict[str, Any]:
    """A finding, its level null where it does not apply."""
    facts = {
        "level": or_null(finding.level),
        "reason": finding.words,
        "measured": finding.measured,
        "limit": finding.limit,
    }
    return {**facts, "where": str(finding.where), "weight": finding.weight}


def record_results(record: Any, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The fields of a record, with the series of its ``samples`` among them. names : of series that have another one.

    Worked: a label and samples -> ``label``, ``minutes``, ``iops``, ``throughput``, and so on.
    """
    results: dict[str, Any] = {}
    for key, value in asdict(record).items():
        results |= (
            {names.get(name, name): series for name, series in value.items()} if key == "samples" else {key: value}
        )
    return results


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
        "misaligned_io_count": record.misaligned_io_count,
        "successor_io_count": record.successor_io_count,
        "submission_gap_ns_max": record.submission_gap_ns_max,
        "stall_ns_max": record.stall_ns_max,
        "error_count": error_count(record),
        "cpu_ns": record.cpu_ns,
        "ended": record.ended,
    }
