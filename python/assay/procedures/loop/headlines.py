"""The numbers of a test loop that people quote: 4 KiB random, the size of the throughput test, one outstanding I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.pages.headline import Headline
from assay.pages.printed import outstanding, outstanding_label, rounds_label
from assay.pages.rate import Rate
from assay.procedures.loop.figures import PREFIX
from assay.procedures.loop.open_loop import window_sequences
from assay.procedures.loop.result import latency_maxima, window_times
from assay.procedures.loop.settings import LoopSettings
from assay.procedures.loop.values import headline_window, no_window_reason
from assay.results import iops
from assay.spec.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.loop.values import LoopResult

_QUOTED_SHARES = (0.999, 0.9999)
_QUOTED_BYTES = 4 * KIB
_LARGE_BYTES = 128 * KIB
_SIDES = ((100, "R", "read"), (0, "W", "write"))


def loop_headlines(test: StoredTest, result: LoopResult) -> tuple[Headline, ...]:
    """Reads and writes of 4 KiB, or of the single size of a throughput run, with their rounds.

    Worked: five rounds of 100, 110, 90, 100, 100 IOPS -> 100.0 with its five values, ``"rounds 1-5"``.
    """
    return tuple(_LOOPS[test.settings_as(LoopSettings).variable](test, result))


def _iops(test: StoredTest, result: LoopResult) -> Iterator[Headline]:
    for read_pct, letter, side in _SIDES:
        cell = Cell(read_pct=read_pct, transfer_bytes=_QUOTED_BYTES)
        claim = f"rnd_4k_{side}_iops"
        yield _average(test, result, cell, f"RND 4KiB {letter}", unit="IOPS", claim=claim)


def _throughput(test: StoredTest, result: LoopResult) -> Iterator[Headline]:
    (size, *_) = test.settings_as(LoopSettings).sizes_bytes
    for read_pct, letter, side in _SIDES:
        cell = Cell(read_pct=read_pct, transfer_bytes=size)
        claim = f"seq_{side}_mb_per_s" if size >= KIB * KIB else None
        item = f"SEQ {size // KIB}KiB {letter}"
        yield _average(test, result, cell, item, unit="MB/s", claim=claim)


def _latency(test: StoredTest, result: LoopResult) -> Iterator[Headline]:
    times, largest = window_times(test, result), latency_maxima(test, result).largest
    for read_pct, letter, side in _SIDES:
        cell = Cell(read_pct=read_pct, transfer_bytes=_QUOTED_BYTES)
        item = f"RND 4KiB {letter}, {outstanding_label(test.settings.demand)}"
        yield _average(test, result, cell, item, unit="ms", claim=f"{side}_latency_ms", part="average")
        for share in _QUOTED_SHARES:
            value = times[cell].percentiles_ms.get(share) if cell in times else None
            known = value is not None or not times
            basis = _basis(test, result, "all I/Os of ") if known else "n/a: fewer than ten I/Os beyond"
            yield _part(item, f"{share * 100:g} %", value, basis)
        yield _part(item, "maximum", largest.get(cell), _basis(test, result, "all I/Os of "))


def _part(item: str, part: str, value: float | None, basis: str) -> Headline:
    return Headline(item=f"{item}, {part}", part=part, unit="ms", value=value, basis=basis)


def _is_open(test: StoredTest) -> bool:
    return test.settings.demand.arrivals_per_s is not None


def _average(
    test: StoredTest, result: LoopResult, cell: Cell, item: str, *, unit: str, claim: str | None, part: str = ""
) -> Headline:
    told = part or _is_open(test) or cell not in result.matrix
    demand = "" if told else f", {outstanding_label(test.settings.demand)}"
    return Headline(
        item=f"{item}, {part}" if part else item,
        part=part,
        unit=unit,
        value=result.matrix.get(cell),
        values=result.window_values(cell),
        basis=_basis(test, result, "average of ") + demand,
        claim=claim,
    )


def _basis(test: StoredTest, result: LoopResult, what: str) -> str:
    """What a number comes from, or why there is none."""
    window = headline_window(result)
    if window is None:
        return no_window_reason(result)
    missed = ", NOT STEADY" if test.settings.requires_steady_state else ", not steady"
    return f"{what}rounds {rounds_label(window.rounds)}{'' if window.reached else missed}"


def loop_rates(test: StoredTest, result: LoopResult) -> Iterator[Rate]:
    """IOPS of reads and writes of 4 KiB and of 128 KiB and more in the rounds of the window; none of open loops.

    Worked: eight outstanding, 3,180.1 IOPS of 4 KiB writes in each round -> ``RND``, ``W``, 4,096 bytes, 8,
    five times 3180.1.
    """
    settings = test.settings_as(LoopSettings)
    sequences = () if _is_open(test) else window_sequences(test, result)
    sides = {read_pct: letter for read_pct, letter, _ in _SIDES}
    for place, cell in enumerate(settings.cells):
        if cell.read_pct not in sides or not _is_told(cell.transfer_bytes):
            continue
        values = tuple(float(iops(one.steps[place])) for one in sequences)
        if any(values):
            yield Rate(
                order=PREFIX[settings.access],
                side=sides[cell.read_pct],
                transfer_bytes=cell.transfer_bytes,
                outstanding=outstanding(settings.demand),
                values=values,
            )


def _is_told(transfer_bytes: int) -> bool:
    return transfer_bytes == _QUOTED_BYTES or transfer_bytes >= _LARGE_BYTES


_LOOPS = {"iops": _iops, "throughput": _throughput, "latency": _latency}
