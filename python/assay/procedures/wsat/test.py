"""WSAT, write saturation.

Question:      How do the random writes of a fresh drive develop over time and data written?
Clauses:       PTS-C 1.0 clause 7; PTS-E 1.0, 1.1 and PTS 2.0 clause 10.
Purge:         yes.
Precondition:  none: the drive is fresh out of the box.
Loop:          RND 4 KiB writes over the whole drive in one-minute samples, without a gap.
Tracking:      IOPS of every 31st sample: minutes 31, 62, 93 and so on; the earliest verdict is at minute 155.
Stop:          first of time limit, amount written and five-point rule, or one of them alone.
Result:        IOPS over time and data written; peak, peak drop, steady state; in 2.0 a 20-minute histogram behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import ValueRangeError
from assay.pattern import workload
from assay.procedures.planned import (
    Outline,
    PlannedTest,
    common_deviations,
    histogram_deviation,
    refuse_deep,
    scaled_ns,
    shared_bytes,
    unfit,
)
from assay.procedures.saturation.run import pattern_step, saturate
from assay.procedures.sequences import histogram
from assay.records import Ending, Purge, SaturationSettings, SkippedTest
from assay.steady import WINDOW_ROUNDS
from assay.units import HOUR_SECONDS, SECOND_NS, duration_label, gigabytes

if TYPE_CHECKING:
    from assay.pattern import Workload
    from assay.plan import Plan
    from assay.procedures.planned import Context, Course
    from assay.profile import Profile, SaturationProfile
    from assay.records import DriveIdentity, StepSequence


def plan_wsat(profile: Profile, plan: Plan, drive: DriveIdentity) -> list[PlannedTest | SkippedTest]:
    """Settle what the write saturation test does on a drive: one run per workload, each with its own purge.

    Raises ValueRangeError for a workload that the edition does not know and for an absurd demand.
    Worked: ``pts-c-1.0`` on 256 GB -> one run of at most 1,440 samples of 60 s, or 1,024 GB written.
    """
    return [_plan_workload(name, profile, plan, drive) for name in plan.wsat.workloads]


def run_wsat(settings: SaturationSettings, _: Context) -> Course:
    """Purge, samples until the stop rule ends them, and the response-time histogram where there is one."""
    yield Purge()
    last = yield from saturate(settings, "measure")
    if settings.histogram_ns and not last.silent:
        yield saturation_histogram(settings)
    return Ending(reason=str(last.ended), reached=True)


def saturation_histogram(settings: SaturationSettings) -> StepSequence:
    """The response-time histogram behind the samples: the same accesses in one step."""
    label = f"histogram {settings.label}"
    step = pattern_step(label, settings.pattern, settings.demand, settings.range_amount_bytes, settings.histogram_ns)
    return histogram(step)


def _plan_workload(name: str, profile: Profile, plan: Plan, drive: DriveIdentity) -> PlannedTest | SkippedTest:
    edition = profile.wsat
    if name not in edition.workloads.value:
        known = ", ".join(edition.workloads.value)
        raise ValueRangeError(f"wsat.workloads: {name}", f"is no workload of {profile.name}", f"choose from {known}")
    chosen = workload(name, plan.data.to_pattern())
    test = f"wsat{chosen.suffix}"
    if left_out := unfit(test, chosen.label, chosen.pattern, drive):
        return left_out
    settings = _settings(test, chosen, profile, plan, drive)
    refuse_deep(test, settings.demand)
    return PlannedTest(
        settings=settings,
        run=run_wsat,
        deviations=tuple(_deviations(settings, edition, profile, drive)),
        earliest_ns=_earliest_ns(settings),
        latest_ns=settings.time_ns + settings.histogram_ns if settings.stop in {"first", "time"} else None,
        written_amount_bytes=settings.amount_bytes if settings.stop in {"first", "amount"} else 0,
        outline=_outline(settings),
    )


def _settings(test: str, chosen: Workload, profile: Profile, plan: Plan, drive: DriveIdentity) -> SaturationSettings:
    edition, options = profile.wsat, plan.wsat
    hours = edition.time_hours.value if options.time_hours is None else options.time_hours
    multiple = edition.amount_multiple.value if options.amount_multiple is None else options.amount_multiple
    histogram = options.histogram_minutes
    return SaturationSettings(
        test=test,
        profile=profile.name,
        demand=options.demand(edition.demand.value.to_demand()),
        data=chosen.pattern.data,
        pattern=chosen.pattern,
        label=chosen.label,
        range_amount_bytes=shared_bytes(edition.test_range.value, drive),
        segment_count=None,
        range_limit=edition.range_limit.value,
        slope_limit=edition.slope_limit.value,
        write_cache_required=profile.write_cache.value,
        sample_ns=scaled_ns(edition.sample_seconds.value, plan.scale),
        samples_per_verdict=edition.samples_per_verdict.value,
        stop=options.stop or edition.stop.value,
        time_ns=scaled_ns(hours * HOUR_SECONDS, plan.scale),
        amount_bytes=round(multiple * drive.capacity_bytes),
        histogram_ns=scaled_ns(edition.histogram_seconds.value if histogram is None else histogram * 60, plan.scale),
    )


def _earliest_ns(settings: SaturationSettings) -> int:
    """With an amount among the rules only the drive knows: one sample."""
    verdict_ns = WINDOW_ROUNDS * settings.samples_per_verdict * settings.sample_ns
    earliest = {"time": settings.time_ns, "steady": verdict_ns}
    return earliest.get(settings.stop, settings.sample_ns) + settings.histogram_ns


def _outline(settings: SaturationSettings) -> Outline:
    ends = {
        "time": f"after {duration_label(settings.time_ns)}",
        "amount": f"after {gigabytes(settings.amount_bytes):.2f} GB written",
        "steady": "when five samples are steady",
    }
    chosen = ", ".join(ends.values()) if settings.stop == "first" else ends[settings.stop]
    return Outline(
        what=settings.label,
        steps="samples",
        step_ns=settings.sample_ns,
        notes=(f"ends {chosen}" + (", whichever is first" if settings.stop == "first" else ""),),
        facts={"stop": settings.stop, "amount_bytes": settings.amount_bytes},
    )


def _deviations(
    settings: SaturationSettings, edition: SaturationProfile, profile: Profile, drive: DriveIdentity
) -> list[str]:
    asked_ns = round(edition.sample_seconds.value * SECOND_NS)
    lines = []
    if settings.sample_ns != asked_ns:
        lines.append(f"samples of {duration_label(settings.sample_ns)} instead of {duration_label(asked_ns)}")
    asked_histogram = round(edition.histogram_seconds.value * SECOND_NS)
    if settings.histogram_ns < asked_histogram:
        lines.append(histogram_deviation(settings.histogram_ns, asked_histogram))
    return [*lines, *_ended_elsewhere(settings, edition, drive), *common_deviations(settings, profile, drive)]


def _ended_elsewhere(settings: SaturationSettings, edition: SaturationProfile, drive: DriveIdentity) -> list[str]:
    """Rules in force that end the test elsewhere than the edition's."""
    lines = []
    if settings.stop != edition.stop.value:
        lines.append(f"write saturation ended by {settings.stop} instead of {edition.stop.value}")
    limit_ns = round(edition.time_hours.value * HOUR_SECONDS * SECOND_NS)
    if settings.stop in {"first", "time"} and settings.time_ns != limit_ns:
        lines.append(f"write saturation for {duration_label(settings.time_ns)} instead of {duration_label(limit_ns)}")
    multiple = edition.amount_multiple.value
    if settings.stop in {"first", "amount"} and settings.amount_bytes != round(multiple * drive.capacity_bytes):
        written = settings.amount_bytes / drive.capacity_bytes
        lines.append(f"write saturation to {written:g}X capacity instead of {multiple:g}X")
    return lines
