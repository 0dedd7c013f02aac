"""How a study becomes a procedure: from its variants to what it does, stores and prints."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from assay.engine.records import SkippedTest
from assay.plan.phases import PlannedPhase, steps_of, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Procedure
from assay.procedures.departures import shortened
from assay.procedures.planned import refuse_deep
from assay.procedures.studies.ground import SAMPLE_SECONDS, Ground, Study
from assay.procedures.studies.options import StudyOptions
from assay.procedures.studies.pages import study_report
from assay.procedures.studies.run import run_study
from assay.procedures.studies.settings import StudySettings
from assay.spec.units import SECOND_NS, count_label, duration_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import DriveIdentity, Stage, StoredRun, StoredTest
    from assay.plan.options import Options
    from assay.plan.procedure import Request
    from assay.procedures.studies.settings import StudyStep, StudyVariant
    from assay.procedures.xsr.run import CrossStimulusSettings
    from assay.spec.datum import Strict
    from assay.spec.edition import Edition
    from assay.summary.pages.test_report import TestReport

    Variants = Callable[[Ground], Study | SkippedTest]
    Planned = Callable[[Any, Ground], PlannedTest]
    Report = Callable[[StoredRun, StoredTest, Edition, str], TestReport]
    Departures = Callable[[Any, Any, DriveIdentity, StoredTest | None], Iterator[str]]

_STAGES: tuple[Stage, ...] = ("precondition", "variant")
"""Of the sequences that time ends: those of timed preparation as well."""
_MANY_SAMPLES = 30
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
    options: type[Options] = StudyOptions,
    options_name: str = "study",
    report: Report = study_report,
    departures: Departures | None = None,
    planned: Planned | None = None,
    settings: type[StudySettings] = StudySettings,
) -> Procedure[Strict, Options]:
    """A study as a procedure. plan : its variants on a drive, or why this drive cannot run it.

    outline, preparation : sentences as ``filled`` takes them. words : of them in a run that is not scaled.
    options, options_name : its table in a plan file, where it is not that of all studies. report, departures : where it
    has pages and departures of its own. planned, settings : where it does more than to run its variants in order.
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
        options=options,
        options_name=options_name,
        settings=settings,
        plan=partial(_plan, name, sentences, plan, planned or variants_planned),
        report=report,
        departures=departures or study_departures,
    )


def filled(sentence: str, minute_ns: int, words: dict[str, str]) -> str:
    """A sentence with the lengths that a run has: ``{120}`` stands for 120 minutes before scaling, others for words.

    minute_ns : how long such a minute is. Worked: ``"writes for {120}"`` and minutes of 6 s -> ``"writes for 12 min"``.
    """
    return _PLACE.sub(lambda found: words.get(found[1]) or duration_label(int(found[1]) * minute_ns), sentence)


def _plan(
    name: str, words: tuple[str, str, str, str], variants: Variants, planned: Planned, request: Request[Strict, Options]
) -> list[PlannedTest | SkippedTest]:
    """What a study does on a drive.

    Raises TooSmallError as ``Ground.of``, ValueRangeError for an absurd demand.
    Worked: ``over-provisioning`` -> six variants of 120 samples of a minute.
    """
    ground = Ground.of(request)
    result = variants(ground)
    if isinstance(result, SkippedTest):
        return [result]
    settings = _settings(name, words, result, ground)
    for demand in dict.fromkeys(settings.demands):
        refuse_deep(settings.test, demand)
    return [planned(settings, ground)]


def variants_planned(settings: StudySettings, _: Ground) -> PlannedTest:
    """The variants of a study in order, and nothing else."""
    variants = settings.variants
    spans = [step.span_ns * step.samples for variant in variants for step in _measured(variant)]
    return PlannedTest(
        settings=settings,
        run=run_study,
        earliest_ns=sum(spans),
        latest_ns=sum(spans) if all(spans) else None,
        step_count=sum(step.samples for variant in variants for step in variant.steps),
        written_first_bytes=_written_bytes(settings, "prepare"),
        written_amount_bytes=_written_bytes(settings, "measure"),
        phases=tuple(phase for variant in variants for phase in joined_phases(variant)),
        # The first is purged as every test is.
        purge_count=sum(variant.purge or not index for index, variant in enumerate(variants)),
        outline=_outline(settings),
    )


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


def _written_bytes(study: StudySettings, role: str) -> int:
    """What is known to be written: steps that an amount ends."""
    steps = (step for variant in study.variants for step in variant.steps if step.role == role)
    return sum(step.amount_bytes * step.samples for step in steps)


def variant_phases(variant: StudyVariant) -> Iterator[PlannedPhase]:
    """The parts of a variant in order; trims write nothing."""
    for step in (step for step in variant.steps if step.role != "trim"):
        if step.span_ns:
            samples = steps_of(step.pattern, step.demand, step.span_ns, step.samples)
            yield timed_phase(step.label, [samples], stages=_STAGES, least_ns=step.samples * step.span_ns)
        else:
            stages = _STAGES[:1] if step.role == "prepare" else _STAGES
            yield PlannedPhase(name=step.label, stages=stages, amount_bytes=step.amount_bytes * step.samples)


def joined_phases(variant: StudyVariant) -> Iterator[PlannedPhase]:
    """The same where a variant has many short steps: those in a row that time ends are one part.

    Samples that are many are told apart from single steps. Worked: an idle step, a burn-in of 120 samples and 56 runs
    -> three parts.
    """
    steps = (step for step in variant.steps if step.role != "trim")
    for (timed, _), phases in groupby(steps, key=lambda step: (bool(step.span_ns), step.samples >= _MANY_SAMPLES)):
        part = replace(variant, steps=tuple(phases))
        if not timed or len(part.steps) == 1:
            yield from variant_phases(part)
            continue
        samples = [steps_of(step.pattern, step.demand, step.span_ns, step.samples) for step in part.steps]
        least_ns = sum(step.samples * step.span_ns for step in part.steps)
        name = f"{len(samples)} steps of {variant.label}"
        yield timed_phase(name, samples, stages=_STAGES, least_ns=least_ns)


def _measured(variant: StudyVariant) -> list[StudyStep]:
    return [step for step in variant.steps if step.role == "measure"]


def _outline(settings: StudySettings) -> PlanSummary:
    labels = [variant.label for variant in settings.variants]
    steps = sum(step.samples for variant in settings.variants for step in _measured(variant))
    timed = (step for variant in settings.variants for step in variant.steps if step.role == "prepare")
    prepared_ns = sum(step.span_ns * step.samples for step in timed)
    on_top = (f"timed preparation of {duration_label(prepared_ns)} comes on top",) if prepared_ns else ()
    demands = {step.demand for variant in settings.variants for step in _measured(variant)}
    own = ("some steps have a fixed demand, which no option changes",) if demands - {settings.demand} else ()
    not_run = tuple(f"{label} not run: {reason}" for label, reason in settings.not_run)
    return PlanSummary(
        what=count_label(len(labels), "variant"),
        steps=count_label(steps, "sample"),
        step_ns=settings.sample_ns,
        notes=(f"variants: {', '.join(labels)}", *own, *on_top, *not_run),
        facts={"variants": labels, "preparation_ns": prepared_ns, "not_run": dict(settings.not_run)},
    )


def study_departures(
    settings: StudySettings | CrossStimulusSettings, _table: object, _drive: DriveIdentity, _test: StoredTest | None
) -> Iterator[str]:
    """A study is no test of the specification, and its samples may be shorter than a minute."""
    yield f"study {settings.procedure} is no test of the specification"
    yield from shortened("samples of studies", settings.sample_ns, SAMPLE_SECONDS)
