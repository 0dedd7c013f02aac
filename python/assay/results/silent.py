"""Whether a step that a verdict asks for was too short for the drive to complete a single I/O in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.results.stall import void_reason
from assay.results.step import latency_count, ran_whole, rate_count
from assay.spec.units import duration_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.engine.records import StepRecord, TestSettings


class Tracked(NamedTuple):
    """A step of a tracking variable. late : I/Os that complete behind its window count, as they do for latency."""

    label: str
    step: StepRecord
    late: bool = False


def silent_cell(tracked: Iterable[Tracked]) -> Tracked | None:
    """The first tracked step in which no I/O completed, None where each has a value.

    Worked: a cell of 50 ms on a drive that completes an I/O per second -> that cell.
    """
    return next((one for one in tracked if not (latency_count if one.late else rate_count)(one.step)), None)


def is_whole_round(
    steps: Sequence[StepRecord], settings: TestSettings, *, count: int, tracked: Iterable[Tracked]
) -> bool:
    """Whether a round may enter a verdict. count : steps of a round. tracked : those that steady state is decided by.

    Every step ran to its end, no I/O failed, nothing is void, and each tracked step has a completion.
    """
    whole = len(steps) == count and all(map(ran_whole, steps))
    return whole and void_reason(steps, settings) is None and silent_cell(tracked) is None


def no_completions_reason(silent: Tracked) -> str:
    """Why a test ended for want of a completion.

    Worked: ``"no I/O of RND 4KiB 0/100 completed within a step of 0.05 s, which is too short for this drive and
    demand"``.
    """
    span = duration_label(silent.step.span_ns)
    return f"no I/O of {silent.label} completed within a step of {span}, which is too short for this drive and demand"
