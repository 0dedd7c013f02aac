"""A comparison and a gate as data: tables of unrounded numbers, and the JSON of `assay compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import AliasPath, BeforeValidator, ConfigDict, Field

from assay.compare.unverified import NO_INTERVAL
from assay.summary.forms import Facts
from assay.summary.table import UNIT, Column, Pivot, table_of
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from assay.compare.comparison import Comparison
    from assay.compare.gate import Gated, GateResult
    from assay.compare.sides import Compared, Side
    from assay.compare.subject import Subject
    from assay.compare.unverified import Beside, OldFigure, Unverified
    from assay.summary.table import Declared, ResultTable


_Texts = tuple[str, ...]
_Named = Annotated[str, BeforeValidator(unicode_name)]
_State = Literal["ok", "not settled", "not steady", "withheld", "cut short", "no value", "not run"]


def _at(*path: str, description: str) -> Any:
    """A field that is read from elsewhere in the record. path : the attributes that lead there."""
    return Field(validation_alias=AliasPath(*path), description=description)


class _Read(Facts):
    """A form that is read from the attributes of a record."""

    model_config = ConfigDict(from_attributes=True, validate_by_name=True, validate_by_alias=True)


class SubjectFacts(_Read):
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
    unlike: _Texts = _at(
        "unlike_texts", description="How its runs differ in conditions from those of A; it is shown apart then."
    )


class EntryFacts(_Read):
    """One number of one subject."""

    subject: str = _at("subject", "letter", description="Letter.")
    value: float | None = Field(description="Unrounded; null where none may be given.")
    state: _State = Field(description="Whether it counts: only ok is compared and ranked.")
    reason: str = Field(description="Why it does not count; empty where it does.")
    ratio: float | None = Field(description="To the value of A; null where there is none.")
    low: float | None = Field(description="Lower end of the 95 % interval of the ratio; null where none is known.")
    high: float | None = Field(description="Upper end, likewise.")
    repeatable: bool = _at(
        "uncertainty", "repeatable", description="Whether the interval says how far the number moves from run to run."
    )
    uncertainty_from: str = _at(
        "uncertainty", "basis", description="What the interval comes from, or why there is none."
    )
    rank: int | None = Field(description="From 1, shared within uncertainty; null where it is not known.")
    order: int | None = Field(description="Rank by the value alone; null where it is not ranked.")


class NumberFacts(_Read):
    """One number of all subjects."""

    test: str = _at("name", "shown", description="Test as printed.")
    item: str = _at("name", "label", description="What it is of, as printed.")
    name: str = _at("name", "name", description="Column of the number, such as iops or latency_ms_p99.9.")
    unit: str = _at("name", "unit", description="IOPS, MB/s, ms, min, GB, or x for a ratio.")
    better: Literal["higher", "lower", "neither"] = _at(
        "name", "better", description="Which value is the better drive."
    )
    kind: Literal["average", "percentile", "maximum"] = _at("name", "kind", description="What it is of many I/Os.")
    quoted: bool = _at("name", "quoted", description="Whether it is a key result.")
    entries: tuple[EntryFacts, ...] = _at("sides", description="By subject.")


class BesideFacts(_Read):
    """The number of a subject that a figure of a file lies beside."""

    subject: str = _at("letter", description="Letter.")
    stage: str = Field(description="Stage of the run; empty where no stage matches the file.")
    value: float | None = Field(description="Unrounded; null where none may be given.")
    ratio: float | None = Field(description="The figure of the file over this value; null where there is none.")
    reason: str = Field(description="Why there is no ratio; empty where a ratio is given.")


class OldFigureFacts(_Read):
    """One figure of one run of a file."""

    run: int = Field(description="Its run in the file, from 1.")
    specification: str = _at("spec", description="Name of its access specification.")
    asked: str = _at("load", description="Sizes, shares and outstanding I/Os.")
    figure: str = _at("title", description="What it is.")
    unit: str = Field(description="IOPS, MB/s or ms.")
    value: float | None = Field(description="As in the file, MB/s in 10^6 bytes; null where the file has none.")
    entries: tuple[BesideFacts, ...] = Field(description="By subject.")


class UnverifiedFacts(_Read):
    """A file of results that Iometer wrote: one figure each, with no spread, so no interval and no rank."""

    letter: str = Field(description="Its letter, such as U1.")
    called: _Named = Field(description="The file as named; of a blind comparison nothing of it.")
    version: str = Field(description="Of Iometer, as the file states it.")
    verified: Literal[False] = Field(default=False, description="Nothing vouches for figures of another tool.")
    uncertainty: str = Field(description="Why there is no interval.")
    figures: tuple[OldFigureFacts, ...] = Field(description="Every figure that runs have as well.")


class GatedFacts(_Read):
    """One number of the gate."""

    verdict: Literal["pass", "fail", "undecided"] = Field(description="How it came out.")
    subject: str = _at("side", "subject", "letter", description="Letter.")
    test: str = _at("name", "shown", description="Test as printed.")
    item: str = _at("name", "label", description="What it is of.")
    name: str = _at("name", "name", description="Column of the number.")
    unit: str = _at("name", "unit", description="Its unit.")
    baseline: float | None = _at("baseline", "value", description="Value of the baseline.")
    value: float | None = _at("side", "value", description="Value now.")
    worse: float | None = Field(description="By which share it is worse; negative where it is better.")
    limit: float = Field(description="The share from which it fails.")
    uncertainty: float | None = _at(
        "reach", description="The share by which that may be off; null where none is known."
    )
    uncertainty_from: str = _at("basis", description="What it comes from, or why it is not known.")
    reason: str = Field(description="The verdict in words.")


class GateFacts(_Read):
    """What the gate found."""

    verdict: Literal["pass", "fail", "undecided"] = Field(description="Of the gate as a whole.")
    confidence: float = Field(description="Of every uncertainty, so that at most 2 % of gates fail by chance.")
    explained: _Texts = Field(description="What was gated and how it is decided.")
    gated: tuple[GatedFacts, ...] = Field(description="Every gated number.")


class ComparisonFacts(_Read):
    """What `assay compare --json` prints."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    exit_code: int = Field(description="0, or 8 where a baseline was not met.")
    blind: bool = Field(description="Whether identities are replaced by class and letter.")
    subjects: tuple[SubjectFacts, ...] = Field(description="What is compared; of a gate A is the baseline.")
    numbers: tuple[NumberFacts, ...] = Field(description="Every number; none of a gate.")
    unverified: tuple[UnverifiedFacts, ...] = Field(description="Results of Iometer next to the runs; none of a gate.")
    gate: GateFacts | None = Field(description="Outcome of the gate; null where there is none.")
    report: tuple[_Named, ...] = Field(description="Files that were written.")


def comparison_facts(comparison: Comparison, files: _Texts = ()) -> ComparisonFacts:
    """A comparison with all its numbers."""
    shown = {"subjects": comparison.subjects, "numbers": comparison.numbers, "unverified": comparison.unverified}
    return ComparisonFacts.model_validate(
        {**shown, "exit_code": 0, "blind": comparison.blind, "gate": None, "report": files}
    )


def gate_facts(gate_result: GateResult, exit_code: int, files: _Texts = ()) -> ComparisonFacts:
    """A gate with all its numbers."""
    shown = {"subjects": (gate_result.baseline, *gate_result.subjects), "numbers": (), "unverified": ()}
    return ComparisonFacts.model_validate(
        {**shown, "exit_code": exit_code, "blind": gate_result.blind, "gate": gate_result, "report": files}
    )


_SUBJECT = Column("subject", "Subject", role="key")
_TEST, _LABEL = Column("test", "Test", role="key"), Column("label", "Cell", role="key")
_NAME, _VALUE, _RATIO = Column("name", "Number", role="key"), Column("value", "Value"), Column("ratio", "Ratio")


class _Number(NamedTuple):
    number: Compared
    side: Side


class _Beside(NamedTuple):
    file: Unverified
    figure: OldFigure
    entry: Beside


_NUMBERS: Declared[_Number] = (
    (_TEST, lambda number: number.number.name.shown),
    (_LABEL, lambda number: number.number.name.label),
    (_NAME, lambda number: number.number.name.name),
    (UNIT, lambda number: number.number.name.unit),
    (_SUBJECT, lambda number: number.side.subject.letter),
    (_VALUE, lambda number: number.side.value),
    (Column("state", "State"), lambda number: number.side.state),
    (_RATIO, lambda number: number.side.ratio),
    (Column("ratio_low", "From"), lambda number: number.side.low),
    (Column("ratio_high", "To"), lambda number: number.side.high),
    (Column("rank", "Rank"), lambda number: number.side.rank),
    (Column("uncertainty_from", "Uncertainty from"), lambda number: number.side.uncertainty.basis),
)
_SUBJECTS: Declared[Subject] = (
    (Column("letter", "Subject", role="key"), lambda subject: subject.letter),
    (Column("drive", "Drive"), lambda subject: subject.model),
    (Column("serial", "Serial"), lambda subject: subject.serial),
    (Column("firmware", "Firmware"), lambda subject: subject.firmware),
    (Column("capacity", "Capacity"), lambda subject: subject.capacity),
    (Column("label", "Conformity"), lambda subject: subject.label),
    (Column("level", "Level"), lambda subject: subject.level),
    (Column("runs", "Runs"), lambda subject: len(subject.runs)),
    (Column("run_folder", "Run folder"), lambda subject: subject.called),
)
_UNVERIFIED: Declared[_Beside] = (
    (Column("source", "Source", role="key"), lambda beside: beside.file.letter),
    (Column("file", "File"), lambda beside: beside.file.called),
    (Column("level", "Level"), lambda _: "unverified"),
    (Column("run", "Run"), lambda beside: beside.figure.run),
    (Column("access_specification", "Access specification"), lambda beside: beside.figure.spec),
    (Column("asked", "Workload"), lambda beside: beside.figure.load),
    (Column("figure", "Figure"), lambda beside: beside.figure.title),
    (UNIT, lambda beside: beside.figure.unit),
    (Column("unverified_value", "Unverified value"), lambda beside: beside.figure.value),
    (_SUBJECT, lambda beside: beside.entry.letter),
    (Column("stage", "Stage"), lambda beside: beside.entry.stage),
    (_VALUE, lambda beside: beside.entry.value),
    (_RATIO, lambda beside: beside.entry.ratio),
    (Column("uncertainty", "Uncertainty"), lambda beside: beside.entry.reason or NO_INTERVAL),
)
_GATE: Declared[Gated] = (
    (Column("verdict", "Verdict"), lambda gated: gated.verdict),
    (_SUBJECT, lambda gated: gated.side.subject.letter),
    (_TEST, lambda gated: gated.name.shown),
    (_LABEL, lambda gated: gated.name.label),
    (_NAME, lambda gated: gated.name.name),
    (UNIT, lambda gated: gated.name.unit),
    (Column("baseline", "Baseline"), lambda gated: gated.baseline.value),
    (_VALUE, lambda gated: gated.side.value),
    (Column("worse", "Worse by"), lambda gated: gated.worse),
    (Column("limit", "Limit"), lambda gated: gated.limit),
    (Column("reach", "Uncertainty"), lambda gated: gated.reach),
    (Column("uncertainty_from", "Uncertainty from"), lambda gated: gated.basis),
    (Column("reason", "Reason"), lambda gated: gated.reason),
)


def comparison_data(comparison: Comparison) -> tuple[ResultTable, ...]:
    """Who the subjects are; all numbers, a row per number and subject; and the figures of files beside, if any."""
    numbers = (_Number(number, side) for number in comparison.numbers for side in number.sides)
    keys = tuple(column.key for column in (_TEST, _LABEL, _NAME, UNIT))
    pivots = tuple(Pivot(keys, _SUBJECT.key, value.key) for value in (_VALUE, _RATIO))
    return (
        table_of("subjects", "What is compared", _SUBJECTS, comparison.subjects, section="results"),
        table_of("comparison", "Numbers", _NUMBERS, numbers, pivots=pivots, section="results"),
        *_unverified(comparison),
    )


def gate_data(gate_result: GateResult) -> ResultTable:
    """The gate as numbers."""
    return table_of("gate", "Gate", _GATE, gate_result.gated, section="results")


def _unverified(comparison: Comparison) -> tuple[ResultTable, ...]:
    rows = [
        _Beside(file, figure, entry)
        for file in comparison.unverified
        for figure in file.figures
        for entry in figure.entries
    ]  # fmt: skip
    title = "Unverified results next to the runs"
    return (table_of("unverified", title, _UNVERIFIED, rows, section="results"),) if comparison.unverified else ()
