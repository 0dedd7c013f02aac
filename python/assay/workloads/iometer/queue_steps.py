"""Stages that differ in their outstanding I/Os only, found again as one run that Iometer cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.workloads.iometer.cycling import cycling_steps
from assay.workloads.iometer.model import QueueCycling, Setup, StepKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.spec.workload import Stage, Stream


def queue_steps(stages: Sequence[Stage]) -> tuple[Sequence[Stage], QueueCycling | None]:
    """The first stage of each cycle, and how its outstanding I/Os go on; the stages as they are where none do.

    Every cycle must have the same steps. Worked: stages A with 1, 2, 4 and B with 1, 2, 4 outstanding I/Os -> A and B
    with 1, 4, 2, EXPONENTIAL.
    """
    depths = [_depth(stage) for stage in stages]
    count = _first_cycle(stages)
    first = [depth for depth in depths[:count] if depth is not None]
    cycling = _cycling(first) if len(first) == count > 1 else None
    if cycling is None or len(stages) % count:
        return stages, None
    for begin in range(0, len(stages), count):
        cycle = stages[begin : begin + count]
        if depths[begin : begin + count] != first or any(_asked(one) != _asked(cycle[0]) for one in cycle):
            return stages, None
    return [_renamed(stage) for stage in stages[::count]], cycling


def _first_cycle(stages: Sequence[Stage]) -> int:
    """How many stages ask for the same as the first but for their depth, of which each has another."""
    count = 1
    while count < len(stages) and _asked(stages[count]) == _asked(stages[0]) and stages[count] != stages[0]:
        if _depth(stages[count]) == _depth(stages[0]):
            break
        count += 1
    return count


def _depth(stage: Stage) -> int | None:
    """The depth that all streams have."""
    depths = {stream.queue_depth for stream in stage.streams}
    return depths.pop() if len(depths) == 1 else None


def _asked(stage: Stage) -> list[Stream]:
    return [stream.model_copy(update={"queue_depth": 1}) for stream in stage.streams]


def _cycling(depths: Sequence[int]) -> QueueCycling | None:
    """Steps that give these depths and no others."""
    first, second = depths[:2]
    tried: list[tuple[int, StepKind]] = []
    if second % first == 0:
        tried.append((second // first, "EXPONENTIAL"))
    if second > first:
        tried.append((second - first, "LINEAR"))
    for step, kind in tried:
        result = QueueCycling(start=first, end=depths[-1], step=step, kind=kind)
        setup = Setup(test_type="CYCLE_OUTSTANDING_IOS", queue_cycling=result)
        if depths[-1] > first and [cycling_step.queue_depth for cycling_step in cycling_steps(setup, 1)] == list(
            depths
        ):
            return result
    return None


def _renamed(stage: Stage) -> Stage:
    return stage.model_copy(update={"name": stage.name.partition(", queue depth ")[0] or stage.name})
