"""Every value that will be printed, computed from step records."""

from __future__ import annotations

from assay.results.audit import SequenceAudit, sequence_audits
from assay.results.captured import POINT_SHARES, ExactTimes, exact_times, latency_buckets
from assay.results.disturbed import host_findings, sequence_host
from assay.results.ended import ran_to_its_end, stored_error_count
from assay.results.events import disturbing, disturbs
from assay.results.histogram import (
    BEYOND_MIN,
    NINES,
    ResponseTimes,
    direction_times,
    intended_times,
    merged,
    percentiles,
    step_times,
)
from assay.results.host import certified_point, fill_point, host_checks
from assay.results.measured import counted_sequences, kept_histograms
from assay.results.outcome import is_reached, withheld_reason, withholding
from assay.results.reference import (
    CHANGE_MAX,
    SPREAD_MAX,
    has_drifted,
    is_repeatable,
    reference_changes,
    reference_checks,
    repeated,
    worst_change,
    worst_spread,
)
from assay.results.run_checks import ENDED, run_checks
from assay.results.silent import NO_COMPLETIONS, Tracked, is_whole_round, no_completions_reason, silent_cell
from assay.results.stall import Stall, is_void, stalled_steps, stalls, void_places, void_reason
from assay.results.step import (
    arrival_label,
    cell_label,
    completed_count,
    effective_queue_depth,
    error_count,
    holds_queue_depth,
    iops,
    issued_bytes,
    latency_count,
    lead_in_latency_ns_max,
    max_latency_ns,
    mean_latency_ns,
    ran_whole,
    rate_count,
    response_time,
    thread_spread,
    throughput,
    window_count,
)
from assay.results.stimulus_audit import stimulus_audit

__all__ = [
    "BEYOND_MIN",
    "CHANGE_MAX",
    "ENDED",
    "NINES",
    "NO_COMPLETIONS",
    "POINT_SHARES",
    "SPREAD_MAX",
    "ExactTimes",
    "ResponseTimes",
    "SequenceAudit",
    "Stall",
    "Tracked",
    "arrival_label",
    "cell_label",
    "certified_point",
    "completed_count",
    "counted_sequences",
    "direction_times",
    "disturbing",
    "disturbs",
    "effective_queue_depth",
    "error_count",
    "exact_times",
    "fill_point",
    "has_drifted",
    "holds_queue_depth",
    "host_checks",
    "host_findings",
    "intended_times",
    "iops",
    "is_reached",
    "is_repeatable",
    "is_void",
    "is_whole_round",
    "issued_bytes",
    "kept_histograms",
    "latency_buckets",
    "latency_count",
    "lead_in_latency_ns_max",
    "max_latency_ns",
    "mean_latency_ns",
    "merged",
    "no_completions_reason",
    "percentiles",
    "ran_to_its_end",
    "ran_whole",
    "rate_count",
    "reference_changes",
    "reference_checks",
    "repeated",
    "response_time",
    "run_checks",
    "sequence_audits",
    "sequence_host",
    "silent_cell",
    "stalled_steps",
    "stalls",
    "step_times",
    "stimulus_audit",
    "stored_error_count",
    "thread_spread",
    "throughput",
    "void_places",
    "void_reason",
    "window_count",
    "withheld_reason",
    "withholding",
    "worst_change",
    "worst_spread",
]
