"""The rule of replays: what was issued are the I/Os of the file that the run folder keeps."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from assay.archive.verify.rule import Broken
from assay.archive.verify.steps import all_steps
from assay.results.step import issued_bytes, issued_count, ran_whole
from assay.workloads.traces import FLUSH, OPERATIONS, replay_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.archive.verify.evidence import Evidence
    from assay.results.record import Step
    from assay.workloads.traces import Batch

_SIDES = {"read": "read", "write": "write", "trim": "other", "flush": "other"}
"""Which part of a record counts an operation."""


def replayed_ios(evidence: Evidence) -> Iterator[Broken]:
    """The I/Os of a replay are on the drive and in order, and as many of each direction as the step issued."""
    capacity = evidence.document.identity.capacity_bytes
    for where, step in all_steps(evidence):
        read = step.sequence.replayed
        if read is None or step.spec.pattern.operation != "replay":
            continue
        if fault := replay_fault(read(), capacity):
            yield Broken(place=where, found=f"its file {fault}", expected="I/Os on the drive, in order")
        else:
            yield from _totals(where, step, _amounts(read()))


def _amounts(batches: Iterable[Batch]) -> Counter[tuple[str, str]]:
    """I/Os and bytes of each part of a record."""
    amounts: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        for kind, name in enumerate(OPERATIONS):
            own = batch.operation == kind
            amounts[_SIDES[name], "I/Os"] += int(own.sum())
            if kind != FLUSH:
                amounts[_SIDES[name], "bytes"] += int(batch.length_bytes[own].sum())
    return amounts


def _totals(where: str, step: Step, due: Counter[tuple[str, str]]) -> Iterator[Broken]:
    whole = ran_whole(step.record)
    for name, side in step.record.named_sides:
        for unit, value in (("I/Os", issued_count(side)), ("bytes", issued_bytes(side))):
            asked = due[name, unit]
            if value > asked or (whole and value != asked):
                expected = f"{asked:,} of its file"
                yield Broken(place=f"{where}, {name}", found=f"{value:,} {unit}", expected=expected)
