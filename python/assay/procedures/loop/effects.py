"""What stands out of the numbers of a test loop: reads against writes, blocks, uneven response times."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.pages.effect import Effect
from assay.pages.printed import milliseconds_text, one_decimal, outstanding_label, size_label
from assay.procedures.loop.result import cell_times
from assay.procedures.loop.settings import LoopSettings
from assay.spec.units import KIB, MB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.loop.values import LoopResult

QUOTED_BYTES = 4 * KIB
_SIDES = {100: "reads", 0: "writes"}
_LEVEL, _SAME = 1.25, 1.05
"""Throughput that differs by no more over block sizes is level, or the same."""


def loop_effects(test: StoredTest, result: LoopResult) -> Iterator[Effect]:
    """What stands out of a matrix; none where it has no window.

    Worked: 4 KiB reads at 30,000 IOPS, writes at 3,000 -> ten times, ``"RND 4KiB reads give 10.0 times the IOPS of
    writes"``.
    """
    if not result.matrix:
        return
    if test.settings_as(LoopSettings).variable == "iops":
        yield from _sides(result)
        for read_pct in _SIDES:
            yield from _level_throughput(test, result, read_pct)
    for read_pct, name in _SIDES.items():
        if (found := slow_tenth(test, result, read_pct)) is not None:
            half, slow = found
            told = f"one RND 4KiB {name[:-1]} in ten takes at least {floor(slow / half):,} times the median"
            times = f"(90 % {milliseconds_text(slow)} ms, 50 % {milliseconds_text(half)} ms"
            yield Effect(
                kind=f"uneven {name}",
                times=slow / half,
                text=f"{told} {times}, {outstanding_label(test.settings.demand)})",
            )


def slow_tenth(test: StoredTest, result: LoopResult, read_pct: int) -> tuple[float, float] | None:
    """In how many milliseconds half of the 4 KiB reads or writes end, and nine in ten; None where that is not known."""
    cell = Cell(read_pct=read_pct, transfer_bytes=QUOTED_BYTES)
    times = cell_times(test, result, cell) if cell in result.matrix else None
    half, slow = (times.percentile(share) if times else None for share in (0.5, 0.9))
    return (half, slow) if half and slow else None


def _sides(result: LoopResult) -> Iterator[Effect]:
    read, write = (result.matrix.get(Cell(read_pct=share, transfer_bytes=QUOTED_BYTES)) for share in (100, 0))
    if read and write:
        text = f"RND 4KiB reads give {read / write:.1f} times the IOPS of writes"
        yield Effect(kind="sides", times=read / write, text=text)


def _level_throughput(test: StoredTest, result: LoopResult, read_pct: int) -> Iterator[Effect]:
    """That larger blocks move no more, from 4 KiB to the largest."""
    sizes = sorted(size for size in test.settings_as(LoopSettings).sizes_bytes if size >= QUOTED_BYTES)
    found = [result.matrix.get(Cell(read_pct=read_pct, transfer_bytes=size)) for size in sizes]
    rates = [rate * size / MB for rate, size in zip(found, sizes, strict=True) if rate]
    if len(rates) < 2 or len(rates) < len(sizes) or max(rates) > min(rates) * _LEVEL:  # noqa: PLR2004 - two to compare
        return
    moved = f"move {one_decimal(min(rates))} to {one_decimal(max(rates))} MB/s"
    span = f"{size_label(sizes[0])} to {size_label(sizes[-1])}"
    little = "nothing" if max(rates) < min(rates) * _SAME else "little"
    text = f"random {_SIDES[read_pct]} {moved} at any block size from {span}: larger blocks bring {little}"
    yield Effect(
        kind=f"level {read_pct}", times=sizes[-1] / sizes[0] / (rates[-1] / rates[0]), text=text, expected=True
    )
