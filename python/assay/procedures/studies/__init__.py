"""Studies: questions beside the specification's tests, one file each; every study is a list of variants."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from assay.errors import TooSmallError
from assay.pattern import segmented_range
from assay.procedures.planned import Outline, PlannedTest, common_deviations, refuse_deep
from assay.procedures.sequences import numbered
from assay.procedures.studies.active_range import plan_active_range
from assay.procedures.studies.alignment import plan_alignment
from assay.procedures.studies.cell_order import plan_cell_order
from assay.procedures.studies.data_pattern import plan_data_pattern
from assay.procedures.studies.demand_map import plan_demand_map
from assay.procedures.studies.ground import SAMPLE_SECONDS, Ground, Study
from assay.procedures.studies.oio import plan_oio
from assay.procedures.studies.over_provisioning import plan_over_provisioning
from assay.procedures.studies.stability import plan_stability
from assay.procedures.studies.trim import plan_trim
from assay.procedures.studies.workload_dependency import plan_workload_dependency
from assay.procedures.studies.write_cache import plan_write_cache
from assay.procedures.studies.xsr_reverse import plan_xsr_reverse
from assay.records import (
    ActiveRange,
    Ending,
    Purge,
    SetCache,
    SkippedTest,
    StepSequence,
    StepSpec,
    StopRule,
    StudySettings,
    Trim,
)
from assay.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.plan import Plan, StudyName
    from assay.procedures.planned import Context, Course
    from assay.profile import Profile
    from assay.records import DriveIdentity, Role, StudyStep, StudyVariant

_STUDIES: dict[StudyName, Callable[[Ground], Study | SkippedTest]] = {
    "data-pattern": plan_data_pattern,
    "write-cache": plan_write_cache,
    "oio": plan_oio,
    "over-provisioning": plan_over_provisioning,
    "active-range": plan_active_range,
    "workload-dependency": plan_workload_dependency,
    "stability": plan_stability,
    "cell-order": plan_cell_order,
    "alignment": plan_alignment,
    "trim": plan_trim,
    "demand-map": plan_demand_map,
    "xsr-reverse": plan_xsr_reverse,
}

STEPS_PER_SEQUENCE = 60
CAPACITY_BYTES_MIN = 64 << 20


def plan_study(name: StudyName, profile: Profile, plan: Plan, drive: DriveIdentity) -> PlannedTest | SkippedTest:
    """Settle what a study does on a drive.

    Raises TooSmallError below 64 MiB, ValueRangeError for an absurd demand.
    Worked: ``over-provisioning`` -> six variants of 120 samples of a minute.
    """
    if drive.capacity_bytes < CAPACITY_BYTES_MIN:
        raise TooSmallError(drive.path, "has less than the 64 MiB that studies need", "use a larger drive")
    ground = Ground(profile=profile, plan=plan, drive=drive, data=plan.data.to_pattern())
    study = _STUDIES[name](ground)
    if isinstance(study, SkippedTest):
        return study
    settings = _settings(name, study, ground)
    for demand in dict.fromkeys(settings.demands):
        refuse_deep(settings.test, demand)
    spans = [step.span_ns * step.samples for variant in study.variants for step in _measured(variant)]
    return PlannedTest(
        settings=settings,
        run=run_study,
        deviations=tuple(_deviations(name, settings, ground)),
        earliest_ns=sum(spans),
        latest_ns=sum(spans) if all(spans) else None,
        step_count=sum(step.samples for variant in study.variants for step in variant.steps),
        written_first_bytes=_written_bytes(study, "prepare"),
        written_amount_bytes=_written_bytes(study, "measure"),
        outline=_outline(settings, ground),
    )


def run_study(settings: StudySettings, context: Context) -> Course:
    """Every variant in order, on a purged drive or on what the one before has left."""
    for index, variant in enumerate(settings.variants, 1):
        # The first is purged as every test is.
        if variant.purge or index == 1:
            yield Purge()
        if variant.write_cache is not None:
            yield SetCache(state=variant.write_cache)
        yield from variant_actions(variant, index, context)
    return Ending(reason="time", reached=True)


def variant_actions(variant: StudyVariant, index: int, context: Context) -> Iterator[StepSequence | Trim]:
    """The sequences of variant ``index``, from 1, in order, and the trims between them.

    Sequences have at most 60 steps, so that what was measured is durable now and then.
    """
    done: Counter[str] = Counter()
    for role, steps in groupby(variant.steps, key=lambda step: step.role):
        if role == "trim":
            yield from (Trim(from_bytes=one.from_bytes, to_bytes=one.from_bytes + one.length_bytes) for one in steps)
            continue
        specs = [spec for step in steps for spec in [_spec(step, context)] * step.samples]
        for place in range(0, len(specs), STEPS_PER_SEQUENCE):
            part = tuple(specs[place : place + STEPS_PER_SEQUENCE])
            yield _sequence(variant.label, index, role, part, done[role] + 1)
            done[role] += len(part)


def _sequence(label: str, index: int, role: Role, steps: tuple[StepSpec, ...], first: int) -> StepSequence:
    measured = role == "measure"
    of = f"variant {label}" if measured else f"preparation of variant {label}"
    return StepSequence(
        name=f"{of}, {numbered('steps', first, len(steps))}",
        stage="variant" if measured else "precondition",
        index=index,
        steps=steps,
        role=role,
        on_void="stop" if measured else "accept",
    )


def _spec(step: StudyStep, context: Context) -> StepSpec:
    stop = StopRule(time_ns=step.span_ns) if step.span_ns else StopRule(amount_bytes=step.amount_bytes)
    active_range = ActiveRange(segment_starts=(step.from_bytes,), segment_bytes=step.length_bytes)
    if step.segment_count is not None:
        length = step.length_bytes // step.segment_count
        active_range = segmented_range(context.drive.capacity_bytes, step.segment_count, length, context.seed)
    return StepSpec(label=step.label, pattern=step.pattern, demand=step.demand, active_range=active_range, stop=stop)


def _settings(name: StudyName, study: Study, ground: Ground) -> StudySettings:
    return StudySettings(
        test=f"study-{name}",
        profile=ground.profile.name,
        demand=ground.demand,
        data=ground.data,
        range_amount_bytes=ground.share(1.0),
        segment_count=None,
        range_limit=1.0,
        slope_limit=1.0,
        write_cache_required=ground.profile.write_cache.value,
        title=study.title,
        question=study.question,
        outline=study.outline,
        preparation=study.preparation,
        variants=study.variants,
        plots=study.plots,
        reading=study.reading,
        settled_share=study.settled_share,
        recovered_share=study.recovered_share,
        not_run=study.not_run,
    )


def _written_bytes(study: Study, role: str) -> int:
    """What is known to be written: steps that an amount ends."""
    steps = (step for variant in study.variants for step in variant.steps if step.role == role)
    return sum(step.amount_bytes * step.samples for step in steps)


def _measured(variant: StudyVariant) -> list[StudyStep]:
    return [step for step in variant.steps if step.role == "measure"]


def _outline(settings: StudySettings, ground: Ground) -> Outline:
    labels = [variant.label for variant in settings.variants]
    steps = sum(step.samples for variant in settings.variants for step in _measured(variant))
    timed = (step for variant in settings.variants for step in variant.steps if step.role == "prepare")
    prepared_ns = sum(step.span_ns * step.samples for step in timed)
    on_top = (f"timed preparation of {duration_label(prepared_ns)} comes on top",) if prepared_ns else ()
    not_run = tuple(f"{label} not run: {reason}" for label, reason in settings.not_run)
    return Outline(
        what=f"{len(labels)} variants",
        steps=f"{steps} samples",
        step_ns=ground.span_ns(SAMPLE_SECONDS),
        notes=(f"variants: {', '.join(labels)}", *on_top, *not_run),
        facts={"variants": labels, "preparation_ns": prepared_ns, "not_run": dict(settings.not_run)},
    )


def _deviations(name: StudyName, settings: StudySettings, ground: Ground) -> list[str]:
    lines = [f"study {name} is no test of the specification"]
    asked_ns, used_ns = round(SAMPLE_SECONDS * SECOND_NS), ground.span_ns(SAMPLE_SECONDS)
    if used_ns != asked_ns:
        lines.append(f"samples of studies of {duration_label(used_ns)} instead of {duration_label(asked_ns)}")
    return [*lines, *common_deviations(settings, ground.profile, ground.drive)]
