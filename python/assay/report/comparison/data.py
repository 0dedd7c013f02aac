"""A comparison and a gate as tables of numbers, unrounded, for CSV files and the workbook."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.compare.unverified import NO_INTERVAL
from assay.summary.columns import UNIT
from assay.summary.table import Column, Pivot, table_of

if TYPE_CHECKING:
    from assay.compare.comparison import Compared, Comparison, Entry
    from assay.compare.gate import Gated, GateResult
    from assay.compare.subject import Subject
    from assay.compare.unverified import Beside, OldFigure, Unverified
    from assay.summary.table import Declared, ResultTable

_SUBJECT = Column("subject", "Subject", role="key")
_TEST, _LABEL = Column("test", "Test", role="key"), Column("label", "Cell", role="key")
_NAME, _VALUE, _RATIO = Column("name", "Number", role="key"), Column("value", "Value"), Column("ratio", "Ratio")


class _Number(NamedTuple):
    number: Compared
    entry: Entry


class _Beside(NamedTuple):
    file: Unverified
    figure: OldFigure
    entry: Beside


_NUMBERS: Declared[_Number] = (
    (_TEST, lambda one: one.number.name.shown),
    (_LABEL, lambda one: one.number.name.label),
    (_NAME, lambda one: one.number.name.name),
    (UNIT, lambda one: one.number.name.unit),
    (_SUBJECT, lambda one: one.entry.side.subject.letter),
    (_VALUE, lambda one: one.entry.side.value),
    (Column("state", "State"), lambda one: one.entry.side.state),
    (_RATIO, lambda one: one.entry.ratio),
    (Column("ratio_low", "From"), lambda one: one.entry.low),
    (Column("ratio_high", "To"), lambda one: one.entry.high),
    (Column("rank", "Rank"), lambda one: one.entry.rank),
    (Column("uncertainty_from", "Uncertainty from"), lambda one: _basis(one.entry)),
)
_SUBJECTS: Declared[Subject] = (
    (Column("letter", "Subject", role="key"), lambda one: one.letter),
    (Column("drive", "Drive"), lambda one: one.model),
    (Column("serial", "Serial"), lambda one: one.serial),
    (Column("firmware", "Firmware"), lambda one: one.firmware),
    (Column("capacity", "Capacity"), lambda one: one.capacity),
    (Column("label", "Conformity"), lambda one: one.label),
    (Column("level", "Level"), lambda one: one.level),
    (Column("runs", "Runs"), lambda one: len(one.runs)),
    (Column("run_folder", "Run folder"), lambda one: one.called),
)
_UNVERIFIED: Declared[_Beside] = (
    (Column("source", "Source", role="key"), lambda one: one.file.letter),
    (Column("file", "File"), lambda one: one.file.called),
    (Column("level", "Level"), lambda _: "unverified"),
    (Column("run", "Run"), lambda one: one.figure.run),
    (Column("access_specification", "Access specification"), lambda one: one.figure.spec),
    (Column("asked", "Workload"), lambda one: one.figure.load),
    (Column("figure", "Figure"), lambda one: one.figure.title),
    (UNIT, lambda one: one.figure.unit),
    (Column("unverified_value", "Unverified value"), lambda one: one.figure.value),
    (_SUBJECT, lambda one: one.entry.letter),
    (Column("stage", "Stage"), lambda one: one.entry.stage),
    (_VALUE, lambda one: one.entry.value),
    (_RATIO, lambda one: one.entry.ratio),
    (Column("uncertainty", "Uncertainty"), lambda one: one.entry.reason or NO_INTERVAL),
)
_GATE: Declared[Gated] = (
    (Column("verdict", "Verdict"), lambda one: one.verdict),
    (_SUBJECT, lambda one: one.side.subject.letter),
    (_TEST, lambda one: one.name.shown),
    (_LABEL, lambda one: one.name.label),
    (_NAME, lambda one: one.name.name),
    (UNIT, lambda one: one.name.unit),
    (Column("baseline", "Baseline"), lambda one: one.baseline.value),
    (_VALUE, lambda one: one.side.value),
    (Column("worse", "Worse by"), lambda one: one.worse),
    (Column("limit", "Limit"), lambda one: one.limit),
    (Column("reach", "Uncertainty"), lambda one: one.reach),
    (Column("uncertainty_from", "Uncertainty from"), lambda one: one.basis),
    (Column("reason", "Reason"), lambda one: one.reason),
)


def comparison_data(found: Comparison) -> tuple[ResultTable, ...]:
    """Who the subjects are; all numbers, a row per number and subject; and the figures of files beside, if any."""
    numbers = (_Number(one, entry) for one in found.numbers for entry in one.entries)
    keys = tuple(one.key for one in (_TEST, _LABEL, _NAME, UNIT))
    pivots = tuple(Pivot(keys, _SUBJECT.key, value.key) for value in (_VALUE, _RATIO))
    return (
        table_of("subjects", "What is compared", _SUBJECTS, found.subjects, section="results"),
        table_of("comparison", "Numbers", _NUMBERS, numbers, pivots=pivots, section="results"),
        *_unverified(found),
    )


def gate_data(found: GateResult) -> ResultTable:
    """The gate as numbers."""
    return table_of("gate", "Gate", _GATE, found.gated, section="results")


def _unverified(found: Comparison) -> tuple[ResultTable, ...]:
    rows = [
        _Beside(one, figure, entry)
        for one in found.unverified
        for figure in one.figures
        for entry in figure.entries
    ]  # fmt: skip
    title = "Unverified results next to the runs"
    return (table_of("unverified", title, _UNVERIFIED, rows, section="results"),) if found.unverified else ()


def _basis(entry: Entry) -> str:
    widest = entry.uncertainty.widest()
    return widest.basis if widest else entry.uncertainty.reason
