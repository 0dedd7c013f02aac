"""What programs of a test are called on paper, the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.records import Phase, StoredProgram

_NAMES: dict[Phase, str] = {
    "precondition": "preconditioning",
    "round": "round",
    "sample": "samples",
    "histogram": "histogram",
    "segment": "wait state",
    "group": "access group",
    "variant": "variant",
    "pre-write": "pre-writes",
    "point": "operating point",
}


def program_name(program: StoredProgram) -> str:
    """What a program is called on paper. Worked: ``round 3``, ``preconditioning``, ``wait state 2``."""
    return phase_name(program.phase, program.index)


def phase_name(phase: Phase, index: int) -> str:
    """The same of a phase and its index; 0 stands for a phase that has one program only."""
    return f"{_NAMES[phase]} {index or ''}".strip()
