"""A synthetic stored write saturation test. Nothing here was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.pattern import workload
from assay.engine.records import DataPattern, Demand, PurgeRecord, StepRecord, StoredTest
from assay.procedures.families.saturation.result import SaturationSettings, saturation_window
from assay.procedures.families.saturation.run import pattern_step
from assay.spec.units import GB, MINUTE_NS, SECOND_NS
from report_run import START_NS, TRACKED, balanced, stored_steps, synthetic_direction, synthetic_step

if TYPE_CHECKING:
    from collections.abc import Sequence


def saturation_settings(**changes: Any) -> SaturationSettings:
    """Make settings as ``pts-c-1.0`` gives them on a drive of 256 GB; ``changes`` go into them."""
    chosen = workload("rnd-4k-write", DataPattern())
    settings = SaturationSettings(
        procedure="wsat",
        test="wsat",
        edition="pts-c-1.0",
        demand=Demand(thread_count=16, queue_depth=2),
        data=DataPattern(),
        pattern=chosen.pattern,
        label=chosen.label,
        range_amount_bytes=256 * GB,
        segment_count=None,
        range_limit=0.2,
        slope_limit=0.1,
        write_cache_required="enabled",
        sample_ns=MINUTE_NS,
        samples_per_verdict=31,
        stop="first",
        time_ns=1440 * MINUTE_NS,
        amount_bytes=1024 * GB,
    )
    return replace(settings, **changes)


def saturation_step(rate: float) -> StepRecord:
    """Make one minute of 4 KiB writes at a rate."""
    count = round(rate * 60)
    step = synthetic_step(TRACKED, 0)
    outstanding_ns = 32 * 60 * SECOND_NS
    # Nothing crosses the ends of the window, as equal steps would have to carry it on.
    write = replace(synthetic_direction(count, 4096), latency_ns_sum=outstanding_ns)
    return balanced(replace(step, span_ns=MINUTE_NS, write=write, outstanding_ns=outstanding_ns))


def saturation_test(rates: Sequence[float], *, ended: str | None = "time", **changes: Any) -> StoredTest:
    """Make a stored test of one sample per rate, with the verdict over the last five verdict samples."""
    settings = saturation_settings(**changes)
    steps = tuple(saturation_step(rate) for rate in rates)
    asked = pattern_step(
        settings.label, settings.pattern, settings.demand, settings.range_amount_bytes, settings.sample_ns
    )
    sequences = tuple(
        stored_steps("sample", place // 31 + 1, *steps[place : place + 31], asked=asked)
        for place in range(0, len(steps), 31)
    )
    window = saturation_window(steps, settings)
    return StoredTest(
        settings=settings,
        started_wall_ns=START_NS,
        ended_wall_ns=START_NS + len(steps) * MINUTE_NS if ended else None,
        purge=PurgeRecord(method="simulated purge", proof="every mapping is gone", deviation=None, span_ns=10**9),
        sequences=sequences,
        verdict=window,
        window_stage="sample" if window else "",
        window_indexes=window.rounds if window else (),
        ended=ended,
    )
