"""Preconditioning by samples: writes until the five-point rule holds, as the tests of PTS-E 1.1 have it."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

from assay.engine.pattern import leading_range
from assay.engine.records import StepSequence, StepSpec, StopRule
from assay.plan.phases import steps_of, timed_phase
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.families.saturation.until import BY_AMOUNT, BY_TIME, BY_VERDICT, SAMPLES_MAX, until_saturated
from assay.procedures.planned import (
    numbered,
    scaled_ns,
    shared_bytes,
)
from assay.spec.steady import WINDOW_ROUNDS

if TYPE_CHECKING:
    from assay.engine.records import AccessPattern, Demand, Role
    from assay.plan.phases import PlannedPhase
    from assay.plan.procedure import Request
    from assay.plan.until import Judging
    from assay.spec.edition import RangeDatum, SampledPreconditioning


def sampled_preconditioning(
    datum: SampledPreconditioning,
    *,
    procedure: str,
    test: str,
    pattern: AccessPattern,
    label: str,
    demand: Demand,
    request: Request[Any, Any],
    test_range: RangeDatum,
) -> SaturationSettings:
    """Settle the preconditioning of a test: one-minute samples until steady, or else so many rounds.

    demand : where the edition has none of its own for the preconditioning.
    Worked: 30 samples to a round of 60 s and 25 rounds -> a limit of 12.5 h.
    """
    sample_ns = scaled_ns(datum.sample_seconds.value, request.scale)
    first, every = datum.first_verdict_sample.value, datum.samples_per_verdict.value
    return SaturationSettings(
        procedure=procedure,
        test=test,
        edition=request.edition.name,
        demand=datum.demand.value.to_demand() if datum.demand else demand,
        data=pattern.data,
        pattern=pattern,
        label=label,
        range_amount_bytes=shared_bytes(test_range, request.drive),
        segment_count=None,
        range_limit=datum.range_limit.value,
        slope_limit=datum.slope_limit.value,
        write_cache_required=request.edition.write_cache.value,
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


def saturation_phase(name: str, settings: SaturationSettings) -> PlannedPhase:
    """Samples until their stop rule, as a part of a test. name : as printed.

    An amount is passed by the samples of one sequence at most, see ``until_saturated``.
    """
    most_ns = settings.time_ns if settings.stop in BY_TIME else SAMPLES_MAX * settings.sample_ns
    count = max(round(most_ns / settings.sample_ns), 1)
    samples = steps_of(settings.pattern, settings.demand, settings.sample_ns, count)
    least_ns = earliest_steady_ns(settings) if settings.stop in BY_VERDICT else most_ns
    timed = timed_phase(name, [samples], stages=("sample",), least_ns=min(least_ns, most_ns), most_ns=most_ns)
    if settings.stop not in BY_AMOUNT:
        return timed
    beyond_ns = ceil(settings.samples_per_verdict * settings.sample_ns * samples.write_share)
    return replace(timed, amount_bytes=settings.amount_bytes, beyond_ns=beyond_ns)


def saturate(settings: SaturationSettings, role: Role) -> Judging:
    """Samples without a gap until the settings end them; returns the last verdict. role : of the samples."""
    sample = pattern_step(
        settings.label, settings.pattern, settings.demand, settings.range_amount_bytes, settings.sample_ns
    )
    return until_saturated(
        settings,
        lambda index, first, count: StepSequence(
            name=numbered("sample", first, count),
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
