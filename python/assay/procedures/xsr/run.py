"""How cross stimulus recovery is planned and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.engine.pattern import cell_pattern
from assay.engine.records import Access, Cell, Demand, Ending, Purge, SkippedTest, StepSequence
from assay.plan.phases import steps_of, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Request
from assay.procedures.families.saturation.run import pattern_step
from assay.procedures.planned import refuse_deep, scaled_ns, shared_bytes, unfit
from assay.procedures.sequences import numbered
from assay.procedures.xsr.result import sample_count
from assay.procedures.xsr.settings import AccessGroup, CrossStimulusSettings
from assay.results import cell_label
from assay.spec.units import HOUR_SECONDS, KIB, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.plan.options import DemandOptions
    from assay.plan.phases import PlannedPhase
    from assay.plan.procedure import Context, Course
    from assay.procedures.xsr.edition import CrossStimulusTable

Group = tuple["Access", int, float]
"""Access, transfer size in bytes and hours of an access group."""

SAMPLES_PER_SEQUENCE = 60
"""So that what was measured is durable now and then."""


def plan_xsr(request: Request[CrossStimulusTable, DemandOptions]) -> list[PlannedTest | SkippedTest]:
    """Settle what cross stimulus recovery does on a drive.

    Raises ValueRangeError for an absurd demand.
    Worked: ``pts-e-1.1`` -> 480, 360 and 480 samples of one minute, 22 h in all.
    """
    table = request.table
    groups = [(datum.access, int(datum.block_kib * KIB), datum.hours) for datum in table.groups.value]
    return [
        plan_groups(
            "xsr",
            "xsr",
            groups,
            demand=request.options.demand(table.demand.value.to_demand()),
            range_amount_bytes=shared_bytes(table.test_range.value, request.drive),
            sample_seconds=table.sample_seconds.value,
            recovered_share=table.recovered_share.value,
            request=request,
        )
    ]


def plan_groups(
    procedure: str,
    test: str,
    groups: Sequence[Group],
    *,
    demand: Demand,
    range_amount_bytes: int,
    sample_seconds: float,
    recovered_share: float,
    request: Request[Any, Any],
) -> PlannedTest | SkippedTest:
    """Settle one run of access groups, whatever their order.

    procedure, test : as in settings. groups : access, transfer size in bytes and hours of each, in the order they run.
    """
    settings = CrossStimulusSettings(
        procedure=procedure,
        test=test,
        edition=request.edition.name,
        demand=demand,
        data=request.data,
        range_amount_bytes=range_amount_bytes,
        segment_count=None,
        range_limit=1.0,
        slope_limit=1.0,
        write_cache_required=request.edition.write_cache.value,
        groups=tuple(_group(group, request) for group in groups),
        sample_ns=scaled_ns(sample_seconds, request.scale),
        recovered_share=recovered_share,
    )
    for group in settings.groups:
        if left_out := unfit(test, group.label, group.pattern, request.drive):
            return left_out
    refuse_deep(test, settings.demand)
    span_ns = sum(group.span_ns for group in settings.groups)
    return PlannedTest(
        settings=settings,
        run=run_xsr,
        earliest_ns=span_ns,
        latest_ns=span_ns,
        phases=tuple(_phase(settings, group) for group in settings.groups),
        outline=_outline(settings),
    )


def _phase(settings: CrossStimulusSettings, group: AccessGroup) -> PlannedPhase:
    samples = steps_of(group.pattern, settings.demand, settings.sample_ns, sample_count(settings, group))
    return timed_phase(group.label, [samples], stages=("group",), least_ns=group.span_ns)


def run_xsr(settings: CrossStimulusSettings, _: Context) -> Course:
    """Purge, then every access group on what the one before has left."""
    yield Purge()
    for index in range(1, len(settings.groups) + 1):
        yield from access_group(settings, index)
    return Ending(reason="time", reached=True)


def access_group(settings: CrossStimulusSettings, index: int) -> Iterator[StepSequence]:
    """The sequences of access group ``index``, from 1. Worked: 480 samples -> eight sequences of 60."""
    group = settings.groups[index - 1]
    sample = pattern_step(group.label, group.pattern, settings.demand, settings.range_amount_bytes, settings.sample_ns)
    total = sample_count(settings, group)
    for first in range(0, total, SAMPLES_PER_SEQUENCE):
        count = min(SAMPLES_PER_SEQUENCE, total - first)
        yield StepSequence(
            name=f"access group {index}, {numbered('samples', first + 1, count)}",
            stage="group",
            index=index,
            steps=(sample,) * count,
            role="measure",
            on_void="stop",
        )


def _group(group: Group, request: Request[Any, Any]) -> AccessGroup:
    access, size, hours = group
    return AccessGroup(
        label=cell_label(Cell(read_pct=0, transfer_bytes=size), access),
        pattern=cell_pattern(access, size, 0.0, request.data),
        span_ns=scaled_ns(hours * HOUR_SECONDS, request.scale),
    )


def _outline(settings: CrossStimulusSettings) -> PlanSummary:
    groups = [f"{group.label} for {duration_label(group.span_ns)}" for group in settings.groups]
    return PlanSummary(
        what="access groups",
        steps="samples",
        step_ns=settings.sample_ns,
        notes=(", then ".join(groups),),
        facts={"groups": [{"label": group.label, "span_ns": group.span_ns} for group in settings.groups]},
    )
