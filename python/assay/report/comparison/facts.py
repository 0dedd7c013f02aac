"""A comparison and a gate as ``assay compare --json`` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from assay.compare.gate import explained
from assay.compare.unverified import NO_INTERVAL
from assay.summary.forms import Facts
from assay.words.visible import unicode_name

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


def comparison_facts(comparison: Comparison, files: _Texts = ()) -> ComparisonFacts:
    """A comparison with all its numbers."""
    return ComparisonFacts(
        exit_code=0,
        blind=comparison.blind,
        subjects=tuple(_subject(subject, comparison) for subject in comparison.subjects),
        numbers=tuple(map(_number, comparison.numbers)),
        unverified=tuple(map(_unverified, comparison.unverified)),
        gate=None,
        report=tuple(map(unicode_name, files)),
    )


def gate_facts(gate_result: GateResult, exit_code: int, files: _Texts = ()) -> ComparisonFacts:
    """A gate with all its numbers."""
    return ComparisonFacts(
        exit_code=exit_code,
        blind=gate_result.blind,
        subjects=tuple(_subject(subject, gate_result) for subject in (gate_result.baseline, *gate_result.subjects)),
        numbers=(),
        unverified=(),
        gate=GateFacts(
            verdict=gate_result.verdict,
            confidence=gate_result.confidence,
            explained=explained(gate_result),
            gated=tuple(map(_gated, gate_result.gated)),
        ),
        report=tuple(map(unicode_name, files)),
    )


def _subject(subject: Subject, found: Comparison | GateResult) -> SubjectFacts:
    return SubjectFacts(
        letter=subject.letter,
        model=subject.model,
        serial=subject.serial,
        firmware=subject.firmware,
        capacity=subject.capacity,
        label=subject.label,
        level=subject.level,
        run_count=len(subject.runs),
        called=subject.called,
        unlike=tuple(each.text(blind=found.blind) for each in found.unlike.get(subject.letter, ())),
    )


_KINDS: dict[str, Literal["average", "percentile", "maximum"]] = {"percentile": "percentile", "maximum": "maximum"}


def _number(number: Compared) -> NumberFacts:
    name = number.name
    return NumberFacts(
        test=name.shown,
        item=name.label,
        name=name.name,
        unit=name.unit,
        better=name.better,
        kind=_KINDS.get(name.stat, "average"),
        quoted=name.quoted,
        entries=tuple(map(_entry, number.entries)),
    )


def _entry(entry: Entry) -> EntryFacts:
    widest = entry.uncertainty.widest()
    return EntryFacts(
        subject=entry.side.subject.letter,
        value=entry.side.value,
        state=entry.side.state,
        reason=entry.side.reason,
        ratio=entry.ratio,
        low=entry.low,
        high=entry.high,
        repeatable=entry.uncertainty.repeatable,
        uncertainty_from=widest.basis if widest else entry.uncertainty.reason,
        rank=entry.rank,
        order=entry.order,
    )


def _unverified(unverified: Unverified) -> UnverifiedFacts:
    return UnverifiedFacts(
        letter=unverified.letter,
        called=unicode_name(unverified.called),
        version=unverified.version,
        uncertainty=NO_INTERVAL,
        figures=tuple(map(_old_figure, unverified.figures)),
    )


def _old_figure(old_figure: OldFigure) -> OldFigureFacts:
    return OldFigureFacts(
        run=old_figure.run,
        specification=old_figure.spec,
        asked=old_figure.load,
        figure=old_figure.title,
        unit=old_figure.unit,
        value=old_figure.value,
        entries=tuple(
            BesideFacts(subject=each.letter, stage=each.stage, value=each.value, ratio=each.ratio, reason=each.reason)
            for each in old_figure.entries
        ),
    )


def _gated(gated: Gated) -> GatedFacts:
    return GatedFacts(
        verdict=gated.verdict,
        subject=gated.side.subject.letter,
        test=gated.name.shown,
        item=gated.name.label,
        name=gated.name.name,
        unit=gated.name.unit,
        baseline=gated.baseline.value,
        value=gated.side.value,
        worse=gated.worse,
        limit=gated.limit,
        uncertainty=gated.reach,
        uncertainty_from=gated.basis,
        reason=gated.reason,
    )
