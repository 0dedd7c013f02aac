"""How cross stimulus recovery is planned: its table in an edition, its settings, and how they depart from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from assay.engine.pattern import cell_pattern
from assay.engine.records import Access, Cell, Demand
from assay.plan.phases import steps_of, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Request
from assay.procedures.departures import TOLERANCE, deeper, other_range, shortened
from assay.procedures.planned import refuse_deep, scaled_ns, shared_bytes, unfit
from assay.procedures.xsr.run import AccessGroup, CrossStimulusSettings, run_xsr
from assay.results.ended import ran_to_its_end
from assay.results.step import cell_label
from assay.spec.datum import Datum, Strict
from assay.spec.edition import BlockKib, DemandDatum, RangeDatum, Seconds, Share
from assay.spec.units import HOUR_SECONDS, KIB, SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import DriveIdentity, SkippedTest, StoredTest
    from assay.plan.options import DemandOptions
    from assay.plan.phases import PlannedPhase

Group = tuple["Access", int, float]
"""Access, transfer size in bytes and hours of an access group."""


class AccessGroupDatum(Strict):
    """One access group of cross stimulus recovery; writes only."""

    access: Literal["random", "sequential"]
    block_kib: BlockKib
    hours: float = Field(gt=0, le=7 * 24)


class CrossStimulusTable(Strict):
    """Parameters of cross stimulus recovery.

    groups : access groups in the order they run. recovered_share : of the mean throughput of the first group, at which
    the third counts as recovered.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    sample_seconds: Datum[Seconds]
    groups: Datum[Annotated[tuple[AccessGroupDatum, ...], Field(min_length=1, max_length=9)]]
    recovered_share: Datum[Share]


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
        groups=tuple(_access_group(group, request) for group in groups),
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
        phases=tuple(_group_phase(settings, group) for group in settings.groups),
        outline=_xsr_outline(settings),
    )


def xsr_departures(
    settings: CrossStimulusSettings, table: CrossStimulusTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How cross stimulus recovery departs from its edition."""
    samples = test.steps("group") if test else None
    yield from shortened("samples", settings.sample_ns, table.sample_seconds.value, samples)
    yield from dict.fromkeys(_shorter_groups(settings, table, test))
    yield from other_range(settings, table.test_range.value, drive)
    yield from deeper(settings, samples or ())


def _shorter_groups(
    settings: CrossStimulusSettings, table: CrossStimulusTable, test: StoredTest | None
) -> Iterator[str]:
    for index, (group, datum) in enumerate(zip(settings.groups, table.groups.value, strict=False), 1):
        asked_ns, shown_ns = round(datum.hours * HOUR_SECONDS * SECOND_NS), group.span_ns
        if test is not None:
            ran_ns = sum(step.span_ns for step in test.steps("group", index))
            if not ran_to_its_end(test) or ran_ns >= asked_ns * (1 - TOLERANCE):
                continue
            shown_ns = group.span_ns if abs(group.span_ns - ran_ns) <= settings.sample_ns else ran_ns
        if shown_ns != asked_ns:
            yield f"{group.label} for {duration_label(shown_ns)} instead of {duration_label(asked_ns)}"


def _group_phase(settings: CrossStimulusSettings, group: AccessGroup) -> PlannedPhase:
    samples = steps_of(group.pattern, settings.demand, settings.sample_ns, settings.sample_count(group))
    return timed_phase(group.label, [samples], stages=("group",), least_ns=group.span_ns)


def _access_group(group: Group, request: Request[Any, Any]) -> AccessGroup:
    access, size, hours = group
    return AccessGroup(
        label=cell_label(Cell(read_pct=0, transfer_bytes=size), access),
        pattern=cell_pattern(access, size, 0.0, request.data),
        span_ns=scaled_ns(hours * HOUR_SECONDS, request.scale),
    )


def _xsr_outline(settings: CrossStimulusSettings) -> PlanSummary:
    groups = [f"{group.label} for {duration_label(group.span_ns)}" for group in settings.groups]
    return PlanSummary(
        what="access groups",
        steps="samples",
        step_ns=settings.sample_ns,
        notes=(", then ".join(groups),),
        facts={"groups": [{"label": group.label, "span_ns": group.span_ns} for group in settings.groups]},
    )
