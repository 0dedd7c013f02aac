"""Every sequence of steps of a test in the order it ran, with a flag for what befell it: for CSV, workbook and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.results import counted_sequences, error_count, sequence_host, void_reason
from assay.summary.columns import ERRORS, HOST, HOST_REASON
from assay.summary.table import Column, table_of
from assay.words.text import text

if TYPE_CHECKING:
    from assay.engine.records import StoredSequence, StoredTest
    from assay.results.finding import Finding
    from assay.summary.table import Declared, ResultTable


class _Ran(NamedTuple):
    test: StoredTest
    sequence: StoredSequence
    counts: bool
    host: Finding


_COLUMNS: Declared[_Ran] = (
    (Column("sequence", "Sequence", role="key"), lambda one: one.sequence.name),
    (Column("stage", "Stage"), lambda one: one.sequence.stage),
    (Column("number", "Number"), lambda one: one.sequence.index),
    (Column("role", "Role"), lambda one: one.sequence.role),
    (Column("counts", "In the results"), lambda one: one.counts),
    (Column("step_count", "Steps"), lambda one: len(one.sequence.steps)),
    (ERRORS, lambda one: sum(error_count(step) for step in one.sequence.steps)),
    (HOST, lambda one: None if one.host.level == "unknown" else one.host.level),
    (HOST_REASON, lambda one: one.host.words if one.host.marked else None),
    (Column("void_reason", "Void because"), lambda one: _void(one.test, one.sequence)),
)


def sequence_table(test: StoredTest, suffix: str = "") -> ResultTable:
    """One row per sequence: name, stage, number, role, whether results come from it, and what befell it.

    number : of the round or variant that it is. counts : results come from it. host : ``pass``, ``warn`` or
    ``invalid`` with the gravest reason, None where nobody watched. void_reason : what the drive did that takes it out
    of results, None where it did nothing.
    Worked: a host stall of 1,502 ms in round 3 -> ``host`` ``invalid``, ``"the host stalled for 1,502 ms"``.
    """
    counted = {id(one) for one in counted_sequences(test)}
    found = (_Ran(test, one, id(one) in counted, sequence_host(one)[0]) for one in test.sequences)
    return table_of(f"{test.settings.test.replace('-', '_')}_sequences{suffix}", "Sequences", _COLUMNS, found)


def _void(test: StoredTest, sequence: StoredSequence) -> str | None:
    void = void_reason(sequence.steps, test.settings) if sequence.on_void != "accept" else None
    return text(void) if void else None
