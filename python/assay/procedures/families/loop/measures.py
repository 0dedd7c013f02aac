"""The numbers of a test loop cell by cell, and what they say of the drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.engine.records import Cell
from assay.procedures.families.loop.figures import PREFIX
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import (
    MOVED_SHARE,
    UNITS,
    cell_spreads,
    headline_window,
    offered_rates,
    shown,
    window_sequences,
    window_times,
)
from assay.procedures.traits import not_steady, stalls, tails, waited
from assay.results.ended import missed_steady_state
from assay.results.histogram import all_step_times, merged, percentiles, step_times
from assay.results.step import cell_label, iops, mean_and_max_ms
from assay.spec.units import KIB, MB, kib_value
from assay.summary.insights import insight
from assay.summary.measures import MAXIMUM, MEAN, SHARES, percentile_key, stat_of
from assay.summary.record import Measure, Slot, Tile
from assay.words.coded import Subject, coded
from assay.words.printed import outstanding, outstanding_label, size_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.engine.records import StepRecord, StoredTest
    from assay.procedures.families.loop.result import LoopResult
    from assay.results.histogram import ResponseTimes
    from assay.summary.insights import Insight
    from assay.summary.pages.test_record import Rated
    from assay.summary.record import Key, Sources
    from assay.words.coded import Coded


_SIDES = {100: "read", 0: "write"}
_QUOTED_BYTES = 4 * KIB
_LARGE_BYTES = 128 * KIB
_QUOTED_TIMES = {
    percentile_key(0.999): "99.9 %",
    percentile_key(0.9999): "99.99 %",
    MAXIMUM: "maximum",
}


def loop_measures(test: StoredTest, result: LoopResult) -> Iterator[Measure]:
    """Variable, rate and response times of every cell over the measurement window, those that people quote first.

    Response times are of all I/Os of the five rounds, their ``rounds`` those of each round by itself. Without a result
    only those that people quote are left, without a value.
    Worked: five rounds of 100, 110, 90, 100, 100 IOPS -> 100.0 with these five.
    """
    measures = tuple(_measures(test, result))
    yield from (measure for measure in measures if measure.quoted)
    yield from (measure for measure in measures if not measure.quoted)


def _measures(test: StoredTest, result: LoopResult) -> Iterator[Measure]:
    settings, sequences = test.settings_as(LoopSettings), window_sequences(test, result)
    rates = window_times(test, result)
    times = [measures for sequence in sequences if (measures := step_times(sequence))]
    quoted, averaged = _quoted_cells(settings), set(map(id, sequences))
    numbers = [number for number, sequence in enumerate(test.sequences) if id(sequence) in averaged]
    for cell in dict.fromkeys([*quoted, *settings.cells]):
        if cell not in result.matrix:
            yield from _Cell(cell, test, result).quoted_without_value() if cell in quoted else ()
            continue
        place = settings.cells.index(cell)
        one = _Cell(cell, test, result, tuple((number, place) for number in numbers))
        steps = [sequence.steps[place] for sequence in sequences]
        yield one.variable()
        if settings.variable != "iops":
            yield one.rate(rates[cell].iops, steps)
        yield from one.response_times(steps, [time[place] for time in times])


def _quoted_cells(settings: LoopSettings) -> list[Cell]:
    """Reads and writes of 4 KiB, or of the single size of a throughput run."""
    size = settings.sizes_bytes[0] if settings.variable == "throughput" else _QUOTED_BYTES
    return [Cell(read_pct=read_pct, transfer_bytes=size) for read_pct in _SIDES]


class _Cell:
    """The measures of one cell."""

    def __init__(self, cell: Cell, test: StoredTest, result: LoopResult, sources: Sources = ()) -> None:
        self._cell, self._test, self._result, self._sources = cell, test, result, sources
        self._settings = test.settings_as(LoopSettings)
        self._key = cell_key(cell)
        self._label = cell_label(cell, self._settings.access)
        self._is_quoted = cell in _quoted_cells(self._settings)

    def variable(self) -> Measure:
        """The test's own variable, the average of the rounds."""
        result, kind = self._result, self._settings.variable
        steady = result.window is not None and result.window.reached
        return self._one(
            shown(self._settings).column,
            UNITS[kind],
            result.matrix.get(self._cell),
            result.window_values(self._cell),
            tracked=steady and self._cell in self._settings.tracking,
            basis=self._basis("average-of-rounds", self._demand(_PARTS[kind])),
            **(self._quoted(_PARTS[kind]) if self._is_quoted else {}),
        )

    def rate(self, value: float, steps: Sequence[StepRecord]) -> Measure:
        """I/Os per second where the variable is another."""
        return self._one("iops", "IOPS", value, tuple(float(iops(step)) for step in steps))

    def response_times(self, steps: Sequence[StepRecord], times: Sequence[ResponseTimes]) -> Iterator[Measure]:
        """Mean, percentiles and maximum."""
        whole, by_round = _times(steps, times), [_times([step], []) for step in steps]
        for index, time in enumerate(times):
            by_round[index] |= _percentiles(time)
        for key, value in whole.items():
            yield self._time(key, value, _each(by_round, key))

    def quoted_without_value(self) -> Iterator[Measure]:
        """Those that people quote, where there is no result."""
        yield self.variable()
        if self._settings.variable == "latency":
            yield from (self._time(key, None, ()) for key in _QUOTED_TIMES)

    def _time(self, key: str, value: float | None, rounds: tuple[float, ...]) -> Measure:
        if not (self._is_quoted and self._settings.variable == "latency" and key in _QUOTED_TIMES):
            return self._one(key, "ms", value, rounds)
        few = coded("few-beyond") if value is None and self._cell in self._result.matrix else None
        basis = few or self._basis("all-ios-of-rounds")
        return self._one(key, "ms", value, rounds, quoted=True, name=self._item(_QUOTED_TIMES[key]), basis=basis)

    def _quoted(self, part: str) -> dict[str, Any]:
        return {"quoted": True, "name": self._item(part), "claim": _claim(self._settings, self._cell)}

    def _demand(self, part: str) -> int | None:
        """I/Os in flight; None where its name has them, or nothing is kept in flight."""
        alone = part or self._test.settings.demand.arrivals_per_s is not None or self._cell not in self._result.matrix
        return None if alone else outstanding(self._settings.demand)

    def _item(self, part: str) -> str:
        """Worked: reads of 4 KiB in the latency test, the 99.9 % -> ``RND 4KiB R, 1 outstanding, 99.9 %``."""
        letter = _SIDES[self._cell.read_pct][0].upper()
        item = f"{PREFIX[self._settings.access]} {size_label(self._cell.transfer_bytes)} {letter}"
        return f"{item}, {outstanding_label(self._settings.demand)}, {part}" if part else item

    def _basis(self, code: str, demand: int | None = None) -> Coded:
        """What a number comes from, or why there is none."""
        result, window = self._result, headline_window(self._result)
        if result.withheld:
            return coded("withheld", reason=result.withheld)
        if window is None:
            return coded("few-rounds", count=len(result.rounds))
        missed = coded("missed" if self._settings.requires_steady_state else "not-steady")
        return coded(code, rounds=window.rounds, steady=None if window.reached else missed, outstanding=demand)

    def _one(self, key: str, unit: str, value: float | None, rounds: tuple[float, ...], **more: Any) -> Measure:
        return Measure(
            cell=self._key,
            key=key,
            label=self._label,
            unit=unit,
            value=value,
            stat=stat_of(key),
            rounds=rounds,
            sources=self._sources,
            **more,
        )


_PARTS = {"iops": "", "throughput": "", "latency": "average"}


def _claim(settings: LoopSettings, cell: Cell) -> str | None:
    side = _SIDES[cell.read_pct]
    if settings.variable == "throughput":
        return f"seq_{side}_mb_per_s" if cell.transfer_bytes >= KIB * KIB else None
    return f"{side}_latency_ms" if settings.variable == "latency" else f"rnd_4k_{side}_iops"


def _times(steps: Sequence[StepRecord], times: Sequence[ResponseTimes]) -> dict[str, float | None]:
    mean_ms, max_ms = mean_and_max_ms(steps)
    return {MEAN: mean_ms, **(_percentiles(merged(times)) if times else {}), MAXIMUM: max_ms}


def _percentiles(times: ResponseTimes) -> dict[str, float | None]:
    return {percentile_key(share): value for share, value in percentiles(times, SHARES).items()}


def _each(rounds: Sequence[Mapping[str, float | None]], key: str) -> tuple[float, ...]:
    """A value of every round; nothing where one has none."""
    result = [one.get(key) for one in rounds]
    return tuple(one for one in result if one is not None) if None not in result else ()


def loop_tiles(test: StoredTest) -> Iterator[Tile]:
    """Reads and writes of the size that people quote: the variable, or of response times p50 and p99.9."""
    settings = test.settings_as(LoopSettings)
    for cell in _quoted_cells(settings):
        slot, key = _SLOTS[settings.variable, cell.read_pct], cell_key(cell)
        facts = {"size": cell.transfer_bytes, "way": _SIDES[cell.read_pct], "order": settings.access}
        if settings.variable == "latency":
            p50, p999 = ((key, percentile_key(share)) for share in (0.5, 0.999))
            yield Tile(slot=slot, title=coded("tile-time", **facts), value=p50, then=p999)
        else:
            title = coded("tile-cell", **facts)
            yield Tile(slot=slot, title=title, value=(key, shown(settings).column))


_SLOTS: dict[tuple[str, int], Slot] = {
    ("iops", 100): "random-read",
    ("iops", 0): "random-write",
    ("throughput", 100): "sequential-read",
    ("throughput", 0): "sequential-write",
    ("latency", 100): "time-read",
    ("latency", 0): "time-write",
}


def loop_rates(settings: LoopSettings, measures: Iterable[Measure]) -> Iterator[Rated]:
    """IOPS of reads and writes of 4 KiB and of 128 KiB and more over the window; none of open loops.

    Worked: eight outstanding, 3,180.1 IOPS of random 4 KiB writes -> ``RND``, 0 % reads, 4,096 bytes, QD 8, 3180.1.
    """
    rates = {measure.cell: measure.value for measure in measures if measure.key == "iops"}
    for cell in settings.cells if settings.demand.arrivals_per_s is None else ():
        size, value = cell.transfer_bytes, rates.get(cell_key(cell))
        if value and cell.read_pct in _SIDES and (size == _QUOTED_BYTES or size >= _LARGE_BYTES):
            order, depth = PREFIX[settings.access], outstanding(settings.demand)
            yield Subject(order=order, read_pct=cell.read_pct, size_bytes=size, depth=depth), float(value)


def cell_key(cell: Cell) -> Key:
    """The key of a cell of size and mix. Worked: reads of 4 KiB -> ``(("block_kib", 4), ("read_pct", 100))``."""
    return (("block_kib", kib_value(cell.transfer_bytes)), ("read_pct", cell.read_pct))


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
