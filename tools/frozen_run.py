"""A stored run without what another day or another host changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.records import Platform
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredSequence, StoredTest

DATE_NS = 1_700_000_000 * SECOND_NS
"""Stands for every time of the real world: 2023-11-14, 22:13:20 UTC."""
PLATFORM = Platform(
    system="Example system",
    motherboard="Example board",
    cpu="Example CPU",
    memory_bytes=16 << 30,
    operating_system="Example OS 1",
    kernel="6.0",
    clock_source="tsc",
    tool="Assay",
    tool_version="0",
    host_id="0" * 16,
    build="0" * 16,
    extra={"logical_cpu_count": 2},
)
RUN: dict[str, Any] = {
    "run_id": "frozen",
    "platform": PLATFORM,
    "started_wall_ns": DATE_NS,
    "report_date_ns": DATE_NS,
}
JOURNAL: dict[str, Any] = {"hash": "0" * 64}
TEST: dict[str, Any] = {"started_wall_ns": DATE_NS, "ended_wall_ns": DATE_NS}
"""What is stripped of a run, its journal and its tests, with what stands for it.

Of steps it is ``start_wall_ns``: the instant on the drive's clock stands for it, after ``DATE_NS``.
"""


def stripped(run: StoredRun) -> StoredRun:
    """The run with fixed values for all that another day or host changes."""
    journal = replace(run.journal, **JOURNAL) if run.journal else None
    return replace(run, **RUN, journal=journal, tests=tuple(map(_test, run.tests)))


def _test(test: StoredTest) -> StoredTest:
    ended = {} if test.ended_wall_ns is not None else {"ended_wall_ns": None}
    return replace(test, **(TEST | ended), sequences=tuple(map(_sequence, test.sequences)))


def _sequence(sequence: StoredSequence) -> StoredSequence:
    steps = tuple(replace(step, start_wall_ns=DATE_NS + step.start_ns) for step in sequence.steps)
    return replace(sequence, steps=steps)
