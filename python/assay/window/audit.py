"""What was issued against what the drive's own counters say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.window.disturbed import program_host
from assay.window.step import issued_bytes

if TYPE_CHECKING:
    from assay.records import StepRecord, StoredProgram, StoredTest
    from assay.window.disturbed import HostFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramAudit:
    """What a program issued against what the drive's own counters say, over the whole program with its tail.

    name : ``preconditioning``, ``round n``, ``samples n`` or ``histogram``.
    read_bytes, write_bytes : issued and counted; counted is None where
    the drive has no counters. gap_ns : time without any I/O before the program, None for the first.
    host : what the test system did meanwhile.
    """

    name: str
    read_bytes: tuple[int, int | None]
    write_bytes: tuple[int, int | None]
    gap_ns: int | None
    host: HostFinding


def program_audits(test: StoredTest) -> tuple[ProgramAudit, ...]:
    """Hold every program of a test against the drive's counters, in the order they ran.

    Worked: a round of 10 MB written whose counters moved by 10 MB -> ``write_bytes`` is (10000000, 10000000).
    """
    programs = [program for program in test.programs if program.steps]
    befores = [None, *(program.steps[-1] for program in programs)]
    return tuple(_program_audit(program, before) for program, before in zip(programs, befores, strict=False))


def _program_audit(program: StoredProgram, before: StepRecord | None) -> ProgramAudit:
    steps = program.steps
    first, last = steps[0].counters_before, steps[-1].counters_after
    begun, ended = steps[0].first_submission_ns, before.last_submission_ns if before else None
    return ProgramAudit(
        name=program.name,
        read_bytes=(
            sum(issued_bytes(step.read) for step in steps),
            last.read_bytes - first.read_bytes if first and last else None,
        ),
        write_bytes=(
            sum(issued_bytes(step.write) for step in steps),
            last.write_bytes - first.write_bytes if first and last else None,
        ),
        gap_ns=None if begun is None or ended is None else begun - ended,
        host=program_host(program),
    )
