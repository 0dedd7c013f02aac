"""Drivers of rounds. Today one: until steady, at most to the round limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.records import Round
from assay.window import is_complete, measurement_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.records import LoopSettings, MeasurementWindow, StepRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRound:
    """A round that ran, and the verdict over the five that end with it (None before the fifth).

    complete : every cell ran to its stop rule and no I/O failed.
    """

    round: Round
    window: MeasurementWindow | None
    complete: bool


def until_steady(settings: LoopSettings, run_round: Callable[[int], list[StepRecord]]) -> Iterator[JudgedRound]:
    """Run rounds until all tracking cells are steady at once, or the round limit is reached.

    run_round : runs the cells of round ``index`` (from 1) and returns what they did, durably stored.
    Yields each round with its verdict. Stops after the first steady one, after the limit, or after one that is
    not complete.
    Source: PTS-E 1.1 IOPS pseudo code step 3; at most 25 rounds.
    """
    done: list[Round] = []
    for index in range(1, settings.round_limit + 1):
        cells = run_round(index)
        round_ = Round(index=index, cells=tuple(cells))
        complete = is_complete(cells, settings)
        done.append(round_)
        window = measurement_window(done, settings) if complete else None
        yield JudgedRound(round=round_, window=window, complete=complete)
        if not complete or (window and window.reached):
            return
