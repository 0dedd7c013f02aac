"""The ratio of every cell of a test loop to the first drive, as a map whose neutral colour is no difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.compare.summary import matrix_numbers
from assay.spec.units import KIB, kib_label
from assay.summary.pages.heat_figures import matrix_heat
from assay.words.digits import brief
from assay.words.printed import mix_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.comparison import Compared, Comparison
    from assay.summary.pages.model import Figure

_REACH_LEAST = 1.25
"""Of the scale, so that a difference of 1 % looks small."""
_CELLS_MIN = 2
"""Sizes and mixes at least: fewer are no plane."""


def ratio_maps(comparison: Comparison, test: str) -> Iterator[Figure]:
    """A map per subject but the first; none of a test without a plane of cells.

    Worked: 20,000 IOPS of B where A has 10,000 -> a field of ``2``, in the colour of more than A's.
    """
    numbers = matrix_numbers(comparison).get(test, [])
    sizes = sorted({_place(number)[0] for number in numbers})
    mixes = sorted({_place(number)[1] for number in numbers})
    if min(len(sizes), len(mixes)) < _CELLS_MIN:
        return
    cells = {_place(number): number for number in numbers}
    reach = _reach(numbers)
    first = comparison.subjects[0]
    for index, subject in enumerate(comparison.subjects[1:], 1):
        rows = [[_ratio(cells.get((size, mix)), index) for size in sizes] for mix in mixes]
        figure = matrix_heat(
            f"compare-{test}-ratio-{subject.letter.lower()}",
            rows,
            [["" if one is None else brief(one) for one in row] for row in rows],
            columns=[kib_label(round(size * KIB)) for size in sizes],
            rows=[mix_label(mix) for mix in mixes],
            titles=("Block Size (KiB)", "R/W Mix", _title(numbers, subject.letter, first.letter)),
        )
        if figure and figure.heat:
            yield replace(figure, heat=replace(figure.heat, reach=reach))


def _reach(numbers: Sequence[Compared]) -> float:
    """How far from 1 the scale of all maps goes. Worked: ratios from 0.2 to 4 -> 5."""
    ratios = [entry.ratio for number in numbers for entry in number.entries if entry.ratio]
    return max([_REACH_LEAST, *ratios, *(1 / ratio for ratio in ratios)])


def _title(numbers: Sequence[Compared], other: str, first: str) -> str:
    """What the fields are. Worked: ``IOPS, B over A``."""
    name = numbers[0].name
    what = "Mean response time" if name.unit == "ms" else name.unit
    return f"{what}, {other} over {first}"


def _place(number: Compared) -> tuple[float, int]:
    cell = dict(number.name.cell)
    return float(cell["block_kib"]), int(cell["read_pct"])


def _ratio(number: Compared | None, index: int) -> float | None:
    return number.entries[index].ratio if number else None
