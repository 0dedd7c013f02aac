"""Every value that will be printed, computed from step records."""

from __future__ import annotations

from assay.window.audit import (
    ProgramAudit,
    program_audits,
)
from assay.window.histogram import (
    BEYOND_MIN,
    NINES,
    ResponseTimes,
    direction_times,
    merged,
    percentiles,
    step_times,
)
from assay.window.loop import (
    LatencyMaxima,
    LoopResult,
    WindowTimes,
    cell_values,
    complete_rounds,
    is_complete,
    latency_maxima,
    loop_result,
    measurement_window,
    window_times,
)
from assay.window.outcome import (
    stored_error_count,
    withheld_reason,
)
from assay.window.saturation import (
    Mark,
    SaturationResult,
    complete_samples,
    saturation_result,
    saturation_window,
    written_bytes,
)
from assay.window.step import (
    cell_label,
    completed_count,
    effective_queue_depth,
    error_count,
    holds_queue_depth,
    iops,
    issued_bytes,
    max_latency_ns,
    mean_latency_ns,
    response_time,
    thread_spread,
    throughput,
)

__all__ = [
    "BEYOND_MIN",
    "NINES",
    "LatencyMaxima",
    "LoopResult",
    "Mark",
    "ProgramAudit",
    "ResponseTimes",
    "SaturationResult",
    "WindowTimes",
    "cell_label",
    "cell_values",
    "complete_rounds",
    "complete_samples",
    "completed_count",
    "direction_times",
    "effective_queue_depth",
    "error_count",
    "holds_queue_depth",
    "iops",
    "is_complete",
    "issued_bytes",
    "latency_maxima",
    "loop_result",
    "max_latency_ns",
    "mean_latency_ns",
    "measurement_window",
    "merged",
    "percentiles",
    "program_audits",
    "response_time",
    "saturation_result",
    "saturation_window",
    "step_times",
    "stored_error_count",
    "thread_spread",
    "throughput",
    "window_times",
    "withheld_reason",
    "written_bytes",
]
