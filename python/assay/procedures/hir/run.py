"""How host idle recovery is planned and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.pattern import workload
from assay.engine.records import IDLE, Ending, Purge, SkippedTest, StepSequence
from assay.plan.phases import steps_of, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Request
from assay.procedures.families.saturation.run import (
    earliest_steady_ns,
    pattern_step,
    sampled_preconditioning,
    saturate,
    saturation_phase,
)
from assay.procedures.hir.settings import IdleRecoverySettings
from assay.procedures.planned import refuse_deep, scaled_ns, shared_bytes, unfit
from assay.procedures.sequences import numbered
from assay.spec.units import count_label, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.pattern import Workload
    from assay.engine.records import StepSpec
    from assay.plan.options import DemandOptions
    from assay.plan.phases import PlannedPhase
    from assay.plan.procedure import Context, Course
    from assay.procedures.hir.edition import IdleRecoveryTable

CYCLES_PER_SEQUENCE = 60
"""Sequences of a wait state end behind an idle step, so that what was measured is durable now and then."""


def plan_hir(request: Request[IdleRecoveryTable, DemandOptions]) -> list[PlannedTest | SkippedTest]:
    """Settle what host idle recovery does on a drive.

    Raises ValueRangeError for an absurd demand.
    Worked: ``pts-e-1.1`` -> 15.5 h of wait states behind at least 2.5 h of preconditioning.
    """
    chosen = workload("rnd-4k-write", request.data)
    if left_out := unfit("hir", chosen.label, chosen.pattern, request.drive):
        return [left_out]
    settings = _settings(chosen, request)
    refuse_deep("hir", settings.demand)
    waits_ns = sum(_segment_ns(settings, idle_ns) for idle_ns in settings.idles_ns)
    return [
        PlannedTest(
            settings=settings,
            run=run_hir,
            earliest_ns=earliest_steady_ns(settings.preconditioning) + waits_ns,
            latest_ns=settings.preconditioning.time_ns + waits_ns,
            phases=(
                saturation_phase("preconditioning until steady", settings.preconditioning),
                _wait_states(settings, waits_ns),
            ),
            outline=_outline(settings),
        )
    ]


def run_hir(settings: IdleRecoverySettings, _: Context) -> Course:
    """Purge, samples until steady, which give the baseline of the bursts, then every wait state."""
    yield Purge()
    prepared = yield from saturate(settings.preconditioning, "measure")
    if prepared.silent:
        return prepared.ending(reached=False)
    for index in range(1, len(settings.idles_ns) + 1):
        yield from wait_state(settings, index)
    steady = prepared.ended == "steady"
    return Ending(reason="steady" if steady else "round-limit", reached=steady)


def wait_state(settings: IdleRecoverySettings, index: int) -> Iterator[StepSequence]:
    """The sequences of wait state ``index``, from 1: bursts with idle time after each, then bursts without.

    Worked: 360 cycles and 360 return bursts -> six sequences of 120 steps and one of 360.
    """
    idle_ns = settings.idles_ns[index - 1]
    burst = pattern_step(
        settings.label, settings.pattern, settings.demand, settings.range_amount_bytes, settings.burst_ns
    )
    idle = pattern_step("idle", settings.pattern, IDLE, settings.range_amount_bytes, idle_ns)
    for first in range(0, settings.cycles, CYCLES_PER_SEQUENCE):
        count = min(CYCLES_PER_SEQUENCE, settings.cycles - first)
        yield _of_wait_state(index, numbered("bursts", first + 1, count), [burst, idle] * count)
    yield _of_wait_state(index, "bursts without idle time", [burst] * settings.return_bursts)


def _of_wait_state(index: int, part: str, steps: Sequence[StepSpec]) -> StepSequence:
    name = f"wait state {index}, {part}"
    return StepSequence(name=name, stage="segment", index=index, steps=tuple(steps), role="measure", on_void="stop")


def _settings(chosen: Workload, request: Request[IdleRecoveryTable, DemandOptions]) -> IdleRecoverySettings:
    table, edition = request.table, request.edition
    demand = request.options.demand(table.demand.value.to_demand())
    preconditioning = sampled_preconditioning(
        table.preconditioning,
        procedure="hir",
        test="hir",
        pattern=chosen.pattern,
        label=chosen.label,
        demand=demand,
        request=request,
        test_range=table.test_range.value,
    )
    burst_ns = scaled_ns(table.burst_seconds.value, request.scale)
    return IdleRecoverySettings(
        procedure="hir",
        test="hir",
        edition=edition.name,
        demand=demand,
        data=chosen.pattern.data,
        range_amount_bytes=shared_bytes(table.test_range.value, request.drive),
        segment_count=None,
        range_limit=preconditioning.range_limit,
        slope_limit=preconditioning.slope_limit,
        write_cache_required=edition.write_cache.value,
        preconditioning=preconditioning,
        pattern=chosen.pattern,
        label=chosen.label,
        burst_ns=burst_ns,
        wait_states=table.wait_states.value,
        idles_ns=tuple(scaled_ns(seconds, request.scale) for seconds in table.idle_seconds.value),
        cycles=table.cycles.value,
        return_bursts=max(round(table.return_seconds.value / table.burst_seconds.value), 1),
    )


def _wait_states(settings: IdleRecoverySettings, span_ns: int) -> PlannedPhase:
    count = len(settings.idles_ns) * (settings.cycles + settings.return_bursts)
    bursts = steps_of(settings.pattern, settings.demand, settings.burst_ns, count)
    return timed_phase("wait states", [bursts], stages=("segment",), least_ns=span_ns, most_ns=span_ns)


def _segment_ns(settings: IdleRecoverySettings, idle_ns: int) -> int:
    return settings.cycles * (settings.burst_ns + idle_ns) + settings.return_bursts * settings.burst_ns


def _outline(settings: IdleRecoverySettings) -> PlanSummary:
    idles = ", ".join(duration_label(idle_ns) for idle_ns in settings.idles_ns)
    return PlanSummary(
        what=f"{settings.label} until steady, then wait states",
        steps=count_label(settings.cycles, "burst"),
        step_ns=settings.burst_ns,
        notes=(f"idle times of {idles}; {settings.return_bursts} bursts without after each",),
        facts={"idles_ns": list(settings.idles_ns), "cycles": settings.cycles},
    )
