"""Texts side by side that would touch, moved aside as little as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def spread_out(wanted: Sequence[float], widths: Sequence[float], gap: float, ends: tuple[float, float]) -> list[float]:
    """The middles of texts of some widths, each as near as can be to where it is wanted, none touching another.

    ends : of the room for all; they begin at the first even where they do not fit.
    Worked: two texts of width 10 that are wanted at 50, with a gap of 2 -> 44 and 56.
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    offsets, offset = list[float](), 0.0
    for place in order:
        offsets.append(offset + widths[place] / 2)
        offset += widths[place] + gap
    result = _rising([wanted[place] - own for place, own in zip(order, offsets, strict=True)])
    last = ends[1] - offset + gap
    placed = [0.0] * len(wanted)
    for place, own, start in zip(order, offsets, result, strict=True):
        placed[place] = max(min(start, last), ends[0]) + own
    return placed


def _rising(values: Sequence[float]) -> list[float]:
    """The nearest values that never fall: what falls is pooled. Worked: 3, 1, 5 -> 2, 2, 5."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (second, more), (first, count) = pools.pop(), pools.pop()
            pools.append(((first * count + second * more) / (count + more), count + more))
    return [value for value, count in pools for _ in range(count)]
