"""Stalls: times in which a drive completed nothing of what was outstanding, and what they make void."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.records import Phase, StepRecord, StoredProgram, StoredTest, TestSettings

STALL_NS = SECOND_NS
"""A silence of this length is marked as a stall; from the test's stall limit on it makes a measurement void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """One step in which the drive was silent. void : what it belongs to enters no verdict and no result."""

    phase: Phase
    index: int
    label: str
    span_ns: int
    void: bool


def stalled_steps(steps: Sequence[StepRecord]) -> list[StepRecord]:
    """The steps with a silence of a second or more. Worked: silences of 0.9 and 1.1 s -> the second step."""
    return [step for step in steps if (step.stall_ns_max or 0) >= STALL_NS]


def is_void(step: StepRecord, settings: TestSettings) -> bool:
    """Whether the drive was silent in a step for longer than the test allows.

    Worked: 5.0 s of silence at a limit of 2 s -> void; at a limit of 0, which means that nobody judges, never.
    """
    return 0 < settings.stall_limit_ns < (step.stall_ns_max or 0)


def void_reason(steps: Sequence[StepRecord], settings: TestSettings) -> str | None:
    """Why what these steps measured is void, None where it is not.

    Worked: a round whose third cell had 5.04 s of silence -> ``"no I/O completed for 5.0 s in RND 4KiB 0/100"``.
    """
    found = [step for step in steps if is_void(step, settings)]
    if not found:
        return None
    worst = max(found, key=lambda step: step.stall_ns_max or 0)
    return f"no I/O completed for {(worst.stall_ns_max or 0) / SECOND_NS:.1f} s in {worst.label}"


def stalls(test: StoredTest) -> tuple[Stall, ...]:
    """Every step of a stored test in which the drive was silent, in the order they ran."""
    return tuple(
        Stall(
            phase=program.phase,
            index=program.index,
            label=step.label,
            span_ns=step.stall_ns_max or 0,
            void=program.phase != "precondition" and is_void(step, test.settings),
        )
        for program in test.programs
        for step in stalled_steps(program.steps)
    )


def kept_histograms(test: StoredTest) -> tuple[StoredProgram, ...]:
    """The histogram programs that are not void: one at the most, since it is run again only until it is not."""
    return tuple(program for program in test.phase("histogram") if void_reason(program.steps, test.settings) is None)
