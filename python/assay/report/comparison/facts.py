"""A comparison and a gate as ``assay compare --json`` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from assay.compare.gate import explained
from assay.compare.unverified import NO_INTERVAL
from assay.report.formats.terminal.overview import Facts, unicode_name

if TYPE_CHECKING:
    from assay.compare.comparison import Compared, Comparison, Entry
    from assay.compare.gate import Gated, GateResult
    from assay.compare.subject import Subject
    from assay.compare.unverified import OldFigure, Unverified

_Texts = tuple[str, ...]
_State = Literal["ok", "not settled", "not steady", "withheld", "cut short", "no value", "not run"]


class SubjectFacts(Facts):
    """One column of a comparison."""

    letter: str = Field(description="Its letter.")
    model: str = Field(description="Model of the drive; of a blind comparison its class.")
    serial: str = Field(description="Its serial number; - where the comparison is blind.")
    firmware: str = Field(description="Its firmware; - where the comparison is blind.")
    capacity: str = Field(description="User capacity.")
    label: str = Field(description="conforming, not conforming, or simulated drive.")
    level: str = Field(description="How far it is vouched for.")
    run_count: int = Field(description="Number of runs; several are repeats.")
    called: str = Field(description="The run folder as named; of a blind comparison nothing of it.")
    unlike: _Texts = Field(description="How its runs differ in conditions from those of A; it is shown apart then.")


class EntryFacts(Facts):
    """One number of one subject."""

    subject: str = Field(description="Letter.")
    value: float | None = Field(description="Unrounded; null where none may be given.")
    state: _State = Field(description="Whether it counts: only ok is compared and ranked.")
    reason: str = Field(description="Why it does not count; empty where it does.")
    ratio: float | None = Field(description="To the value of A; null where there is none.")
    low: float | None = Field(description="Lower end of the 95 % interval of the ratio; null where none is known.")
    high: float | None = Field(description="Upper end, likewise.")
    repeatable: bool = Field(description="Whether the interval says how far the number moves from run to run.")
    uncertainty_from: str = Field(description="What the interval comes from, or why there is none.")
    rank: int | None = Field(description="From 1, shared within uncertainty; null where it is not known.")
    order: int | None = Field(description="Rank by the value alone; null where it is not ranked.")


class NumberFacts(Facts):
    """One number of all subjects."""

    test: str = Field(description="Test as printed.")
    item: str = Field(description="What it is of, as printed.")
    name: str = Field(description="Column of the number, such as iops or latency_ms_p99.9.")
    unit: str = Field(description="IOPS, MB/s, ms, min, GB, or x for a ratio.")
    better: Literal["higher", "lower", "neither"] = Field(description="Which value is the better drive.")
    kind: Literal["average", "percentile", "maximum"] = Field(description="What it is of many I/Os.")
    quoted: bool = Field(description="Whether it is a key result.")
    entries: tuple[EntryFacts, ...] = Field(description="By subject.")


class BesideFacts(Facts):
    """The number of a subject that a figure of a file lies beside."""

    subject: str = Field(description="Letter.")
    stage: str = Field(description="Stage of the run; empty where no stage matches the file.")
    value: float | None = Field(description="Unrounded; null where none may be given.")
    ratio: float | None = Field(description="The figure of the file over this value; null where there is none.")
    reason: str = Field(description="Why there is no ratio; empty where a ratio is given.")


class OldFigureFacts(Facts):
    """One figure of one run of a file."""

    run: int = Field(description="Its run in the file, from 1.")
    specification: str = Field(description="Name of its access specification.")
    asked: str = Field(description="Sizes, shares and outstanding I/Os.")
    figure: str = Field(description="What it is.")
    unit: str = Field(description="IOPS, MB/s or ms.")
    value: float | None = Field(description="As in the file, MB/s in 10^6 bytes; null where the file has none.")
    entries: tuple[BesideFacts, ...] = Field(description="By subject.")


class UnverifiedFacts(Facts):
    """A file of results that Iometer wrote: one figure each, with no spread, so no interval and no rank."""

    letter: str = Field(description="Its letter, such as U1.")
    called: str = Field(description="The file as named; of a blind comparison nothing of it.")
    version: str = Field(description="Of Iometer, as the file states it.")
    verified: Literal[False] = Field(default=False, description="Nothing vouches for figures of another tool.")
    uncertainty: str = Field(description="Why there is no interval.")
    figures: tuple[OldFigureFacts, ...] = Field(description="Every figure that runs have as well.")


class GatedFacts(Facts):
    """One number of the gate."""

    verdict: Literal["pass", "fail", "undecided"] = Field(description="How it came out.")
    subject: str = Field(description="Letter.")
    test: str = Field(description="Test as printed.")
    item: str = Field(description="What it is of.")
    name: str = Field(description="Column of the number.")
    unit: str = Field(description="Its unit.")
    baseline: float | None = Field(description="Value of the baseline.")
    value: float | None = Field(description="Value now.")
    worse: float | None = Field(description="By which share it is worse; negative where it is better.")
    limit: float = Field(description="The share from which it fails.")
    uncertainty: float | None = Field(description="The share by which that may be off; null where none is known.")
    uncertainty_from: str = Field(description="What it comes from, or why it is not known.")
    reason: str = Field(description="The verdict in words.")


class GateFacts(Facts):
    """What the gate found."""

    verdict: Literal["pass", "fail", "undecided"] = Field(description="Of the gate as a whole.")
    confidence: float = Field(description="Of every uncertainty, so that at most 2 % of gates fail by chance.")
    explained: _Texts = Field(description="What was gated and how it is decided.")
    gated: tuple[GatedFacts, ...] = Field(description="Every gated number.")


class ComparisonFacts(Facts):
    """What `assay compare --json` prints."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    exit_code: int = Field(description="0, or 8 where a baseline was not met.")
    blind: bool = Field(description="Whether identities are replaced by class and letter.")
    subjects: tuple[SubjectFacts, ...] = Field(description="What is compared; of a gate A is the baseline.")
    numbers: tuple[NumberFacts, ...] = Field(description="Every number; none of a gate.")
    unverified: tuple[UnverifiedFacts, ...] = Field(description="Results of Iometer next to the runs; none of a gate.")
    gate: GateFacts | None = Field(description="Outcome of the gate; null where there is none.")
    report: _Texts = Field(description="Files that were written.")


def comparison_facts(found: Comparison, files: _Texts = ()) -> ComparisonFacts:
    """A comparison with all its numbers."""
    return ComparisonFacts(
        exit_code=0,
        blind=found.blind,
        subjects=tuple(_subject(one, found) for one in found.subjects),
        numbers=tuple(map(_number, found.numbers)),
        unverified=tuple(map(_unverified, found.unverified)),
        gate=None,
        report=tuple(map(unicode_name, files)),
    )


def gate_facts(found: GateResult, exit_code: int, files: _Texts = ()) -> ComparisonFacts:
    """A gate with all its numbers."""
    return ComparisonFacts(
        exit_code=exit_code,
        blind=found.blind,
        subjects=tuple(_subject(one, found) for one in (found.baseline, *found.subjects)),
        numbers=(),
        unverified=(),
        gate=GateFacts(
            verdict=found.verdict,
            confidence=found.confidence,
            explained=explained(found),
            gated=tuple(map(_gated, found.gated)),
        ),
        report=tuple(map(unicode_name, files)),
    )


def _subject(one: Subject, found: Comparison | GateResult) -> SubjectFacts:
    return SubjectFacts(
        letter=one.letter,
        model=one.model,
        serial=one.serial,
        firmware=one.firmware,
        capacity=one.capacity,
        label=one.label,
        level=one.level,
        run_count=len(one.runs),
        called=one.called,
        unlike=tuple(each.text(blind=found.blind) for each in found.unlike.get(one.letter, ())),
    )


_KINDS: dict[str, Literal["average", "percentile", "maximum"]] = {"percentile": "percentile", "maximum": "maximum"}


def _number(one: Compared) -> NumberFacts:
    name = one.name
    return NumberFacts(
        test=name.shown,
        item=name.label,
        name=name.name,
        unit=name.unit,
        better=name.better,
        kind=_KINDS.get(name.stat, "average"),
        quoted=name.quoted,
        entries=tuple(map(_entry, one.entries)),
    )


def _entry(one: Entry) -> EntryFacts:
    widest = one.uncertainty.widest()
    return EntryFacts(
        subject=one.side.subject.letter,
        value=one.side.value,
        state=one.side.state,
        reason=one.side.reason,
        ratio=one.ratio,
        low=one.low,
        high=one.high,
        repeatable=one.uncertainty.repeatable,
        uncertainty_from=widest.basis if widest else one.uncertainty.reason,
        rank=one.rank,
        order=one.order,
    )


def _unverified(one: Unverified) -> UnverifiedFacts:
    return UnverifiedFacts(
        letter=one.letter,
        called=unicode_name(one.called),
        version=one.version,
        uncertainty=NO_INTERVAL,
        figures=tuple(map(_old_figure, one.figures)),
    )


def _old_figure(one: OldFigure) -> OldFigureFacts:
    return OldFigureFacts(
        run=one.run,
        specification=one.spec,
        asked=one.load,
        figure=one.title,
        unit=one.unit,
        value=one.value,
        entries=tuple(
            BesideFacts(subject=each.letter, stage=each.stage, value=each.value, ratio=each.ratio, reason=each.reason)
            for each in one.entries
        ),
    )


def _gated(one: Gated) -> GatedFacts:
    return GatedFacts(
        verdict=one.verdict,
        subject=one.side.subject.letter,
        test=one.name.shown,
        item=one.name.label,
        name=one.name.name,
        unit=one.name.unit,
        baseline=one.baseline.value,
        value=one.side.value,
        worse=one.worse,
        limit=one.limit,
        uncertainty=one.reach,
        uncertainty_from=one.basis,
        reason=one.reason,
    )
