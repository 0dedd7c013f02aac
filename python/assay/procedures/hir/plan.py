"""How host idle recovery is planned: its table in an edition, its settings, and how they depart from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from assay.engine.pattern import workload
from assay.plan.phases import steps_of, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Request
from assay.procedures.departures import deeper, other_range, shortened
from assay.procedures.families.saturation.run import earliest_steady_ns, sampled_preconditioning, saturation_phase
from assay.procedures.hir.run import IdleRecoverySettings, run_hir
from assay.procedures.planned import refuse_deep, scaled_ns, shared_bytes, unfit
from assay.spec.datum import Datum, Strict
from assay.spec.edition import DemandDatum, RangeDatum, SampledPreconditioning, Seconds, Unique
from assay.spec.units import count_label, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.pattern import Workload
    from assay.engine.records import DriveIdentity, SkippedTest, StepRecord, StoredTest
    from assay.plan.options import DemandOptions
    from assay.plan.phases import PlannedPhase


class IdleRecoveryTable(Strict):
    """Parameters of host idle recovery.

    wait_states : numbers of the wait states in the order they run; idle_seconds : after each of their bursts.
    cycles : bursts of a wait state. return_seconds : of bursts without idle time after them.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    preconditioning: SampledPreconditioning
    burst_seconds: Datum[Seconds]
    wait_states: Datum[Annotated[tuple[int, ...], Unique]]
    idle_seconds: Datum[Annotated[tuple[Seconds, ...], Unique]]
    cycles: Datum[Annotated[int, Field(ge=1, le=10_000)]]
    return_seconds: Datum[Seconds]

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(self.wait_states.value) != len(self.idle_seconds.value):
            raise ValueError("every wait state needs its idle time")
        return self


def plan_hir(request: Request[IdleRecoveryTable, DemandOptions]) -> list[PlannedTest | SkippedTest]:
    """Settle what host idle recovery does on a drive.

    Raises ValueRangeError for an absurd demand.
    Worked: ``pts-e-1.1`` -> at least 2.5 h of preconditioning, then 15.5 h of wait states.
    """
    chosen = workload("rnd-4k-write", request.data)
    if left_out := unfit("hir", chosen.label, chosen.pattern, request.drive):
        return [left_out]
    settings = _hir_settings(chosen, request)
    refuse_deep("hir", settings.demand)
    waits_ns = sum(map(settings.wait_state_ns, settings.idles_ns))
    return [
        PlannedTest(
            settings=settings,
            run=run_hir,
            earliest_ns=earliest_steady_ns(settings.preconditioning) + waits_ns,
            latest_ns=settings.preconditioning.time_ns + waits_ns,
            phases=(
                saturation_phase("preconditioning until steady", settings.preconditioning),
                _wait_states_phase(settings, waits_ns),
            ),
            outline=_hir_outline(settings),
        )
    ]


def hir_departures(
    settings: IdleRecoverySettings, table: IdleRecoveryTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How host idle recovery departs from its edition."""
    samples = test.steps("sample") if test else None
    bursts, idles = _hir_bursts_and_idles(test, settings) if test else (None, None)
    asked = table.preconditioning.sample_seconds.value
    yield from shortened("preconditioning samples", settings.preconditioning.sample_ns, asked, samples)
    yield from shortened("bursts", settings.burst_ns, table.burst_seconds.value, bursts)
    yield from shortened("first idle times", settings.idles_ns[0], table.idle_seconds.value[0], idles)
    if settings.cycles < table.cycles.value:
        yield f"{settings.cycles} bursts of a wait state instead of {table.cycles.value}"
    yield from other_range(settings, table.test_range.value, drive)
    yield from deeper(settings, bursts or ())


def _hir_bursts_and_idles(
    test: StoredTest, settings: IdleRecoverySettings
) -> tuple[list[StepRecord], tuple[StepRecord, ...]]:
    """Every burst, and the idle times of the first wait state."""
    bursts: list[StepRecord] = []
    waits = 2 * settings.cycles
    states = [test.steps("segment", place) for place in range(1, len(settings.wait_states) + 1)]
    for steps in states:
        bursts += [*steps[:waits:2], *steps[waits:]]
    return bursts, states[0][1:waits:2] if states else ()


def _hir_settings(chosen: Workload, request: Request[IdleRecoveryTable, DemandOptions]) -> IdleRecoverySettings:
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


def _wait_states_phase(settings: IdleRecoverySettings, span_ns: int) -> PlannedPhase:
    count = len(settings.idles_ns) * (settings.cycles + settings.return_bursts)
    bursts = steps_of(settings.pattern, settings.demand, settings.burst_ns, count)
    return timed_phase("wait states", [bursts], stages=("segment",), least_ns=span_ns, most_ns=span_ns)


def _hir_outline(settings: IdleRecoverySettings) -> PlanSummary:
    idles = ", ".join(duration_label(idle_ns) for idle_ns in settings.idles_ns)
    return PlanSummary(
        what=f"{settings.label} until steady, then wait states",
        steps=count_label(settings.cycles, "burst"),
        step_ns=settings.burst_ns,
        notes=(f"idle times of {idles}; {settings.return_bursts} bursts without after each",),
        facts={"idles_ns": list(settings.idles_ns), "cycles": settings.cycles},
    )
