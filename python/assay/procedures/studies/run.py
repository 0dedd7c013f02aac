"""What studies do: every variant in order, each made ready for itself."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from assay.engine.pattern import segmented_range
from assay.engine.records import ActiveRange, Ending, Purge, SetCache, StepSequence, StepSpec, StopRule, Trim
from assay.procedures.sequences import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import Role
    from assay.plan.procedure import Context, Course
    from assay.procedures.studies.settings import StudySettings, StudyStep, StudyVariant

STEPS_PER_SEQUENCE = 60


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
            yield from (
                Trim(from_bytes=step.from_bytes, to_bytes=step.from_bytes + step.length_bytes) for step in steps
            )
            continue
        specs = [spec for step in steps for spec in [step_spec(step, context)] * step.samples]
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


def step_spec(step: StudyStep, context: Context) -> StepSpec:
    """A step as it is asked of the drive."""
    stop = StopRule(time_ns=step.span_ns) if step.span_ns else StopRule(amount_bytes=step.amount_bytes)
    active_range = ActiveRange(segment_starts=(step.from_bytes,), segment_bytes=step.length_bytes)
    if step.segment_starts:
        length = step.length_bytes // len(step.segment_starts)
        active_range = ActiveRange(segment_starts=step.segment_starts, segment_bytes=length)
    if step.segment_count is not None:
        length = step.length_bytes // step.segment_count
        active_range = segmented_range(context.drive.capacity_bytes, step.segment_count, length, context.seed)
    return StepSpec(label=step.label, pattern=step.pattern, demand=step.demand, active_range=active_range, stop=stop)
