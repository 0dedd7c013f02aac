"""A comparison and a gate as tables of numbers, unrounded, for CSV files and the workbook."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.compare.unverified import NO_INTERVAL
from assay.summary.table import UNIT, Column, Pivot, table_of

if TYPE_CHECKING:
    from assay.compare.comparison import Comparison
    from assay.compare.gate import Gated, GateResult
    from assay.compare.sides import Compared, Side
    from assay.compare.subject import Subject
    from assay.compare.unverified import Beside, OldFigure, Unverified
    from assay.summary.table import Declared, ResultTable

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
    keys = tuple(one.key for one in (_TEST, _LABEL, _NAME, UNIT))
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
        _Beside(one, figure, entry)
        for one in comparison.unverified
        for figure in one.figures
        for entry in figure.entries
    ]  # fmt: skip
    title = "Unverified results next to the runs"
    return (table_of("unverified", title, _UNVERIFIED, rows, section="results"),) if comparison.unverified else ()
