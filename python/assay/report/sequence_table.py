"""Every sequence of steps of a test in the order it ran, with a flag for what befell it: for CSV, workbook and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.pages.model import DataTable
from assay.pages.printed import or_na, paragraph
from assay.results import counted_sequences, error_count, sequence_host, void_reason

if TYPE_CHECKING:
    from assay.engine.records import StoredSequence, StoredTest

_TABLE_COLUMNS = (
    "sequence",
    "stage",
    "number",
    "role",
    "counts",
    "step_count",
    "error_count",
    "host",
    "host_reason",
    "void_reason",
)


def sequence_facts(test: StoredTest) -> list[dict[str, Any]]:
    """One record per sequence: name, stage, number, role, whether results come from it, and what befell it.

    number : of the round or variant that it is. counts : results come from it. host : ``pass``, ``warn`` or
    ``invalid`` with the gravest reason, None where nobody watched. void_reason : what the drive did that takes it out
    of results, None where it did nothing.
    Worked: a host stall of 1,502 ms in round 3 -> ``host`` ``invalid``, ``"the host stalled for 1,502 ms"``.
    """
    counted = {id(one) for one in counted_sequences(test)}
    return [_facts(test, one, counts=id(one) in counted) for one in test.sequences]


def _facts(test: StoredTest, sequence: StoredSequence, *, counts: bool) -> dict[str, Any]:
    host = sequence_host(sequence)[0]
    void = void_reason(sequence.steps, test.settings) if sequence.on_void != "accept" else None
    return {
        "sequence": sequence.name,
        "stage": sequence.stage,
        "number": sequence.index,
        "role": sequence.role,
        "counts": counts,
        "step_count": len(sequence.steps),
        "error_count": sum(error_count(step) for step in sequence.steps),
        "host": None if host.level == "unknown" else host.level,
        "host_reason": paragraph(host.reason) if host.marked else None,
        "void_reason": paragraph(void) if void else None,
    }


def sequence_table(test: StoredTest, suffix: str) -> DataTable:
    """The same as a table; true and false as yes and no, n/a for None."""
    rows = tuple(tuple(_cell(one[column]) for column in _TABLE_COLUMNS) for one in sequence_facts(test))
    name = test.settings.test.replace("-", "_")
    return DataTable(name=f"{name}_sequences{suffix}", columns=_TABLE_COLUMNS, rows=rows)


def _cell(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else or_na(value)
