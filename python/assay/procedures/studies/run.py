"""What a study is set to do: variants of one workload on the same drive, each made ready for itself, in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from assay.engine.pattern import segmented_range
from assay.engine.records import ActiveRange, Ending, Purge, SetCache, StepSequence, StepSpec, StopRule, Trim
from assay.engine.records.drive import CacheState
from assay.engine.records.settings import TestSettings
from assay.engine.records.stimulus import AccessPattern
from assay.procedures.planned import numbered
from assay.spec.demand import Demand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.plan.procedure import Context, Course

STEPS_PER_SEQUENCE = 60
"""A sequence ends after so many, so that what was measured is durable now and then."""

StudyVariable = Literal["iops", "throughput", "response", "largest", "relative"]
StudyReading = Literal["stages", "grid", "change", "stability", "demand"]
StudyRole = Literal["prepare", "measure", "trim"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStep:
    """One step of a variant, ``samples`` times in a row.

    role : ``prepare`` (no part of the result), ``measure``, or ``trim`` (the range is given back to the drive, no I/O).
    from_bytes, length_bytes : its range, contiguous; with ``segment_count`` so many equal pieces at random over the
        drive, ``length_bytes`` in all.
    span_ns, amount_bytes : what ends each sample; the other is 0.
    place : where it stands on the x axis of a figure over what the steps vary; None where the variant has a place.
    series : of such a figure; empty means the variant.
    segment_starts : first bytes of equal pieces, ``length_bytes`` in all; empty where it has another range.
    """

    role: StudyRole
    label: str
    pattern: AccessPattern
    demand: Demand
    length_bytes: int
    from_bytes: int = 0
    segment_count: int | None = None
    span_ns: int = 0
    amount_bytes: int = 0
    samples: int = 1
    place: float | None = None
    series: str = ""
    segment_starts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyVariant:
    """One curve of a study. purge : before its steps. write_cache : set before them, None leaves it as it is."""

    label: str
    purge: bool
    steps: tuple[StudyStep, ...]
    place: float | None = None
    write_cache: CacheState | None = None

    @property
    def measured(self) -> list[StudyStep]:
        """The steps whose results count."""
        return [step for step in self.steps if step.role == "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlot:
    """A figure of a study.

    kind : samples over ``time``, every second of the steps (``seconds``), or settled values over the ``places``.
    variable : ``relative`` is every second's IOPS in per cent of their median.
    only : the stage or variant that it shows; empty means all. x_title, x_scale : of places.
    """

    kind: Literal["time", "seconds", "places"]
    variable: StudyVariable
    only: str = ""
    x_title: str = ""
    x_scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings(TestSettings):
    """What a study used. ``test`` is ``study-NAME``.

    title, question, outline, preparation : in the words of the report. sample_ns : of a sample that
    is not longer for a reason of its own. variants : in the order they run.
    reading : which table is made: values per ``stages``, a ``grid`` of places and variants, the ``change`` of a stage
        that comes again, ``stability`` per second, or a ``demand`` map.
    settled_share : of the last samples of a stage, whose mean is its value.
    recovered_share : of its first value, at which a stage that comes again has recovered.
    not_run : variants that this drive cannot run, with the reason.
    """

    title: str
    question: str
    outline: str
    preparation: str
    sample_ns: int
    variants: tuple[StudyVariant, ...]
    plots: tuple[StudyPlot, ...]
    reading: StudyReading
    settled_share: float
    recovered_share: float
    not_run: tuple[tuple[str, str], ...] = ()

    @property
    def switches_write_cache(self) -> bool:
        """A variant may ask for it."""
        return any(variant.write_cache is not None for variant in self.variants)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the study makes."""
        return (self.demand, *(step.demand for variant in self.variants for step in variant.steps))

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of all variants."""
        return max(size for variant in self.variants for step in variant.steps for size, _ in step.pattern.sizes)


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
    """The sequences of variant ``index``, from 1, in order, and the trims between them."""
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
            of = f"variant {variant.label}" if role == "measure" else f"preparation of variant {variant.label}"
            yield StepSequence(
                name=f"{of}, {numbered('step', done[role] + 1, len(part))}",
                stage="variant" if role == "measure" else "precondition",
                index=index,
                steps=part,
                role=role,
                on_void="stop" if role == "measure" else "accept",
            )
            done[role] += len(part)


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
