"""How write saturation is planned and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.pattern import workload
from assay.engine.records import Purge, SkippedTest
from assay.errors import ValueRangeError
from assay.plan.phases import histogram_phase, steps_of
from assay.plan.procedure import PlannedTest, PlanSummary, Request
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.families.saturation.run import pattern_step, saturate, saturation_phase
from assay.procedures.planned import histogram, refuse_deep, scaled_ns, shared_bytes, unfit
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import HOUR_SECONDS, duration_label, gigabytes_label

if TYPE_CHECKING:
    from assay.engine.pattern import Workload
    from assay.engine.records import StepSequence
    from assay.plan.phases import PlannedPhase
    from assay.plan.procedure import Context, Course
    from assay.procedures.wsat.plan import SaturationOptions, SaturationTable


def plan_wsat(request: Request[SaturationTable, SaturationOptions]) -> list[PlannedTest | SkippedTest]:
    """Settle what the write saturation test does on a drive: one run per workload, each with its own purge.

    Raises ValueRangeError for a workload that the edition does not know and for an absurd demand.
    Worked: ``pts-c-1.0`` on 256 GB -> one run of at most 1,440 samples of 60 s, or 1,024 GB written.
    """
    return [_plan_workload(name, request) for name in request.options.workloads]


def run_wsat(settings: SaturationSettings, _: Context) -> Course:
    """Purge, samples until the stop rule ends them, and the response-time histogram where there is one."""
    yield Purge()
    last = yield from saturate(settings, "measure")
    if settings.histogram_ns and not last.silent:
        yield saturation_histogram(settings)
    return last.ending(reached=True)


def saturation_histogram(settings: SaturationSettings) -> StepSequence:
    """The response-time histogram behind the samples: the same accesses in one step."""
    label = f"histogram {settings.label}"
    step = pattern_step(label, settings.pattern, settings.demand, settings.range_amount_bytes, settings.histogram_ns)
    return histogram(step)


def _plan_workload(name: str, request: Request[SaturationTable, SaturationOptions]) -> PlannedTest | SkippedTest:
    table = request.table
    if name not in table.workloads.value:
        known = ", ".join(table.workloads.value)
        raise ValueRangeError(
            f"wsat.workloads: {name}", f"is no workload of {request.edition.name}", f"choose from {known}"
        )
    chosen = workload(name, request.data)
    test = f"wsat{chosen.suffix}"
    if left_out := unfit(test, chosen.label, chosen.pattern, request.drive):
        return left_out
    settings = _settings(test, chosen, request)
    refuse_deep(test, settings.demand)
    return PlannedTest(
        settings=settings,
        run=run_wsat,
        earliest_ns=_earliest_ns(settings),
        latest_ns=settings.time_ns + settings.histogram_ns if settings.stop in {"first", "time"} else None,
        written_amount_bytes=settings.amount_bytes if settings.stop in {"first", "amount"} else 0,
        phases=_phases(settings),
        outline=_outline(settings),
    )


def _phases(settings: SaturationSettings) -> tuple[PlannedPhase, ...]:
    samples = saturation_phase("samples", settings)
    if not settings.histogram_ns:
        return (samples,)
    behind = steps_of(settings.pattern, settings.demand, settings.histogram_ns, 1)
    return (samples, histogram_phase(behind))


def _settings(test: str, chosen: Workload, request: Request[SaturationTable, SaturationOptions]) -> SaturationSettings:
    table, options, drive = request.table, request.options, request.drive
    hours = table.time_hours.value if options.time_hours is None else options.time_hours
    multiple = table.amount_multiple.value if options.amount_multiple is None else options.amount_multiple
    histogram = options.histogram_minutes
    return SaturationSettings(
        procedure="wsat",
        test=test,
        edition=request.edition.name,
        demand=options.demand(table.demand.value.to_demand()),
        data=chosen.pattern.data,
        pattern=chosen.pattern,
        label=chosen.label,
        range_amount_bytes=shared_bytes(table.test_range.value, drive),
        segment_count=None,
        range_limit=table.range_limit.value,
        slope_limit=table.slope_limit.value,
        write_cache_required=request.edition.write_cache.value,
        sample_ns=scaled_ns(table.sample_seconds.value, request.scale),
        samples_per_verdict=table.samples_per_verdict.value,
        stop=options.stop or table.stop.value,
        time_ns=scaled_ns(hours * HOUR_SECONDS, request.scale),
        amount_bytes=round(multiple * drive.capacity_bytes),
        histogram_ns=scaled_ns(table.histogram_seconds.value if histogram is None else histogram * 60, request.scale),
    )


def _earliest_ns(settings: SaturationSettings) -> int:
    """With an amount among the rules only the drive knows: one sample."""
    verdict_ns = WINDOW_ROUNDS * settings.samples_per_verdict * settings.sample_ns
    earliest = {"time": settings.time_ns, "steady": verdict_ns}
    return earliest.get(settings.stop, settings.sample_ns) + settings.histogram_ns


def _outline(settings: SaturationSettings) -> PlanSummary:
    ends = {
        "time": f"after {duration_label(settings.time_ns)}",
        "amount": f"after {gigabytes_label(settings.amount_bytes)} written",
        "steady": "when five samples are steady",
    }
    chosen = ", ".join(ends.values()) if settings.stop == "first" else ends[settings.stop]
    return PlanSummary(
        what=settings.label,
        steps="samples",
        step_ns=settings.sample_ns,
        notes=(f"ends {chosen}" + (", whichever is first" if settings.stop == "first" else ""),),
        facts={"stop": settings.stop, "amount_bytes": settings.amount_bytes},
    )
