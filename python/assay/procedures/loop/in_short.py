"""What a test loop says of the drive, in sentences for the first page: reads beside writes, mixes, sizes, tails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.pages.printed import (
    milliseconds_text,
    mix_label,
    one_decimal,
    outstanding,
    outstanding_label,
    percent,
    rounds_label,
    size_label,
)
from assay.procedures.loop.effects import QUOTED_BYTES, slow_tenth
from assay.procedures.loop.result import UNITS, window_times
from assay.procedures.loop.settings import LoopSettings
from assay.procedures.loop.spread import cell_spreads
from assay.procedures.loop.values import headline_window
from assay.procedures.loop.variable import shown
from assay.results import cell_label
from assay.spec.units import MB, MILLISECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.engine.records import StoredTest
    from assay.procedures.loop.spread import Spread
    from assay.procedures.loop.values import LoopResult

_MIXED_PCT = 65
_MOST = 0.999
_TAILS = (0.9999, _MOST)
"""Of these the first that is known: ten I/Os have to lie beyond it."""
_NEAR_SHARE = 0.1
"""A round before the window so near to its average says nothing of its own."""
_ABOVE = 1.002
"""An average so far above a percentile is above it, whatever the width of its bucket (0.1 %)."""
_LONG_MS = 100
"""From here on the response times of a throughput test are told."""
_FULL = 0.995
"""An average so near to the time of a full queue is that time: the limit of the check of Little's law."""
_EVEN = 1.05
"""A tail so near to the average is none."""
_UNEVEN = 10
_FAR = 2
"""From so many times the last known percentile on the maximum is told."""
_LONGER = 1.1
"""A transfer below 4 KiB that takes so many times as long as one of 4 KiB is slower, not the same."""
_LEVEL = 0.001
_SAME = 0.98
"""IOPS or throughput so near to the greatest are the same."""
_NEARLY = 0.95
"""Share of the greatest throughput from which a larger transfer brings little."""


def loop_in_short(test: StoredTest, result: LoopResult) -> Iterator[str]:
    """Sentences on the matrix of a test loop; none where it has no window.

    Worked: 4 KiB reads at 30,000 IOPS, writes at 3,000 -> ``"RND 4KiB: reads give 10.0 times the IOPS of writes."``
    """
    if result.matrix:
        settings = test.settings_as(LoopSettings)
        said, before = tuple(_SENTENCES[settings.variable](test, result)), tuple(_before_window(settings, result))
        # Of throughput the ratio of writes to reads is in its two numbers.
        yield from (*before, *said[::-1]) if settings.variable == "throughput" else (*said, *before)


def _before_window(settings: LoopSettings, result: LoopResult) -> Iterator[str]:
    """How far the rounds before the window lay from it, of each tracked cell in which one did by more than a tenth."""
    window = headline_window(result)
    if window is None or window.rounds[0] == result.rounds[0]:
        return
    text, unit = shown(settings).text, UNITS[settings.variable]
    count = result.rounds.index(window.rounds[0])
    for cell in settings.tracking:
        before, mean = result.by_round[cell][:count], result.matrix.get(cell)
        if mean and any(abs(value / mean - 1) > _NEAR_SHARE for value in before):
            yield (
                f"Before the window, in rounds {rounds_label(result.rounds[:count])}, "
                f"{cell_label(cell, settings.access)} had {text(min(before))} to {text(max(before))} {unit}, "
                f"{min(before) / mean * 100:.0f} to {max(before) / mean * 100:.0f} % of its average in it."
            )


def _iops(test: StoredTest, result: LoopResult) -> Iterator[str]:
    read, write, mixed = (
        result.matrix.get(Cell(read_pct=share, transfer_bytes=QUOTED_BYTES)) for share in (100, 0, _MIXED_PCT)
    )
    yield from _uneven(test, result)
    if read and write:
        yield f"RND 4KiB: reads give {read / write:.1f} times the IOPS of writes."
    if read and write and mixed:
        cell = Cell(read_pct=_MIXED_PCT, transfer_bytes=QUOTED_BYTES)
        yield _mixed(mixed, in_turn(read, write), cell_spreads(result, test.settings_as(LoopSettings))[cell])
    yield from _mix_above(test, result)
    for share, name in ((100, "Reads"), (0, "Writes")):
        yield from _enough(test, result.matrix, share, name)


def _uneven(test: StoredTest, result: LoopResult) -> Iterator[str]:
    """That one 4 KiB write in ten waits many times as long as half of them, where it does."""
    half, slow = slow_tenth(test, result, 0) or (0.0, 0.0)
    if half and slow >= _UNEVEN * half:
        outstanding = outstanding_label(test.settings.demand)
        yield (
            f"RND 4KiB writes, {outstanding}: half end within {milliseconds_text(half)} ms, one in ten takes longer "
            f"than {milliseconds_text(slow)} ms."
        )


def _mix_above(test: StoredTest, result: LoopResult) -> Iterator[str]:
    """The mix of 4 KiB accesses that has more IOPS than reads and writes alone in each of its rounds, where one has.

    Worked: 34,187 IOPS of 95/5, 33,333 of reads, 3,214 of writes -> ``"RND 4KiB 95/5: 34,187.0 IOPS, +2.6 % against the
    33,333.0 of 100/0, and each of its rounds above all of those."``
    """
    spreads = cell_spreads(result, test.settings_as(LoopSettings))
    found = {cell: one for cell, one in spreads.items() if cell.transfer_bytes == QUOTED_BYTES}
    pure = [cell for cell in found if cell.read_pct in {0, 100}]
    mixes = [cell for cell in found if cell not in pure]
    if not pure or not mixes:
        return
    best, most = (max(cells, key=lambda cell: result.matrix[cell]) for cells in (pure, mixes))
    if found[most].least > found[best].greatest:
        high, low = result.matrix[most], result.matrix[best]
        yield (
            f"RND 4KiB {mix_label(most.read_pct)}: {one_decimal(high)} IOPS, {(high / low - 1) * 100:+.1f} % against "
            f"the {one_decimal(low)} of {mix_label(best.read_pct)}, and each of its rounds above all of those."
        )


def _mixed(found: float, alone: float, spread: Spread) -> str:
    """How a mix compares with what it would give if reads and writes did not change each other's time."""
    change = (found / alone - 1) * 100
    moved = ": it moved" if spread.moved else ""
    rounds = f"({one_decimal(spread.least)} to {one_decimal(spread.greatest)} in the rounds{moved})"
    return (
        f"RND 4KiB 65/35: {one_decimal(found)} IOPS {rounds}, {change:+.0f} % against the {one_decimal(alone)} that it "
        "would have if its reads and writes took as long as alone."
    )


def in_turn(read: float, write: float) -> float:
    """IOPS of 65 % reads if each read and each write took as long as where all are of its kind.

    Worked: 30,000 and 3,000 IOPS -> 1 / (0.65 / 30,000 + 0.35 / 3,000) = 7,228.9.
    """
    share = _MIXED_PCT / 100
    return 1 / (share / read + (1 - share) / write)


def _enough(test: StoredTest, matrix: Mapping[Cell, float], read_pct: int, name: str) -> Iterator[str]:
    """The smallest transfer that comes near the greatest throughput of a mix."""
    sizes = sorted(test.settings_as(LoopSettings).sizes_bytes)
    found = {size: matrix.get(Cell(read_pct=read_pct, transfer_bytes=size)) for size in sizes}
    rates = {size: value * size / MB for size, value in found.items() if value}
    if limited := _limited(found, rates):
        yield f"{name}: {limited}."
    elif len(rates) > 1:
        most = max(rates.values())
        size = next(size for size, rate in rates.items() if rate >= _NEARLY * most)
        highest = f"{percent(_NEARLY)} of their highest throughput ({one_decimal(most)} MB/s)"
        yield f"{name} reach {highest} from {size_label(size)} on."


def _limited(found: Mapping[int, float | None], rates: Mapping[int, float]) -> str:
    """Where IOPS are the same up to a size, and MB/s the same from it on, that this is so; else nothing.

    Worked: 33,333 IOPS from 0.5 to 8 KiB, 273 to 275 MB/s from 8 KiB on -> ``"33,333.3 IOPS at any size up to 8KiB,
    275.0 MB/s at any from there on, as where commands are the limit, then bytes"``.
    """
    sizes = sorted(rates)
    for place, size in enumerate(sizes[1:-1], 1):
        below, above = [found[one] or 0.0 for one in sizes[: place + 1]], [rates[one] for one in sizes[place:]]
        if min(below) >= _SAME * max(below) and min(above) >= _SAME * max(above):
            up_to = f"{one_decimal(max(below))} IOPS at any size up to {size_label(size)}"
            on = f"{one_decimal(max(above))} MB/s at any from there on"
            return f"{up_to}, {on}, as where commands are the limit, then bytes"
    return ""


def _throughput(test: StoredTest, result: LoopResult) -> Iterator[str]:
    for size in test.settings_as(LoopSettings).sizes_bytes:
        read, write = (result.matrix.get(Cell(read_pct=share, transfer_bytes=size)) for share in (100, 0))
        if read and write:
            yield f"SEQ {size_label(size)}: writes give {write / read * 100:.0f} % of the MB/s of reads."
            yield from _waiting(test, result, size)


def _waiting(test: StoredTest, result: LoopResult, size: int) -> Iterator[str]:
    """How long a transfer took with as many outstanding as the test has, where that is long."""
    times, cells = window_times(test, result), [Cell(read_pct=share, transfer_bytes=size) for share in (100, 0)]
    taken = [time for cell in cells if (time := times[cell].latency_ms_mean)]
    rates = [rate for cell in cells if (rate := result.matrix.get(cell))]
    if not len(taken) == len(rates) == len(cells) or max(taken) < _LONG_MS:
        return
    demand = test.settings.demand
    queued = [outstanding(demand) / (rate * MB / size) * 1000 for rate in rates]
    read, write = map(_seconds, taken)
    cut = ""
    if any(time < full * _FULL for time, full in zip(taken, queued, strict=True)):
        full = " and ".join(map(_seconds, queued))
        lacking = "a time below that lacks the I/Os outstanding at the end of a round"
        cut = f"; a full queue at their IOPS takes {full} ({lacking})"
    yield f"With {outstanding_label(demand)} a read takes {read} on average, a write {write}, waiting included{cut}."


def _seconds(time_ms: float) -> str:
    return duration_label(round(time_ms) * MILLISECOND_NS)


def _latency(test: StoredTest, result: LoopResult) -> Iterator[str]:
    times = window_times(test, result)
    yield from _uneven(test, result)
    for share, name in ((0, "writes"), (100, "reads")):
        cell = Cell(read_pct=share, transfer_bytes=QUOTED_BYTES)
        mean, tails = result.matrix.get(cell), times[cell].percentiles_ms if cell in times else {}
        known = [(one, time) for one in _TAILS if (time := tails.get(one))]
        if mean and known:
            (below, tail), *_ = known
            above = mean > (tails.get(_MOST) or mean) * _ABOVE
            raised = ", longer than 99.9 % of them take: a few slow ones raise it" if above else ""
            average = f"{milliseconds_text(mean)} ms on average{raised}"
            yield f"RND 4KiB {name}: {average}; {_tail(percent(below), tail, mean, times[cell].latency_ms_max)}."
            yield from _smallest(test, result, share, name, mean)


def _smallest(test: StoredTest, result: LoopResult, read_pct: int, name: str, mean: float) -> Iterator[str]:
    """That transfers below 4 KiB take longer than those of 4 KiB, where they do."""
    size = min(test.settings_as(LoopSettings).sizes_bytes)
    found = result.matrix.get(Cell(read_pct=read_pct, transfer_bytes=size))
    if found and found > mean * _LONGER:
        both = f"{milliseconds_text(found)} against {milliseconds_text(mean)} ms on average"
        yield f"RND {size_label(size)} {name} take {found / mean:.2f} times as long as those of 4KiB: {both}."


def _slowest(most: float | None, tail: float, mean: float) -> str:
    """The maximum, where it is far above the percentile before it.

    Worked: 0.157 ms, a maximum of 6.257 ms, 0.156 ms on average -> the slowest takes 6.257 ms, 40.1 times
    the average.
    """
    return "" if most is None or most < _FAR * tail else f", the slowest takes {_beside(most, mean)}"


def _tail(below: str, tail: float, mean: float, most: float | None) -> str:
    """Worked: 99.99 % in 5.951 ms, 0.31 ms on average -> ``"99.99 % end within 5.951 ms, 19.2 times the average"``."""
    if most is not None and most / mean < _EVEN:
        return f"none takes longer than {milliseconds_text(most)} ms"
    share = max(tail / mean - 1, 0)
    beyond = f"{share * 100:.1f} % above it" if share >= _LEVEL else "about the average"
    above = f"{milliseconds_text(tail)} ms, {beyond}"
    shown = above if tail / mean < _EVEN else _beside(tail, mean)
    return f"{below} end within {shown}{_slowest(most, tail, mean)}"


def _beside(time: float, mean: float) -> str:
    return f"{milliseconds_text(time)} ms, {time / mean:.1f} times the average"


_SENTENCES = {"iops": _iops, "throughput": _throughput, "latency": _latency}
