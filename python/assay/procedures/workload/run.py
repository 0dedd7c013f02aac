"""How a workload is planned and what it does."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

from assay.engine.records import Ending, StepSequence, StopRule
from assay.plan.fills import fill_amounts, fill_phase, prepared
from assay.plan.phases import PlannedPhase, steps_of, timed_phase
from assay.plan.procedure import LONGEST_NS, PlannedTest, PlanSummary
from assay.procedures.custom import common_settings, whole_drive_bytes
from assay.procedures.planned import scaled_ns
from assay.procedures.workload.settings import WorkloadSettings, WorkloadStage
from assay.procedures.workload.streams import stage_steps
from assay.spec.units import SECOND_NS, count_label

if TYPE_CHECKING:
    from assay.engine.records import StepSpec
    from assay.plan.procedure import Context, Course, Request
    from assay.procedures.workload.options import WorkloadOptions
    from assay.spec.datum import Strict

_CHANCE = 6
"""Standard deviations that a count may lie above its mean."""


def plan_workload(request: Request[Strict, WorkloadOptions]) -> list[PlannedTest]:
    """Settle what a workload does on a drive.

    Raises UsageError without stages, ValueRangeError naming the stream that this drive cannot run.
    """
    request.options.require_stages()
    settings = _settings(request)
    phases = (*fill_phase(settings.fill_bytes), *(_phase(stage) for stage in settings.stages))
    least_ns = sum(_span_ns(stage) or 0 for stage in settings.stages)
    timed = all(_span_ns(stage) is not None for stage in settings.stages)
    return [
        PlannedTest(
            settings=settings,
            run=run_workload,
            earliest_ns=least_ns,
            latest_ns=least_ns if timed and not settings.fill_bytes else None,
            written_first_bytes=settings.fill_bytes,
            phases=phases,
            purge_count=int(settings.purges),
            step_count=_step_count(settings),
            outline=_outline(settings, least_ns),
        )
    ]


def _settings(request: Request[Strict, WorkloadOptions]) -> WorkloadSettings:
    options, drive = request.options, request.drive
    stages = tuple(
        WorkloadStage(
            name=stage.name,
            role=stage.role,
            ramp_up_ns=scaled_ns(stage.ramp_up_s, request.scale),
            streams=stage_steps(stage, drive, request.scale, request.data),
        )
        for stage in options.stages
    )
    common = common_settings(request, "workload", stages[0].streams[0].demand)
    return WorkloadSettings(
        **{**common, "test": "study-workload", "purges": options.purge},
        title=options.title,
        source=options.source,
        left_out=options.left_out,
        **fill_amounts(options.prepare_fills, whole_drive_bytes(drive), drive),
        stages=stages,
    )


def _step_count(settings: WorkloadSettings) -> int:
    """Each stream of each stage, once more where it has a ramp-up, and the fill."""
    streams = sum(len(stage.streams) * (2 if stage.ramp_up_ns else 1) for stage in settings.stages)
    return streams + (1 if settings.fill_bytes else 0)


def run_workload(settings: WorkloadSettings, _: Context) -> Course:
    """Purge and fill as stated, then every stage."""
    yield from prepared(settings)
    for index, stage in enumerate(settings.stages, 1):
        yield _sequence(stage, index)
    return Ending(reason="time", reached=True)


def _sequence(stage: WorkloadStage, index: int) -> StepSequence:
    """The streams of a stage; its ramp-up is in the same native call, so that no time without I/Os lies between."""
    ramp_up: tuple[StepSpec, ...] = ()
    if stage.ramp_up_ns:
        ramp_up = tuple(replace(spec, stop=StopRule(time_ns=stage.ramp_up_ns)) for spec in stage.streams)
    return StepSequence(
        name=stage.name,
        stage="stage",
        index=index,
        steps=ramp_up + stage.streams,
        role=stage.role,
        # What comes behind a stall or a reset cannot be told from what it left; else the drive is only made ready.
        on_void="stop" if stage.role == "measure" else "accept",
        ramp_up_steps=len(ramp_up),
    )


def _span_ns(stage: WorkloadStage) -> int | None:
    span_ns = stage.streams[0].stop.time_ns
    return None if span_ns is None else stage.ramp_up_ns + span_ns


def _phase(stage: WorkloadStage) -> PlannedPhase:
    stop, span_ns = stage.streams[0].stop, _span_ns(stage)
    if span_ns is not None:
        moving = [spec for spec in stage.streams if spec.pattern.operation == "transfer" and spec.demand.thread_count]
        closed = [spec for spec in moving if spec.demand.arrivals_per_s is None and not _pauses(spec)]
        steps = [steps_of(spec.pattern, spec.demand, span_ns, 1) for spec in closed]
        phase = timed_phase(stage.name, steps, least_ns=span_ns, most_ns=span_ns)
        at_rates = sum((_burst_bytes if _pauses(spec) else _rated_bytes)(spec, span_ns) for spec in moving)
        # The streams share one link; a rate, or pauses between bursts, bound what is written at it.
        return replace(
            phase, writing_ns=min(phase.writing_ns, span_ns), carried_bytes=phase.carried_bytes + ceil(at_rates)
        )
    amount = stop.amount_bytes
    if amount is None:
        sizes = [size for spec in stage.streams for size, _ in spec.pattern.sizes]
        amount = (stop.io_count or 0) * max(sizes)
    return PlannedPhase(name=stage.name, amount_bytes=amount, most_ns=LONGEST_NS, writing_ns=LONGEST_NS)


def _rated_bytes(spec: StepSpec, span_ns: int) -> float:
    """What a stream with a rate writes at most; chance may bring a Poisson process a little more."""
    demand, sizes = spec.demand, spec.pattern.sizes
    most_per_s = (demand.arrivals_per_s or 0.0) * max(demand.arrival_end_factor, 1.0)
    count = most_per_s * span_ns / SECOND_NS
    if demand.arrival_process == "poisson":
        count += _CHANCE * sqrt(count)
    mean_bytes = sum(size * share for size, share in sizes)
    return count * mean_bytes * (1 - spec.pattern.read_share)


def _pauses(spec: StepSpec) -> bool:
    """Whether there is a pause before every burst."""
    return bool(spec.pattern.lines) and all(line.delay_ns for line in spec.pattern.lines)


def _burst_bytes(spec: StepSpec, span_ns: int) -> float:
    """What a stream in bursts writes at most: its bursts as if they took no time; chance may bring larger ones.

    Worked: 128 writes of 512 KiB after each 1.1648 s, for 60 s -> 52.5 bursts, 3.524 GB.
    """
    lines = spec.pattern.lines
    written = [line.burst_io_count * line.transfer_bytes * (1 - line.read_share) for line in lines]
    pause_ns = sum(line.share * line.delay_ns for line in lines)
    count = spec.demand.thread_count * (span_ns / pause_ns + 1)
    mean = sum(line.share * size for line, size in zip(lines, written, strict=True))
    return count * mean + (_CHANCE * sqrt(count) * (max(written) - mean))


def _outline(settings: WorkloadSettings, span_ns: int) -> PlanSummary:
    most = max(len(stage.streams) for stage in settings.stages)
    return PlanSummary(
        what=settings.title or "workload",
        steps=count_label(len(settings.stages), "stage"),
        step_ns=span_ns // max(len(settings.stages), 1),
        notes=(f"at most {count_label(most, 'stream')} side by side", *settings.left_out),
        facts={"stages": [stage.name for stage in settings.stages]},
    )
