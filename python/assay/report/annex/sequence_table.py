"""Every sequence of steps of a test in the order it ran, with a flag for what befell it, and its steps."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from assay.results import (
    counted_sequences,
    effective_queue_depth,
    error_count,
    iops,
    issued_bytes,
    lead_in_latency_ns_max,
    max_latency_ns,
    mean_latency_ns,
    sequence_host,
    throughput,
    void_reason,
    window_count,
)
from assay.summary.table import ERRORS, HOST, HOST_REASON, Column, table_of
from assay.words.text import text, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StepRecord, StoredSequence, StoredTest
    from assay.results.finding import Finding
    from assay.summary.table import Declared, Raw, ResultTable


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
    return table_of(f"{_stem(test)}_sequences{suffix}", "Sequences", _COLUMNS, result)


class _Step(NamedTuple):
    test: StoredTest
    sequence: StoredSequence
    number: int
    step: StepRecord


def step_table(test: StoredTest, *, is_virtual: bool) -> ResultTable:
    """Every step with exact numbers: rates are quotients of whole numbers.

    is_virtual : the drive has a clock of its own, which tells no wall time.
    Worked: 3,000 I/Os in 1 s -> ``iops_numerator`` 3000, ``iops_denominator`` 1.
    """
    start = Column("start_drive_ns" if is_virtual else "start_wall_ns", "Start", "ns")
    columns: Declared[_Step] = (
        (Column("sequence", "Sequence", role="key"), lambda ran: ran.sequence.name),
        (Column("number", "Number", role="key"), lambda ran: ran.sequence.index),
        (Column("step", "Step", role="key"), lambda ran: ran.number),
        (Column("role", "Role"), lambda ran: ran.sequence.role),
        (Column("label", "Accesses"), lambda ran: ran.step.label),
        (start, lambda ran: ran.step.start_wall_ns),
        *((Column(key), lambda ran, fill=fill: fill(ran.step)) for key, fill in _STEP_NUMBERS.items()),
        (Column("ended"), lambda ran: ran.step.ended),
        (Column("void"), lambda ran: text_or_none(void_reason([ran.step], ran.test.settings))),
    )
    sources = (
        _Step(test, sequence, number, step)
        for sequence in test.sequences
        for number, step in enumerate(sequence.steps, 1)
    )
    return table_of(f"{_stem(test)}_steps", "Steps", columns, sources)


_STEP_NUMBERS: dict[str, Callable[[StepRecord], Raw]] = {
    "iops": lambda step: float(iops(step)),
    "iops_numerator": lambda step: iops(step).numerator,
    "iops_denominator": lambda step: iops(step).denominator,
    "mb_per_s": lambda step: float(throughput(step)),
    **{name: attrgetter(name) for name in ("span_ns", "lead_in_ns", "carried_in_ns", "carried_out_ns")},
    "read_io_count": lambda step: window_count(step.read),
    "write_io_count": lambda step: window_count(step.write),
    "read_bytes_issued": lambda step: issued_bytes(step.read),
    "write_bytes_issued": lambda step: issued_bytes(step.write),
    "effective_queue_depth": effective_queue_depth,
    "latency_ns_mean": mean_latency_ns,
    "latency_ns_max": max_latency_ns,
    "lead_in_latency_ns_max": lead_in_latency_ns_max,
    **{
        name: attrgetter(name)
        for name in (
            "offered_io_count", "misaligned_io_count", "successor_io_count", "submission_gap_ns_max", "stall_ns_max",
            "cpu_ns",
        )
    },
    "error_count": error_count,
}  # fmt: skip
"""Of one step: what ``results.json`` says of it."""


def _stem(test: StoredTest) -> str:
    """What its files begin with. Worked: ``study-oio`` -> ``study_oio``."""
    return test.settings.test.replace("-", "_")


def _void(test: StoredTest, sequence: StoredSequence) -> str | None:
    void = void_reason(sequence.steps, test.settings) if sequence.on_void != "accept" else None
    return text(void) if void else None
