"""How far the rounds of the measurement window lie apart in each cell; steady state judges the tracking cells only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from assay.words.printed import mix_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.engine.records import Cell
    from assay.procedures.families.loop.settings import LoopSettings
    from assay.procedures.families.loop.values import LoopResult

_SEVERAL = 3
_ODD_SHARE = 0.25
MOVED_SHARE = 0.2
"""A cell that is not tracked is marked where greatest less least is more than this share of its average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One cell over the five rounds of the window, in the test's own variable.

    least, greatest : of the rounds. variation : sample standard deviation over the mean, a share.
    apart : greatest less least over the mean. moved : the cell is not tracked, and that is more than 20 %.
    odd : the round that alone is off, where the four others lie within a quarter of that; others : their mean.
    last : that is the last round, behind which none tells whether it stays so.
    """

    least: float
    greatest: float
    variation: float
    apart: float
    moved: bool
    odd: int | None = None
    others: float | None = None
    last: bool = False

    def off(self, before: str = "") -> str:
        """The round that alone is off, in words. before : the preconditioning that the first round follows, if any.

        Worked: the fifth of five -> ``"round 5, the last, alone is off"``.
        """
        place = ", the last," if self.last else ""
        if before and self.odd == 1:
            place = f", the first after preconditioning by {before},"
        return f"round {self.odd}{place} alone is off"


def cell_spreads(result: LoopResult, settings: LoopSettings) -> dict[Cell, Spread]:
    """The spread of every cell that has an average; empty where nothing may be printed.

    Worked: rounds of 279, 162, 159, 158 and 158 IOPS -> 158 to 279, variation 0.292, moved; of the first round alone,
    as the others lie within 158 to 162, 159.25 on average.
    """
    return {
        cell: _spread(result.window_values(cell), result.rounds, tracked=cell in settings.tracking)
        for cell in settings.cells
        if cell in result.matrix
    }


def moved_where(spreads: Mapping[Cell, Spread]) -> str:
    """The mix at which most of several cells moved; empty where no mix has more than half of them.

    Worked: six cells of 65/35 and one of 95/5 -> ``"6 of 7 at 65/35"``.
    """
    result = Counter(cell.read_pct for cell, one in spreads.items() if one.moved)
    if result.total() < _SEVERAL:
        return ""
    ((read_pct, count),) = result.most_common(1)
    return f"{count} of {result.total()} at {mix_label(read_pct)}" if 2 * count > result.total() else ""


def moved_when(spreads: Mapping[Cell, Spread], before: str = "") -> str:
    """The round that alone is off in most of several cells that moved; empty where none is in more than half of them.

    before : the preconditioning that the first round follows, if any. Worked: six of seven cells in round 1, behind
    ``SEQ 128KiB W`` -> ``"round 1, the first after preconditioning by SEQ 128KiB W, alone is off in 6 of 7"``.
    """
    moved = [spread for spread in spreads.values() if spread.moved]
    result = Counter(one.odd for one in moved if one.odd is not None)
    if not result:
        return ""
    ((number, count),) = result.most_common(1)
    if 2 * count <= len(moved):
        return ""
    off = next(one for one in moved if one.odd == number).off(before)
    return f"{off} in {count} of {len(moved)}"


def moved_places(
    spreads: Mapping[Cell, Spread], sizes: Sequence[int], mixes: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """The places of the cells that moved among sizes and mixes, from 0.

    Worked: of sizes 4 and 8 KiB and mixes 0 and 100, the reads of 8 KiB -> ``((1, 1),)``.
    """
    moved = [cell for cell, one in spreads.items() if one.moved]
    return tuple((sizes.index(cell.transfer_bytes), mixes.index(cell.read_pct)) for cell in moved)


def _odd(values: tuple[float, ...], rounds: Sequence[int]) -> tuple[int, float] | tuple[None, None]:
    """The round that alone is off, and the mean of the others."""
    least, *_, greatest = sorted(values)
    for odd in (least, greatest):
        place = values.index(odd)
        others = values[:place] + values[place + 1 :]
        if max(others) - min(others) <= _ODD_SHARE * (greatest - least):
            return rounds[-len(values) :][place], fmean(others)
    return None, None


def _spread(values: tuple[float, ...], rounds: Sequence[int], *, tracked: bool) -> Spread:
    mean, least, greatest = fmean(values), min(values), max(values)
    moved = not tracked and greatest - least > MOVED_SHARE * mean
    odd, others = _odd(values, rounds) if moved else (None, None)
    return Spread(
        least=least,
        greatest=greatest,
        variation=stdev(values) / mean,
        apart=(greatest - least) / mean,
        moved=moved,
        odd=odd,
        others=others,
        last=odd == rounds[-1],
    )
