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
    (Column("sequence", "Sequence", role="key"), lambda ran: ran.sequence.name),
    (Column("stage", "Stage"), lambda ran: ran.sequence.stage),
    (Column("number", "Number"), lambda ran: ran.sequence.index),
    (Column("role", "Role"), lambda ran: ran.sequence.role),
    (Column("counts", "In the results"), lambda ran: ran.counts),
    (Column("step_count", "Steps"), lambda ran: len(ran.sequence.steps)),
    (ERRORS, lambda ran: sum(error_count(step) for step in ran.sequence.steps)),
    (HOST, lambda ran: None if ran.host.level == "unknown" else ran.host.level),
    (HOST_REASON, lambda ran: ran.host.words if ran.host.marked else None),
    (Column("void_reason", "Void because"), lambda ran: _void(ran.test, ran.sequence)),
)


def sequence_table(test: StoredTest, suffix: str = "") -> ResultTable:
    """One row per sequence: name, stage, number, role, whether results come from it, and what befell it.

    number : of the round or variant that it is. counts : results come from it. host : ``pass``, ``warn`` or
    ``invalid`` with the gravest reason, None where nobody watched. void_reason : what the drive did that takes it out
    of results, None where it did nothing.
    Worked: a host stall of 1,502 ms in round 3 -> ``host`` ``invalid``, ``"the host stalled for 1,502 ms"``.
    """
    counted = {id(counted_sequence) for counted_sequence in counted_sequences(test)}
    result = (_Ran(test, sequence, id(sequence) in counted, sequence_host(sequence)[0]) for sequence in test.sequences)
    return table_of(f"{test.settings.test.replace('-', '_')}_sequences{suffix}", "Sequences", _COLUMNS, result)


def _void(test: StoredTest, sequence: StoredSequence) -> str | None:
    void = void_reason(sequence.steps, test.settings) if sequence.on_void != "accept" else None
    return text(void) if void else None
