"""XSR, cross stimulus recovery.

Question:      How does a drive take the change between large sequential and small random writes, and how soon does it
               recover?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 12.
Purge:         yes.
Precondition:  none: the first access group begins on the fresh drive.
Loop:          SEQ 1024 KiB writes for 8 h, RND 8 KiB writes for 6 h, SEQ 1024 KiB writes for 8 h, in one-minute samples
               without a gap; the order and the hours are the profile's.
Tracking:      none.
Stop:          when all access groups have run.
Result:        throughput, average and maximum response time over time; minutes until the last group is back at the
               first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pattern import cell_pattern
from assay.procedures.planned import (
    Outline,
    PlannedTest,
    common_deviations,
    refuse_deep,
    scaled_ns,
    shared_bytes,
    unfit,
)
from assay.procedures.saturation.run import pattern_step, shortened
from assay.procedures.sequences import numbered
from assay.procedures.xsr.result import sample_count
from assay.records import AccessGroup, Cell, CrossStimulusSettings, Ending, Purge, SkippedTest, StepSequence
from assay.units import HOUR_SECONDS, KIB, SECOND_NS, duration_label
from assay.window import cell_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.plan import Plan
    from assay.procedures.planned import Context, Course
    from assay.profile import AccessGroupDatum, CrossStimulusProfile, Profile
    from assay.records import DataPattern, DriveIdentity

SAMPLES_PER_SEQUENCE = 60
"""So that what was measured is durable now and then."""


def plan_xsr(profile: Profile, plan: Plan, drive: DriveIdentity) -> list[PlannedTest | SkippedTest]:
    """Settle what cross stimulus recovery does on a drive.

    Raises ValueRangeError for an absurd demand.
    Worked: ``pts-e-1.1`` -> 480, 360 and 480 samples of one minute, 22 h in all.
    """
    edition = profile.xsr
    if edition is None:
        return [SkippedTest(test="xsr", reason=f"{profile.title} has no cross stimulus recovery")]
    settings = _settings(edition, profile, plan, drive)
    for group in settings.groups:
        if left_out := unfit("xsr", group.label, group.pattern, drive):
            return [left_out]
    refuse_deep("xsr", settings.demand)
    span_ns = sum(group.span_ns for group in settings.groups)
    return [
        PlannedTest(
            settings=settings,
            run=run_xsr,
            deviations=tuple(_deviations(settings, edition, profile, drive)),
            earliest_ns=span_ns,
            latest_ns=span_ns,
            outline=_outline(settings),
        )
    ]


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


def _settings(
    edition: CrossStimulusProfile, profile: Profile, plan: Plan, drive: DriveIdentity
) -> CrossStimulusSettings:
    data = plan.data.to_pattern()
    return CrossStimulusSettings(
        test="xsr",
        profile=profile.name,
        demand=plan.xsr.demand(edition.demand.value.to_demand()),
        data=data,
        range_amount_bytes=shared_bytes(edition.test_range.value, drive),
        segment_count=None,
        range_limit=1.0,
        slope_limit=1.0,
        write_cache_required=profile.write_cache.value,
        groups=tuple(_group(datum, data, plan.scale) for datum in edition.groups.value),
        sample_ns=scaled_ns(edition.sample_seconds.value, plan.scale),
        recovered_share=edition.recovered_share.value,
    )


def _group(datum: AccessGroupDatum, data: DataPattern, scale: float) -> AccessGroup:
    size = int(datum.block_kib * KIB)
    return AccessGroup(
        label=cell_label(Cell(read_pct=0, transfer_bytes=size), datum.access),
        pattern=cell_pattern(datum.access, size, 0.0, data),
        span_ns=scaled_ns(datum.hours * HOUR_SECONDS, scale),
    )


def _outline(settings: CrossStimulusSettings) -> Outline:
    groups = [f"{group.label} for {duration_label(group.span_ns)}" for group in settings.groups]
    return Outline(
        what="access groups",
        steps="samples",
        step_ns=settings.sample_ns,
        notes=(", then ".join(groups),),
        facts={"groups": [{"label": group.label, "span_ns": group.span_ns} for group in settings.groups]},
    )


def _deviations(
    settings: CrossStimulusSettings, edition: CrossStimulusProfile, profile: Profile, drive: DriveIdentity
) -> list[str]:
    lines = shortened("samples", settings.sample_ns, edition.sample_seconds.value)
    for group, datum in zip(settings.groups, edition.groups.value, strict=True):
        asked_ns = round(datum.hours * HOUR_SECONDS * SECOND_NS)
        if group.span_ns != asked_ns:
            lines.append(f"{group.label} for {duration_label(group.span_ns)} instead of {duration_label(asked_ns)}")
    return [*dict.fromkeys(lines), *common_deviations(settings, profile, drive)]
