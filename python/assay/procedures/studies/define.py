"""How a study becomes a procedure: from its variants to what it does, stores and prints."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from assay.engine.records import SkippedTest
from assay.procedures.departures import shortened
from assay.procedures.phases import PlannedPhase, steps_of, timed_phase
from assay.procedures.planned import refuse_deep
from assay.procedures.procedure import PlannedTest, PlanSummary, Procedure
from assay.procedures.studies.ground import SAMPLE_SECONDS, Ground, Study
from assay.procedures.studies.options import StudyOptions
from assay.procedures.studies.pages import study_report
from assay.procedures.studies.run import run_study
from assay.procedures.studies.settings import StudySettings
from assay.spec.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import DriveIdentity, Stage, StoredTest
    from assay.procedures.procedure import Request
    from assay.procedures.studies.settings import StudyStep, StudyVariant
    from assay.procedures.xsr.settings import CrossStimulusSettings
    from assay.spec.datum import Strict

    Variants = Callable[[Ground], Study | SkippedTest]

_STAGES: tuple[Stage, ...] = ("precondition", "variant")
"""Of the sequences that time ends: those of timed preparation as well."""
_PLACE = re.compile(r"\{(\w+)\}")


def study(
    name: str,
    *,
    header: str,
    title: str,
    question: str,
    outline: str,
    preparation: str,
    plan: Variants,
    words: dict[str, str] | None = None,
) -> Procedure[Strict, StudyOptions]:
    """A study as a procedure. plan : its variants on a drive, or why this drive cannot run it.

    outline, preparation : sentences as ``filled`` takes them. words : of them in a run that is not scaled.
    """
    sentences = (title, question, outline, preparation)
    minute_ns = round(SAMPLE_SECONDS * SECOND_NS)
    return Procedure(
        name=name,
        header=header,
        title=title,
        question=question,
        outline=filled(outline, minute_ns, words or {}),
        preconditioning=filled(preparation, minute_ns, words or {}),
        kind="study",
        table=None,
        options=StudyOptions,
        options_name="study",
        settings=StudySettings,
        plan=partial(_plan, name, sentences, plan),
        report=study_report,
        departures=study_departures,
    )


def filled(sentence: str, minute_ns: int, words: dict[str, str]) -> str:
    """A sentence with the lengths that a run has: ``{120}`` stands for 120 minutes before scaling, others for words.

    minute_ns : how long such a minute is. Worked: ``"writes for {120}"`` and minutes of 6 s -> ``"writes for 12 min"``.
    """
    return _PLACE.sub(lambda found: words.get(found[1]) or duration_label(int(found[1]) * minute_ns), sentence)


def _plan(
    name: str, words: tuple[str, str, str, str], variants: Variants, request: Request[Strict, StudyOptions]
) -> list[PlannedTest | SkippedTest]:
    """What a study does on a drive.

    Raises TooSmallError as ``Ground.of``, ValueRangeError for an absurd demand.
    Worked: ``over-provisioning`` -> six variants of 120 samples of a minute.
    """
    ground = Ground.of(request)
    found = variants(ground)
    if isinstance(found, SkippedTest):
        return [found]
    settings = _settings(name, words, found, ground)
    for demand in dict.fromkeys(settings.demands):
        refuse_deep(settings.test, demand)
    spans = [step.span_ns * step.samples for variant in found.variants for step in _measured(variant)]
    return [
        PlannedTest(
            settings=settings,
            run=run_study,
            earliest_ns=sum(spans),
            latest_ns=sum(spans) if all(spans) else None,
            step_count=sum(step.samples for variant in found.variants for step in variant.steps),
            written_first_bytes=_written_bytes(found, "prepare"),
            written_amount_bytes=_written_bytes(found, "measure"),
            phases=tuple(phase for variant in found.variants for phase in _phases(variant)),
            # The first is purged as every test is.
            purge_count=sum(variant.purge or not place for place, variant in enumerate(found.variants)),
            outline=_outline(settings),
        )
    ]


def _settings(name: str, words: tuple[str, str, str, str], found: Study, ground: Ground) -> StudySettings:
    title, question, outline, preparation = words
    edition, minute_ns = ground.request.edition, ground.span_ns(SAMPLE_SECONDS)
    return StudySettings(
        procedure=name,
        test=f"study-{name}",
        edition=edition.name,
        demand=ground.demand,
        data=ground.data,
        range_amount_bytes=ground.share(1.0),
        segment_count=None,
        range_limit=1.0,
        slope_limit=1.0,
        write_cache_required=edition.write_cache.value,
        title=title,
        question=question,
        outline=filled(outline, minute_ns, found.words),
        preparation=filled(preparation, minute_ns, found.words),
        sample_ns=ground.span_ns(SAMPLE_SECONDS),
        variants=found.variants,
        plots=found.plots,
        reading=found.reading,
        settled_share=found.settled_share,
        recovered_share=found.recovered_share,
        not_run=found.not_run,
    )


def _written_bytes(study: Study, role: str) -> int:
    """What is known to be written: steps that an amount ends."""
    steps = (step for variant in study.variants for step in variant.steps if step.role == role)
    return sum(step.amount_bytes * step.samples for step in steps)


def _phases(variant: StudyVariant) -> Iterator[PlannedPhase]:
    """The parts of a variant in order; trims write nothing."""
    for step in (step for step in variant.steps if step.role != "trim"):
        if step.span_ns:
            samples = steps_of(step.pattern, step.demand, step.span_ns, step.samples)
            yield timed_phase(step.label, [samples], stages=_STAGES, least_ns=step.samples * step.span_ns)
        else:
            stages = _STAGES[:1] if step.role == "prepare" else _STAGES
            yield PlannedPhase(name=step.label, stages=stages, amount_bytes=step.amount_bytes * step.samples)


def _measured(variant: StudyVariant) -> list[StudyStep]:
    return [step for step in variant.steps if step.role == "measure"]


def _outline(settings: StudySettings) -> PlanSummary:
    labels = [variant.label for variant in settings.variants]
    steps = sum(step.samples for variant in settings.variants for step in _measured(variant))
    timed = (step for variant in settings.variants for step in variant.steps if step.role == "prepare")
    prepared_ns = sum(step.span_ns * step.samples for step in timed)
    on_top = (f"timed preparation of {duration_label(prepared_ns)} comes on top",) if prepared_ns else ()
    not_run = tuple(f"{label} not run: {reason}" for label, reason in settings.not_run)
    return PlanSummary(
        what=f"{len(labels)} variants",
        steps=f"{steps} samples",
        step_ns=settings.sample_ns,
        notes=(f"variants: {', '.join(labels)}", *on_top, *not_run),
        facts={"variants": labels, "preparation_ns": prepared_ns, "not_run": dict(settings.not_run)},
    )


def study_departures(
    settings: StudySettings | CrossStimulusSettings, _table: object, _drive: DriveIdentity, _test: StoredTest | None
) -> Iterator[str]:
    """A study is no test of the specification, and its samples may be shorter than a minute."""
    yield f"study {settings.procedure} is no test of the specification"
    yield from shortened("samples of studies", settings.sample_ns, SAMPLE_SECONDS)
