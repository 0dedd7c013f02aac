"""Rules of the tables: those that were written, of the right form, a row for each count, and nothing beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.archive.verify.rule import Broken
from assay.errors import AssayError
from assay.run.store.read import check_replay, checked_table
from assay.run.store.tables import (
    HISTOGRAMS,
    INTENDED,
    LATENESS,
    LEAD_INS,
    REPLAYS,
    SERIES,
    TABLE_KINDS,
    direction_places,
    numbers,
    read_histograms,
    series_rows,
)
from assay.run.store.traces import trace_summary
from assay.spec.files import exists_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import StepSpec
    from assay.run.store.document import Steps

_AS_WRITTEN = "the table whose SHA-256 the journal names"
_ASCENDING = "each step, direction and bucket or second once, in ascending order"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """What is wrong with the tables, each read once: their digests, their forms, the order of their rows."""

    digests: list[AssayError]
    forms: list[AssayError]
    orders: list[Broken]


def table_digests(evidence: Evidence) -> Iterator[Broken]:
    """Every table has the digest that the journal names."""
    for error in _read(evidence).digests:
        yield Broken(place=error.thing, found=error.reason, expected=_AS_WRITTEN)


def _read(evidence: Evidence) -> _Tables:
    return evidence.once("tables", lambda: _tables(evidence))


def _tables(evidence: Evidence) -> _Tables:
    found = _Tables(digests=[], forms=[], orders=[])
    for _, steps in evidence.sequences:
        for name, digest in steps.tables.items():
            try:
                if name.startswith(REPLAYS):
                    # A rule of the steps looks into it.
                    check_replay(evidence.folder, name, digest)
                    continue
                content = checked_table(evidence.folder, name, steps)
            except AssayError as error:
                found.digests.append(error)
                continue
            try:
                fault = _row_fault(steps, name, content, str(evidence.folder / name))
            except AssayError as error:
                found.forms.append(error)
                continue
            if fault:
                found.orders.append(Broken(place=name, found=fault, expected=_ASCENDING))
    return found


def _row_fault(steps: Steps, name: str, content: bytes, place: str) -> str | None:
    """What is wrong with the order of a table's rows; None where nothing is. Raises StoreError for its form."""
    if name.startswith(SERIES):
        return _series_fault(series_rows(steps.steps, content, name=place))
    table = read_histograms(content, step_count=len(steps.steps), name=place)
    return _order_fault((table.step, table.direction, table.bucket))


def table_names(evidence: Evidence) -> Iterator[Broken]:
    """Each sequence has the tables of its number, those that its steps fill and no others."""
    for number, (entry, steps) in enumerate(evidence.sequences, 1):
        expected = {f"{kind}/{number:06}.parquet" for kind in _kinds(steps, evidence.asked[entry.seq])}
        if set(steps.tables) != expected:
            found = ", ".join(sorted(steps.tables)) or "none"
            yield Broken(place=entry.place, found=found, expected=", ".join(sorted(expected)))


def _kinds(steps: Steps, asked: Sequence[StepSpec]) -> Iterator[str]:
    yield SERIES
    yield HISTOGRAMS
    if any(step.offered_io_count is not None for step in steps.steps):
        yield INTENDED
        yield LATENESS
    if any(side.lead_in_latency_ns_max is not None for step in steps.steps for side in step.sides):
        yield LEAD_INS
    if any(spec.pattern.operation == "replay" for spec in asked):
        yield REPLAYS


def unnamed_tables(evidence: Evidence) -> Iterator[Broken]:
    """A table that no line names can only be the one that a run was writing when it was cut short."""
    named = {name for _, steps in evidence.sequences for name in steps.tables}
    cut = set() if evidence.journal.complete else {f"{len(evidence.sequences) + 1:06}.parquet"}
    for kind in TABLE_KINDS:
        for path in sorted((evidence.folder / kind).glob("*.parquet")):
            name = f"{kind}/{path.name}"
            if name not in named and path.name not in cut:
                yield Broken(place=name, found="is named by no line of the journal", expected="only named tables")


def table_forms(evidence: Evidence) -> Iterator[Broken]:
    """Every table has its columns, and no row that is of no step."""
    found = _read(evidence)
    _refuse(found.digests)
    for error in found.forms:
        yield Broken(place=error.thing, found=error.reason, expected="a table of this kind and these steps")


def table_rows(evidence: Evidence) -> Iterator[Broken]:
    """Rows ascend, and none comes twice; a series has every second from 0 on."""
    rows = _read(evidence)
    _refuse([*rows.digests, *rows.forms])
    yield from rows.orders


def _refuse(errors: Sequence[AssayError]) -> None:
    """Raise what keeps a rule from being asked."""
    for error in errors:
        raise error


def _series_fault(rows: Any) -> str | None:
    steps, seconds = (numbers(rows[column]) for column in ("step", "second"))
    if fault := _order_fault((steps, direction_places(rows["direction"]), seconds)):
        return fault
    # A second that is not 0 follows the one before it, of the same step and direction.
    alone = (np.diff(seconds.astype(np.int64), prepend=-1) != 1) & (seconds != 0)
    return f"row {int(np.argmax(alone)) + 1} has no second before it" if alone.any() else None


def _order_fault(columns: Sequence[Any]) -> str | None:
    """The first row that does not come behind the one before it; None where all do."""
    later = np.zeros(max(len(columns[0]) - 1, 0), dtype=np.bool_)
    equal = ~later
    for column in columns:
        difference = np.diff(column.astype(np.int64))
        later |= equal & (difference > 0)
        equal &= difference == 0
    return None if later.all() else f"row {int(np.argmin(later)) + 2} does not come after its predecessor"


def captures(evidence: Evidence) -> Iterator[Broken]:
    """What was to be captured is there and can be read."""
    capture = evidence.document.plan.get("capture", "none")
    for (_, steps), name in zip(evidence.sequences, evidence.traces, strict=True):
        there = exists_inside(evidence.folder, name)
        kept = steps.keeps_ios or (capture != "none" and steps.role == "measure")
        if kept != there:
            found = "is there" if there else "is missing"
            expected = f"{'a' if kept else 'no'} trace, as its sequence and the plan say"
            yield Broken(place=name, found=found, expected=expected)
        elif there:
            yield from _trace_faults(evidence, name, len(steps.steps))


def _trace_faults(evidence: Evidence, name: str, step_count: int) -> Iterator[Broken]:
    capacity = evidence.document.identity.capacity_bytes
    try:
        trace_summary(evidence.folder, name, step_count=step_count, capacity_bytes=capacity)
    except AssayError as error:
        yield Broken(place=error.thing, found=error.reason, expected="a trace of these steps on this drive")
