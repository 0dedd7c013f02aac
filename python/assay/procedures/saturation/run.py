"""Preconditioning by samples: writes until the five-point rule holds, as the tests of PTS-E 1.1 have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pattern import leading_range
from assay.procedures.planned import (
    scaled_ns,
    shared_bytes,
)
from assay.procedures.sequences import numbered
from assay.procedures.until import until_saturated
from assay.records import SaturationSettings, StepSequence, StepSpec, StopRule
from assay.steady import WINDOW_ROUNDS
from assay.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from assay.plan import Plan
    from assay.procedures.until import Judging
    from assay.profile import Profile, RangeDatum, SampledPreconditioning
    from assay.records import AccessPattern, Demand, DriveIdentity, Role


def sampled_preconditioning(
    datum: SampledPreconditioning,
    *,
    test: str,
    pattern: AccessPattern,
    label: str,
    demand: Demand,
    profile: Profile,
    plan: Plan,
    drive: DriveIdentity,
    test_range: RangeDatum,
) -> SaturationSettings:
    """Settle the preconditioning of a test: one-minute samples until steady, or else so many rounds.

    demand : where the edition has none of its own for the preconditioning.
    Worked: 30 samples to a round of 60 s and 25 rounds -> a limit of 12.5 h.
    """
    sample_ns = scaled_ns(datum.sample_seconds.value, plan.scale)
    first, every = datum.first_verdict_sample.value, datum.samples_per_verdict.value
    return SaturationSettings(
        test=test,
        profile=profile.name,
        demand=datum.demand.value.to_demand() if datum.demand else demand,
        data=pattern.data,
        pattern=pattern,
        label=label,
        range_amount_bytes=shared_bytes(test_range, drive),
        segment_count=None,
        range_limit=datum.range_limit.value,
        slope_limit=datum.slope_limit.value,
        write_cache_required=profile.write_cache.value,
        sample_ns=sample_ns,
        samples_per_verdict=every,
        first_verdict_sample=first,
        stop="rounds",
        time_ns=(first + (datum.round_limit.value - 1) * every) * sample_ns,
        amount_bytes=0,
    )


def earliest_steady_ns(settings: SaturationSettings) -> int:
    """The earliest time at which five verdict samples are there. Worked: minutes 30, 60 to 150 -> 9000 s."""
    first = settings.first_verdict_sample or settings.samples_per_verdict
    return (first + (WINDOW_ROUNDS - 1) * settings.samples_per_verdict) * settings.sample_ns


def saturate(settings: SaturationSettings, role: Role) -> Judging:
    """Samples without a gap until the settings end them; returns the last verdict. role : of the samples."""
    sample = pattern_step(
        settings.label, settings.pattern, settings.demand, settings.range_amount_bytes, settings.sample_ns
    )
    return until_saturated(
        settings,
        lambda index, first, count: StepSequence(
            name=numbered("samples", first, count),
            stage="sample",
            index=index,
            steps=(sample,) * count,
            role=role,
            on_void="leave-out",
        ),
    )


def pattern_step(label: str, pattern: AccessPattern, demand: Demand, range_amount_bytes: int, span_ns: int) -> StepSpec:
    """One step of a pattern over the first part of the drive."""
    return StepSpec(
        label=label,
        pattern=pattern,
        demand=demand,
        active_range=leading_range(range_amount_bytes),
        stop=StopRule(time_ns=span_ns),
    )


def shortened(what: str, used_ns: int, asked_seconds: float) -> list[str]:
    """The deviation of a step that a scaled run makes shorter. Worked: bursts of 5 s as they should be -> none."""
    asked_ns = round(asked_seconds * SECOND_NS)
    return [] if used_ns == asked_ns else [f"{what} of {duration_label(used_ns)} instead of {duration_label(asked_ns)}"]
