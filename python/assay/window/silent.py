"""Whether a step that a verdict asks for was too short for the drive to complete a single I/O in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.records import DemandSettings, IdleRecoverySettings, LoopSettings, SaturationSettings
from assay.units import duration_label
from assay.window.step import cell_label, latency_count, rate_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.records import AnySettings, StepRecord, StoredTest

NO_COMPLETIONS = "no-completions"
"""How a test ends in which a tracking variable would be zero for want of a completion: zeros are no value."""


def silent_cell(steps: Sequence[StepRecord], settings: AnySettings) -> str | None:
    """The first tracking cell of a whole round in which no I/O completed, None where each has a value.

    steps : of a round, or one sample that enters the five-point rule.
    Worked: a cell of 50 ms on a drive that completes an I/O per second -> ``"RND 4KiB 0/100"``.
    """
    return next((label for label, step, late in _tracked(steps, settings) if not _count(step, late=late)), None)


def no_completions_reason(test: StoredTest) -> str:
    """Why a test ended for want of a completion, from its last round or sample.

    Worked: ``"no I/O of RND 4KiB 0/100 completed within a step of 0.05 s, which is too short for this drive and
    demand"``.
    """
    programs = [*test.stage("round"), *test.stage("sample")]
    last = max(programs, key=lambda one: one.steps[0].start_ns, default=None) if programs else None
    settings = test.settings
    if last and last.stage == "sample" and isinstance(settings, IdleRecoverySettings | DemandSettings):
        settings = settings.preconditioning
    steps = () if last is None else last.steps if last.stage == "round" else last.steps[-1:]
    found = [(label, step) for label, step, late in _tracked(steps, settings) if not _count(step, late=late)]
    if not found:
        return "no I/O of a tracking variable completed within its step"
    label, step = found[0]
    span = duration_label(step.span_ns)
    return f"no I/O of {label} completed within a step of {span}, which is too short for this drive and demand"


def _tracked(steps: Sequence[StepRecord], settings: AnySettings) -> Iterator[tuple[str, StepRecord, bool]]:
    """Label and step of each tracking cell, and whether I/Os that complete behind the step count, as for latency."""
    match settings:
        case LoopSettings() if len(steps) == len(settings.cells):
            placed = dict(zip(settings.cells, steps, strict=True))
            late = settings.variable == "latency"
            yield from ((cell_label(cell, settings.access), placed[cell], late) for cell in settings.tracking)
        case DemandSettings() if len(steps) == settings.pre_write_samples + len(settings.grid):
            one = settings.tracking
            label = f"{settings.label} TC{one.thread_count}-QD{one.queue_depth}"
            yield label, steps[settings.pre_write_samples + settings.grid.index(one)], False
        case SaturationSettings():
            yield from ((settings.label, step, False) for step in steps[-1:])


def _count(step: StepRecord, *, late: bool) -> int:
    return latency_count(step) if late else rate_count(step)
