"""HIR, host idle recovery.

Question:      How much do idle periods of the host speed up small random writes of a saturated drive?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 11.
Purge:         yes.
Precondition:  RND 4 KiB writes over the whole drive in one-minute samples until steady.
Loop:          five wait states: 360 bursts of 5 s, each with 5, 10, 15, 25 or 50 s of idle behind it, then 1,800 s of
               bursts without idle time; one program of steps per wait state, no purge in between.
Tracking:      IOPS of every 30th preconditioning sample; the bursts need none.
Stop:          when all wait states have run.
Result:        IOPS of every burst over time; mean burst IOPS per wait state over the baseline, gain per second of idle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pattern import workload
from assay.procedures.planned import (
    Outline,
    PlannedTest,
    common_deviations,
    refuse_deep,
    scaled_ns,
    shared_bytes,
    unfit,
)
from assay.procedures.saturation.run import (
    earliest_steady_ns,
    pattern_step,
    sampled_preconditioning,
    saturate,
    shortened,
)
from assay.procedures.sequences import numbered
from assay.records import IDLE, Ending, IdleRecoverySettings, Purge, SkippedTest, StepSequence
from assay.units import duration_label
from assay.window import NO_COMPLETIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.pattern import Workload
    from assay.plan import Plan
    from assay.procedures.planned import Context, Course
    from assay.profile import IdleRecoveryProfile, Profile
    from assay.records import DriveIdentity, StepSpec

CYCLES_PER_SEQUENCE = 60
"""Sequences of a wait state end behind an idle step, so that what was measured is durable now and then."""


def plan_hir(profile: Profile, plan: Plan, drive: DriveIdentity) -> list[PlannedTest | SkippedTest]:
    """Settle what host idle recovery does on a drive.

    Raises ValueRangeError for an absurd demand.
    Worked: ``pts-e-1.1`` -> 15.5 h of wait states behind at least 2.5 h of preconditioning.
    """
    edition, chosen = profile.hir, workload("rnd-4k-write", plan.data.to_pattern())
    if edition is None:
        return [SkippedTest(test="hir", reason=f"{profile.title} has no host idle recovery")]
    if left_out := unfit("hir", chosen.label, chosen.pattern, drive):
        return [left_out]
    settings = _settings(edition, chosen, profile, plan, drive)
    refuse_deep("hir", settings.demand)
    waits_ns = sum(_segment_ns(settings, idle_ns) for idle_ns in settings.idles_ns)
    return [
        PlannedTest(
            settings=settings,
            run=run_hir,
            deviations=tuple(_deviations(settings, edition, profile, drive)),
            earliest_ns=earliest_steady_ns(settings.preconditioning) + waits_ns,
            latest_ns=settings.preconditioning.time_ns + waits_ns,
            outline=_outline(settings),
        )
    ]


def run_hir(settings: IdleRecoverySettings, _: Context) -> Course:
    """Purge, samples until steady, which give the baseline of the bursts, then every wait state."""
    yield Purge()
    prepared = yield from saturate(settings.preconditioning, "measure")
    if prepared.ended == NO_COMPLETIONS:
        return Ending(reason=NO_COMPLETIONS, reached=False)
    for index in range(1, len(settings.idles_ns) + 1):
        yield from wait_state(settings, index)
    steady = prepared.ended == "steady"
    return Ending(reason="steady" if steady else "round-limit", reached=steady)


def wait_state(settings: IdleRecoverySettings, index: int) -> Iterator[StepSequence]:
    """The sequences of wait state ``index``, from 1: bursts with idle time behind each, then bursts without.

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


def _settings(
    edition: IdleRecoveryProfile, chosen: Workload, profile: Profile, plan: Plan, drive: DriveIdentity
) -> IdleRecoverySettings:
    demand = plan.hir.demand(edition.demand.value.to_demand())
    preconditioning = sampled_preconditioning(
        edition.preconditioning,
        test="hir",
        pattern=chosen.pattern,
        label=chosen.label,
        demand=demand,
        profile=profile,
        plan=plan,
        drive=drive,
        test_range=edition.test_range.value,
    )
    burst_ns = scaled_ns(edition.burst_seconds.value, plan.scale)
    return IdleRecoverySettings(
        test="hir",
        profile=profile.name,
        demand=demand,
        data=chosen.pattern.data,
        range_amount_bytes=shared_bytes(edition.test_range.value, drive),
        segment_count=None,
        range_limit=preconditioning.range_limit,
        slope_limit=preconditioning.slope_limit,
        write_cache_required=profile.write_cache.value,
        preconditioning=preconditioning,
        pattern=chosen.pattern,
        label=chosen.label,
        burst_ns=burst_ns,
        wait_states=edition.wait_states.value,
        idles_ns=tuple(scaled_ns(seconds, plan.scale) for seconds in edition.idle_seconds.value),
        cycles=edition.cycles.value,
        return_bursts=max(round(edition.return_seconds.value / edition.burst_seconds.value), 1),
    )


def _segment_ns(settings: IdleRecoverySettings, idle_ns: int) -> int:
    return settings.cycles * (settings.burst_ns + idle_ns) + settings.return_bursts * settings.burst_ns


def _outline(settings: IdleRecoverySettings) -> Outline:
    idles = ", ".join(duration_label(idle_ns) for idle_ns in settings.idles_ns)
    return Outline(
        what=f"{settings.label} until steady, then wait states",
        steps=f"{settings.cycles} bursts",
        step_ns=settings.burst_ns,
        notes=(f"idle times of {idles}; {settings.return_bursts} bursts without behind each",),
        facts={"idles_ns": list(settings.idles_ns), "cycles": settings.cycles},
    )


def _deviations(
    settings: IdleRecoverySettings, edition: IdleRecoveryProfile, profile: Profile, drive: DriveIdentity
) -> list[str]:
    asked = edition.preconditioning.sample_seconds.value
    return [
        *shortened("preconditioning samples", settings.preconditioning.sample_ns, asked),
        *shortened("bursts", settings.burst_ns, edition.burst_seconds.value),
        *shortened("first idle times", settings.idles_ns[0], edition.idle_seconds.value[0]),
        *common_deviations(settings, profile, drive),
    ]
