"""Bars of changes: to the right what is better, to the left what is worse, with limit and uncertainty.

```
                           -5 %    0    5 %
  IOPS, RND 4KiB R (IOPS)     |  |-##           -2.1 %  passed
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.report.drawing.frame import Axis, address, number_ticks, rows_axis, spaced
from assay.report.drawing.theme import group, length, path, rect, text, text_width
from assay.summary.pages.model import Tick

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.drawing.theme import Size
    from assay.summary.pages.model import Change

_ROW, _STACKED_ROW, _HEAD, _END, _BAR, _PLOT_LEAST = 1.9, 3.2, 1.9, 0.6, 0.8, 14.0
"""In letters: heights of a row, of one with its label above its bar, of what is above and below all rows, and of a bar;
width of the axis at least."""
_LEAST, _MOST, _MARGIN = 0.02, 0.5, 1.2
"""Shares that the axis reaches at least and at most either side, and what it has beyond the last bar."""
_TICKS_MAX = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Where everything stands. left : where labels beside the bars end. stacked : they stand above them."""

    axis: Axis
    letters: float
    row: float
    left: float
    stacked: bool

    def middle(self, place: int) -> float:
        """Where the bar of a row is."""
        return _HEAD * self.letters + (place + (0.68 if self.stacked else 0.5)) * self.row

    def address(self, count: int) -> str:
        """Where the axes are, for the script of a page."""
        half = self.row / 2
        return address(self.axis, rows_axis(count, self.middle(0) - half, self.middle(count - 1) + half))


def changes_height(changes: Sequence[Change], size: Size) -> float:
    """How high a picture of its width has to be."""
    row = _STACKED_ROW if _is_stacked(changes, size) else _ROW
    return (len(changes) * row + _HEAD + _END) * size.letters


def changes_picture(changes: Sequence[Change], size: Size) -> tuple[str, list[str]]:
    """Where the axes are, and the parts of the picture."""
    stacked, letters = _is_stacked(changes, size), size.letters
    left = 0.0 if stacked else _labels(changes, letters)
    # How far to the left and to the right something of each row is.
    lows = (max(change.limit, (change.reach or 0.0) - (change.by or 0.0)) for change in changes)
    highs = ((change.by or 0.0) + (change.reach or 0.0) for change in changes)
    low, high = (min(max(_LEAST, *ends) * _MARGIN, _MOST) for ends in (lows, highs))
    end = size.width - _words(changes, letters)
    axis = Axis(low=-low, high=high, log=False, start=left + letters, end=end)
    row = (size.height - (_HEAD + _END) * letters) / max(len(changes), 1)
    plan = _Plan(axis=axis, letters=letters, row=row, left=left, stacked=stacked)
    rows = (part for index, change in enumerate(changes) for part in _row(plan, index, change))
    return plan.address(len(changes)), [*_grid(plan, len(changes)), *rows]


def _labels(changes: Sequence[Change], letters: float) -> float:
    return max((text_width(change.label, letters) for change in changes), default=0)


def _words(changes: Sequence[Change], letters: float) -> float:
    return max((text_width(_verdict(change), letters * 1.05) for change in changes), default=0) + letters


def _is_stacked(changes: Sequence[Change], size: Size) -> bool:
    """Whether labels stand above the bars, for want of room."""
    taken = _labels(changes, size.letters) + _words(changes, size.letters)
    return size.width - taken < _PLOT_LEAST * size.letters


def _verdict(change: Change) -> str:
    """What stands behind a bar. Worked: ``-2.1 %  passed``."""
    return change.words if change.by is None else f"{change.by * 100:+z.1f} %  {change.words}"


def _grid(plan: _Plan, count: int) -> Iterator[str]:
    letters, axis = plan.letters, plan.axis
    top, end = _HEAD * letters, _HEAD * letters + count * plan.row
    percent = Axis(low=axis.low * 100, high=axis.high * 100, log=False, start=axis.start, end=axis.end)
    named = [Tick(at=tick.at / 100, label=f"{tick.label} %") for tick in number_ticks(percent, _TICKS_MAX)]
    ticks = spaced(named, axis, lambda label: text_width(label, letters), letters)
    yield path("".join(f"M{length(axis.at(tick.at))} {length(top)}V{length(end)}" for tick in ticks), "g")
    yield path(f"M{length(axis.at(0))} {length(top)}V{length(end)}", "a")
    for tick in ticks:
        yield text((axis.at(tick.at), letters * 1.1), tick.label, anchor="middle", kind="t soft")


def _row(plan: _Plan, index: int, change: Change) -> Iterator[str]:
    letters, axis = plan.letters, plan.axis
    y = plan.middle(index)
    if plan.stacked:
        yield text((0, y - letters * 0.9), change.label)
    else:
        yield text((plan.left, y + letters * 0.35), change.label, anchor="end")
    words = text((axis.end + letters, y + letters * 0.35), _verdict(change), kind="d", bold=True)
    yield group([*_bar(plan, change, y), words], f"v-{change.level}")
    at = axis.at(_within(axis, -change.limit))
    yield path(f"M{length(at)} {length(y - letters * 0.7)}v{length(letters * 1.4)}", "a", dash="3 2", width=1.5)


def _bar(plan: _Plan, change: Change, y: float) -> Iterator[str]:
    """From zero to the change, and the ends of its uncertainty."""
    if change.by is None:
        return
    axis, half = plan.axis, plan.letters * _BAR / 2
    ends = sorted((axis.at(0), axis.at(_within(axis, change.by))))
    yield rect(ends[0], y - half, max(ends[1] - ends[0], 1), 2 * half, "f")
    if change.reach is not None:
        places = [length(axis.at(_within(axis, change.by + side * change.reach))) for side in (-1, 1)]
        caps = "".join(f"M{x} {length(y - half / 2)}v{length(half)}" for x in places)
        yield path(f"M{places[0]} {length(y)}H{places[1]}{caps}", "l", width=1.6)


def _within(axis: Axis, share: float) -> float:
    return min(max(share, axis.low), axis.high)
