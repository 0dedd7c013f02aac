"""What a test loop says of the drive: steadiness, tails, stalls, what mixes and sizes cost, and its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.families.loop.figures import PREFIX
from assay.procedures.families.loop.open_loop import offered_rates, window_sequences
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.spread import MOVED_SHARE, cell_spreads
from assay.procedures.families.loop.values import headline_window
from assay.procedures.steadiness import not_steady
from assay.procedures.waits import stalls, tails, waited
from assay.results import all_step_times, cell_label, missed_steady_state
from assay.spec.units import KIB, MB
from assay.summary.insight import insight
from assay.words.printed import outstanding
from assay.words.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.engine.records import StoredTest
    from assay.procedures.families.loop.values import LoopResult
    from assay.summary.insight import Insight

QUOTED_BYTES = 4 * KIB
_READ, _WRITE = 100, 0
_SAME = 0.98
"""IOPS or throughput so near to the greatest are the same."""


def loop_insights(test: StoredTest, result: LoopResult, link_mb_per_s: float | None = None) -> Iterator[Insight]:
    """Everything that its rounds say. link_mb_per_s : what the drive's link carries, None where that is not known."""
    settings = test.settings_as(LoopSettings)
    yield from loop_unsteady(test, result)
    if result.matrix:
        yield from unstable(settings, result)
        yield from _waits(test, result)
        yield from _rates_missed(test, result)
        rates = matrix_iops(settings, result)
        yield from mixed_penalty(settings, rates)
        yield from transfer_penalty(settings, rates)
        yield from limits(settings, rates, link_mb_per_s)


def loop_unsteady(test: StoredTest, result: LoopResult) -> Iterator[Insight]:
    """The tracked cell that is farthest from steady, of a test that had to be and was not."""
    settings, window = test.settings_as(LoopSettings), headline_window(result)
    if window and missed_steady_state(test):
        cells = ((cell, window.verdicts[cell_label(cell, settings.access)]) for cell in settings.tracking)
        yield from not_steady(((subject(settings, cell), verdict) for cell, verdict in cells), len(result.rounds))


def subject(settings: LoopSettings, cell: Cell, depth: int | None = None) -> Subject:
    """The accesses of a cell."""
    return Subject(
        order="RND" if PREFIX[settings.access] == "RND" else "SEQ",
        read_pct=cell.read_pct,
        size_bytes=cell.transfer_bytes,
        depth=depth,
    )


def matrix_iops(settings: LoopSettings, result: LoopResult) -> dict[Cell, float]:
    """IOPS of every cell; of a test of response times what the same I/Os in flight would give.

    Worked: 1 MB/s of 4,096 bytes -> 244.1 IOPS; 2 ms with 8 in flight -> 4,000.
    """
    depth = outstanding(settings.demand)

    def as_iops(cell: Cell, value: float) -> float:
        if settings.variable == "latency":
            return depth * 1000 / value
        return value * MB / cell.transfer_bytes if settings.variable == "throughput" else value

    return {cell: as_iops(cell, value) for cell, value in result.matrix.items() if value}


def unstable(settings: LoopSettings, result: LoopResult) -> Iterator[Insight]:
    """The cells that are not tracked and moved, and the round if it is one and the same."""
    spreads = cell_spreads(result, settings)
    moved = [spread for spread in spreads.values() if spread.moved]
    if moved:
        rounds = {one.odd for one in moved}
        worst = max(one.apart for one in moved)
        only = rounds.pop() if len(rounds) == 1 else None
        share = len(moved) / len(spreads)
        yield insight("unstable-cells", count=len(moved), limit=MOVED_SHARE, only=only, worst=worst, share=share)


def _waits(test: StoredTest, result: LoopResult) -> Iterator[Insight]:
    settings, sequences = test.settings_as(LoopSettings), window_sequences(test, result)
    times, depth = all_step_times(sequences), outstanding(settings.demand)
    count = len(settings.cells)
    by_cell = {
        cell: waited([sequence.steps[index] for sequence in sequences], times[index::count], settings.demand)
        for index, cell in enumerate(settings.cells)
    }
    quoted = QUOTED_BYTES if QUOTED_BYTES in settings.sizes_bytes else settings.sizes_bytes[0]
    for cell, waits in by_cell.items():
        if cell.read_pct in {_READ, _WRITE} and cell.transfer_bytes == quoted:
            yield from tails(subject(settings, cell, depth), waits.times)
    for read_pct in settings.read_pcts:
        own = [waits for cell, waits in by_cell.items() if cell.read_pct == read_pct]
        yield from stalls(Subject(order=subject(settings, settings.cells[0]).order, read_pct=read_pct), own)


def _rates_missed(test: StoredTest, result: LoopResult) -> Iterator[Insight]:
    settings, rates = test.settings_as(LoopSettings), offered_rates(test, result)
    judged = [(one.share, cell, one) for cell, one in rates.items() if one.level in {"warn", "invalid"}]
    for share, cell, one in sorted(judged, key=lambda found: found[0])[:1]:
        about = subject(settings, cell)
        yield insight("rate-missed", about, kept=share, lost=1 - share, rate=one.offered_per_s)


def mixed_penalty(settings: LoopSettings, rates: Mapping[Cell, float]) -> Iterator[Insight]:
    """What the fewest writes among 4 KiB reads cost. Worked: reads at 33,333 IOPS, 23,000 with 5 % writes -> 31 %."""
    mixes = [pct for pct in settings.read_pcts if _WRITE < pct < _READ]
    if settings.variable != "iops" or not mixes:
        return
    alone, mixed = (Cell(read_pct=pct, transfer_bytes=QUOTED_BYTES) for pct in (_READ, max(mixes)))
    if alone in rates and mixed in rates:
        cost = 1 - rates[mixed] / rates[alone]
        yield insight("mixed-penalty", subject(settings, alone), writes=1 - max(mixes) / 100, cost=cost)


def transfer_penalty(settings: LoopSettings, rates: Mapping[Cell, float]) -> Iterator[Insight]:
    """Transfers below 4 KiB that take longer than those of 4 KiB. Worked: 814 and 4,000 IOPS -> 4.9 times."""
    for read_pct in (_READ, _WRITE):
        whole = rates.get(Cell(read_pct=read_pct, transfer_bytes=QUOTED_BYTES))
        below = [cell for cell in rates if cell.read_pct == read_pct and cell.transfer_bytes < QUOTED_BYTES]
        if whole and below:
            slowest = min(below, key=rates.__getitem__)
            about = subject(settings, slowest)
            yield insight("transfer-penalty", about, times=whole / rates[slowest], other=QUOTED_BYTES)


def limits(settings: LoopSettings, rates: Mapping[Cell, float], link_mb_per_s: float | None) -> Iterator[Insight]:
    """What limits reads and writes: the link, or commands up to a size and bytes above it."""
    for read_pct in (_READ, _WRITE):
        result = {cell.transfer_bytes: rate for cell, rate in rates.items() if cell.read_pct == read_pct}
        moved = {size: rate * size / MB for size, rate in sorted(result.items())}
        about = Subject(order=subject(settings, settings.cells[0]).order, read_pct=read_pct)
        if settings.variable == "latency" or not moved:
            continue
        if link_mb_per_s:
            yield from _at_link(about, moved, link_mb_per_s)
        yield from _command_limited(about, result, moved)


def _at_link(about: Subject, moved: Mapping[int, float], link_mb_per_s: float) -> Iterator[Insight]:
    most = max(moved.values())
    first = min(size for size, rate in moved.items() if rate >= _SAME * most)
    smallest = first if len(moved) > 1 else None
    yield insight("limit", about, rate=most, link=link_mb_per_s, share=most / link_mb_per_s, size=smallest)


def _command_limited(about: Subject, found: Mapping[int, float], moved: Mapping[int, float]) -> Iterator[Insight]:
    """Worked: 33,333 IOPS from 0.5 to 8 KiB, 273 to 275 MB/s from 8 KiB on -> command-limited to 8 KiB."""
    sizes = sorted(moved)
    for index, size in enumerate(sizes[1:-1], 1):
        below, above = [found[size] for size in sizes[: index + 1]], [moved[size] for size in sizes[index:]]
        if min(below) >= _SAME * max(below) and min(above) >= _SAME * max(above):
            yield insight("limit", about, up_to=size, iops=max(below), most=max(above))
            return
