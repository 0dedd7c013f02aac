"""How a study is planned: the steps that its variants are made of, and how it becomes a procedure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, Self

from assay.engine.pattern import cell_pattern, fill_pattern
from assay.engine.records import Cell, DataPattern, Demand, SkippedTest
from assay.errors import TooSmallError
from assay.plan.options import DemandOptions, check_data_file
from assay.plan.phases import PlannedPhase, steps_of, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Procedure
from assay.procedures.departures import shortened
from assay.procedures.planned import refuse_deep, scaled_ns, whole_blocks
from assay.procedures.studies.run import StudyPlot, StudySettings, StudyStep, StudyVariant, run_study
from assay.results.step import cell_label
from assay.spec.datum import FileName
from assay.spec.lazy import later
from assay.spec.units import KIB, SECOND_NS, count_label, duration_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from assay.engine.records import Access, DriveIdentity, Stage, StoredTest, TestSettings
    from assay.plan.options import Options
    from assay.plan.procedure import Request
    from assay.procedures.families.loop.plan import LoopTable
    from assay.procedures.studies.run import StudyReading, StudyVariable
    from assay.procedures.xsr.run import CrossStimulusSettings
    from assay.spec.datum import Strict
    from assay.summary.pages.test_record import Shown, Source

    Variants = Callable[["Ground"], "Study | SkippedTest"]
    Planned = Callable[[Any, "Ground"], PlannedTest]
    Report = Callable[[Source], Shown]
    Departures = Callable[[Any, Any, DriveIdentity, StoredTest | None], Iterator[str]]

CAPACITY_BYTES_MIN = 64 << 20
SAMPLE_SECONDS = 60.0
FILL_BYTES = 128 * KIB
SAMPLES_PER_PASS_MAX = 50
SMALL = 4 * KIB
LARGE = 1024 * KIB
STABILITY_MINUTES, STABILITY_SECONDS_MIN = 20, 20
"""Of accesses whose seconds are judged; a scaled run keeps the latter at least."""
QUEUE_DEPTH_MAX = 32
_STAGES: tuple[Stage, ...] = ("precondition", "variant")
"""Of the sequences that time ends: those of timed preparation as well."""
_MANY_SAMPLES = 30
_PLACE = re.compile(r"\{(\w+)\}")
_FIELD = re.compile(r"^([A-Z][A-Za-z ]+):\s+(.*)$")


class StudyOptions(DemandOptions):
    """Choices for studies. data_file : bytes that the data-pattern study writes as a variant."""

    data_file: FileName = ""

    def looked(self) -> Self:
        """Raise UsageError where the file to write from cannot be read or is empty."""
        if self.data_file:
            check_data_file(self.data_file)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study on a drive; the fields are those of ``StudySettings``. words : of its sentences, as ``filled`` has it."""

    variants: Iterable[StudyVariant]
    plots: tuple[StudyPlot, ...]
    reading: StudyReading
    settled_share: float = 1.0
    recovered_share: float = 0.95
    not_run: tuple[tuple[str, str], ...] = ()
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A plan on a drive: makes the steps of variants. Sizes are bytes. The options of the request have a demand."""

    request: Request[Any, Any]
    data: DataPattern = field(default_factory=DataPattern)

    @classmethod
    def of(cls, request: Request[Any, Any]) -> Self:
        """What studies of a request stand on.

        Raises TooSmallError below 64 MiB, and where the edition has no IOPS test to take demand and preconditioning
        from.
        """
        if request.drive.capacity_bytes < CAPACITY_BYTES_MIN:
            reason = "has less than the 64 MiB that studies need"
            raise TooSmallError(request.drive.path, reason, "use a larger drive")
        table = request.edition.table("iops")
        if table is None or not table.preconditioning_multiple.value:
            reason = f"cannot be studied by {request.edition.title}, which has no IOPS test that writes the drive"
            raise TooSmallError(request.drive.path, reason, "name an edition with an IOPS test")
        return cls(request=request, data=request.data)

    @property
    def drive(self) -> DriveIdentity:
        """The drive."""
        return self.request.drive

    @property
    def capacity(self) -> int:
        """Of the drive."""
        return self.drive.capacity_bytes

    @property
    def demand(self) -> Demand:
        """The tester's choice, or that of the IOPS test of the edition."""
        chosen: Demand = self.request.options.demand(self.iops_table.demand.value.to_demand())
        return chosen

    @property
    def iops_table(self) -> LoopTable:
        """The IOPS test of the edition."""
        result: LoopTable = self.request.edition.table("iops")
        return result

    def share(self, share: float) -> int:
        """So much of the drive in whole blocks of 4 KiB or larger."""
        return whole_blocks(self.capacity * share, self.drive) // SMALL * SMALL

    def span_ns(self, seconds: float) -> int:
        """A duration after scaling."""
        return scaled_ns(seconds, self.request.scale)

    def fill(self, length: int) -> StudyStep:
        """Workload-independent preconditioning of the first bytes, as often as the edition writes the drive."""
        multiple = self.iops_table.preconditioning_multiple.value
        return StudyStep(
            role="prepare",
            label="fill SEQ 128KiB 0/100",
            pattern=fill_pattern(FILL_BYTES, self.data),
            demand=self.demand,
            length_bytes=length,
            amount_bytes=round(multiple * length),
        )

    def cell(
        self,
        access: Access,
        size: int,
        read_pct: int,
        length: int,
        *,
        seconds: float = SAMPLE_SECONDS,
        samples: int = 1,
    ) -> StudyStep:
        """Measured accesses of one size over the first bytes, in samples of so many seconds."""
        return StudyStep(
            role="measure",
            label=cell_label(Cell(read_pct=read_pct, transfer_bytes=size), access),
            pattern=cell_pattern(access, size, read_pct / 100, self.data),
            demand=self.demand,
            length_bytes=length,
            span_ns=self.span_ns(seconds),
            samples=samples,
        )

    def saturated(self, length: int) -> tuple[StudyStep, StudyStep]:
        """Preparation of a drive once for several variants: a fill, and two hours of RND 4 KiB writes."""
        return self.fill(length), prepared(self.writes(length, 120))

    def writes(self, length: int, minutes: int) -> StudyStep:
        """RND 4 KiB writes in one-minute samples. Worked: two hours are 120 samples."""
        return self.cell("random", SMALL, 0, length, samples=minutes)

    def whole(self, access: Access, size: int, read_pct: int) -> StudyStep:
        """Twenty minutes of accesses over the drive in one step, so that no second is cut."""
        step = self.cell(access, size, read_pct, self.share(1.0), seconds=STABILITY_MINUTES * 60)
        return replace(step, span_ns=max(step.span_ns, STABILITY_SECONDS_MIN * SECOND_NS))

    def passes(self, length: int, count: int) -> StudyStep:
        """SEQ 128 KiB writes over the first bytes, ``count`` times, each pass in up to 50 samples of equal amount.

        A sample has at least 20 times the outstanding I/Os, since those in flight at its end are none of its rate.
        Worked: 256 GB are 50 samples of 5.12 GB.
        """
        least = 20 * self.demand.thread_count * self.demand.queue_depth * FILL_BYTES
        samples = min(max(length // least, 1), SAMPLES_PER_PASS_MAX)
        step = self.cell("sequential", FILL_BYTES, 0, length)
        amount = length // samples // FILL_BYTES * FILL_BYTES
        return replace(step, span_ns=0, amount_bytes=amount, samples=count * samples)

    def changing(self, label: str, share: float) -> StudyVariant:
        """Sequential, random, sequential writes over a share of a purged and filled drive."""
        length = self.share(share)
        return purged(label, self.fill(length), self.passes(length, 1), self.writes(length, 60), self.passes(length, 3))


def prepared(step: StudyStep) -> StudyStep:
    """A step as preparation, which is no part of the result."""
    return replace(step, role="prepare")


def purged(label: str, *steps: StudyStep, **more: Any) -> StudyVariant:
    """A variant that begins on a purged drive. more : its other fields."""
    return StudyVariant(label=label, purge=True, steps=steps, **more)


def at_total(step: StudyStep, total: int) -> StudyStep:
    """A step with so many outstanding: up to 32 of one thread, then of more threads. Worked: 64 -> TC 2 x QD 32."""
    depth = min(total, QUEUE_DEPTH_MAX)
    demand = Demand(thread_count=total // depth, queue_depth=depth)
    return replace(step, label=f"{step.label} OIO {total}", demand=demand, place=float(total))


def over_time(*variables: StudyVariable) -> tuple[StudyPlot, ...]:
    """A figure of samples over time per variable."""
    return tuple(StudyPlot(kind="time", variable=variable) for variable in variables)


def over_places(x_title: str, x_scale: Literal["linear", "log"], *variables: StudyVariable) -> tuple[StudyPlot, ...]:
    """A figure over what is varied per variable."""
    return tuple(StudyPlot(kind="places", variable=one, x_title=x_title, x_scale=x_scale) for one in variables)


_STUDY_SHOWN: Report = later("assay.procedures.studies.record", "study_shown")


def study(
    name: str,
    *,
    header: str,
    plan: Variants,
    words: dict[str, str] | None = None,
    options: type[Options] = StudyOptions,
    options_name: str = "study",
    report: Report = _STUDY_SHOWN,
    departures: Departures | None = None,
    planned: Planned | None = None,
    settings: type[TestSettings] = StudySettings,
    **sentences: str,
) -> Procedure[Strict, Options]:
    """A study as a procedure. plan : its variants on a drive, or why this drive cannot run it.

    header : its title, and by name its question, its loop, which is the outline, and its preparation, as ``filled``
    takes them; sentences : title, question, outline and preparation where they are others.
    words : of them in a run that is not scaled.
    options, options_name : its table in a plan file, where it is not that of all studies. report, departures : where it
    has pages and departures of its own. planned, settings : where it does more than to run its variants in order.
    """
    listed, minute_ns = header_fields(header), round(SAMPLE_SECONDS * SECOND_NS)
    names = {"question": "Question", "outline": "Loop", "preparation": "Preparation"}
    texts = {"title": header.partition(".")[0], **{key: listed.get(one, "") for key, one in names.items()}, **sentences}
    shown = {key: filled(text, minute_ns, words or {}) for key, text in {**texts, "header": header}.items()}
    return Procedure(
        name=name,
        kind="study",
        preconditioning=shown.pop("preparation"),
        **shown,
        table=None,
        options=options,
        options_name=options_name,
        settings=settings,
        plan=partial(_plan, name, texts, plan, planned or variants_planned),
        report=report,
        departures=departures or study_departures,
    )


def header_fields(header: str) -> dict[str, str]:
    """The fields of the header of a test. Worked: ``Purge:  yes.`` -> ``{"Purge": "yes."}``."""
    found: dict[str, str] = {}
    name = ""
    for line in header.splitlines()[1:]:
        match = _FIELD.match(line)
        if match:
            name, found[match[1]] = match[1], match[2]
        elif name and line.startswith(" "):
            found[name] += " " + line.strip()
    return found


def filled(sentence: str, minute_ns: int, words: dict[str, str]) -> str:
    """A sentence with the lengths that a run has: ``{120}`` stands for 120 minutes before scaling, others for words.

    minute_ns : how long such a minute is. Worked: ``"writes for {120}"`` and minutes of 6 s -> ``"writes for 12 min"``.
    """
    return _PLACE.sub(lambda found: words.get(found[1]) or duration_label(int(found[1]) * minute_ns), sentence)


def _plan(
    name: str, sentences: dict[str, str], variants: Variants, planned: Planned, request: Request[Strict, Options]
) -> list[PlannedTest | SkippedTest]:
    """What a study does on a drive.

    Raises TooSmallError as ``Ground.of``, ValueRangeError for an absurd demand.
    Worked: ``over-provisioning`` -> six variants of 120 samples of a minute.
    """
    ground = Ground.of(request)
    result = variants(ground)
    if isinstance(result, SkippedTest):
        return [result]
    minute_ns = ground.span_ns(SAMPLE_SECONDS)
    texts: dict[str, Any] = {key: filled(text, minute_ns, result.words) for key, text in sentences.items()}
    settings = StudySettings(
        procedure=name,
        test=f"study-{name}",
        edition=request.edition.name,
        demand=ground.demand,
        data=ground.data,
        range_amount_bytes=ground.share(1.0),
        segment_count=None,
        range_limit=1.0,
        slope_limit=1.0,
        write_cache_required=request.edition.write_cache.value,
        sample_ns=minute_ns,
        **texts,
        **{part.name: getattr(result, part.name) for part in fields(result) if part.name not in {"words", "variants"}},
        variants=tuple(result.variants),
    )
    for demand in dict.fromkeys(settings.demands):
        refuse_deep(settings.test, demand)
    return [planned(settings, ground)]


def variants_planned(settings: StudySettings, _: Ground) -> PlannedTest:
    """The variants of a study in order, and nothing else."""
    variants = settings.variants
    steps = [step for variant in variants for step in variant.steps]
    spans = [step.span_ns * step.samples for variant in variants for step in variant.measured]
    written = dict.fromkeys(("prepare", "measure", "trim"), 0)
    for step in steps:
        written[step.role] += step.amount_bytes * step.samples
    return PlannedTest(
        settings=settings,
        run=run_study,
        earliest_ns=sum(spans),
        latest_ns=sum(spans) if all(spans) else None,
        step_count=sum(step.samples for step in steps),
        written_first_bytes=written["prepare"],
        written_amount_bytes=written["measure"],
        phases=tuple(phase for variant in variants for phase in variant_phases(variant)),
        # The first is purged as every test is.
        purge_count=sum(variant.purge or not index for index, variant in enumerate(variants)),
        outline=_outline(settings),
    )


def variant_phases(variant: StudyVariant) -> Iterator[PlannedPhase]:
    """The parts of a variant in order: steps in a row that time ends are one part; trims write nothing.

    Samples that are many are told apart from single steps. Worked: an idle step, a burn-in of 120 samples and 56 runs
    -> three parts.
    """
    steps = (step for step in variant.steps if step.role != "trim")
    for (timed, _), parts in groupby(steps, key=lambda step: (bool(step.span_ns), step.samples >= _MANY_SAMPLES)):
        row = list(parts)
        if timed:
            name = row[0].label if len(row) == 1 else f"{len(row)} steps of {variant.label}"
            samples = [steps_of(step.pattern, step.demand, step.span_ns, step.samples) for step in row]
            yield timed_phase(name, samples, stages=_STAGES, least_ns=sum(step.samples * step.span_ns for step in row))
            continue
        for step in row:
            stages = _STAGES[:1] if step.role == "prepare" else _STAGES
            yield PlannedPhase(name=step.label, stages=stages, amount_bytes=step.amount_bytes * step.samples)


def _outline(settings: StudySettings) -> PlanSummary:
    labels = [variant.label for variant in settings.variants]
    measured = [step for variant in settings.variants for step in variant.measured]
    timed = (step for variant in settings.variants for step in variant.steps if step.role == "prepare")
    prepared_ns = sum(step.span_ns * step.samples for step in timed)
    on_top = (f"timed preparation of {duration_label(prepared_ns)} comes on top",) if prepared_ns else ()
    others = {step.demand for step in measured} - {settings.demand}
    own = ("some steps have a fixed demand, which no option changes",) if others else ()
    not_run = tuple(f"{label} not run: {reason}" for label, reason in settings.not_run)
    return PlanSummary(
        what=count_label(len(labels), "variant"),
        steps=count_label(sum(step.samples for step in measured), "sample"),
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
