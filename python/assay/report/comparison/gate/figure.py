"""The figure of a gate: a bar for each number that is gated, with its limit and uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.compare.gate import gated_label
from assay.report.comparison.tables import VERDICT_LEVELS
from assay.summary.pages.changes import Change
from assay.summary.pages.model import Figure, Series

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.gate import Gated, GateResult, Verdict

ROWS_MAX = 16
"""Bars of one figure; more follow in another."""
_WORDS: dict[Verdict, str] = {"pass": "passed", "fail": "FAILED", "undecided": "cannot decide"}
_READING = (
    "Left of 0 is worse than the baseline. Dashed: the limit. Whiskers: the uncertainty. A number fails where its bar "
    "is longer than its limit and its whiskers do not reach 0."
)


def gate_figures(gate_result: GateResult) -> Iterator[Figure]:
    """All gated numbers in their order; none where nothing is gated."""
    several = len(gate_result.subjects) > 1
    for begin in range(0, len(gate_result.gated), ROWS_MAX):
        part = gate_result.gated[begin : begin + ROWS_MAX]
        yield Figure(
            name=f"gate-changes-{begin + 1}",
            kind="changes",
            alt=f"Change of {len(part)} numbers against the baseline, with limits and uncertainties",
            x_title="Change",
            y_title="",
            series=(Series.through(_points(part), "Change", 0, "markers"),),
            changes=tuple(_change(one, several=several) for one in part),
            reading=_READING,
        )


def _points(part: Sequence[Gated]) -> list[tuple[float, float]]:
    """The changes, up the rows from the last one."""
    return [(-one.worse, float(len(part) - index)) for index, one in enumerate(part) if one.worse is not None]


def _change(gated: Gated, *, several: bool) -> Change:
    letter = f"{gated.side.subject.letter}: " if several else ""
    return Change(
        label=f"{letter}{gated_label(gated)}",
        by=None if gated.worse is None else -gated.worse,
        reach=gated.reach,
        limit=gated.limit,
        level=VERDICT_LEVELS[gated.verdict],
        words=_WORDS[gated.verdict],
    )
