"""The tiles of a page: one number each, with its demand, its range over rounds and what a data sheet claims of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.summary.insights import level_of_said
from assay.summary.measures import MAXIMUM, MEANS, host_note, short_name
from assay.summary.record import OWN_SLOTS, SLOTS
from assay.summary.verdict import level_of
from assay.words.coded import Coded, coded, quantity
from assay.words.digits import si, span_parts, thousands, times
from assay.words.printed import NOT_AVAILABLE
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.summary.record import Level, Measure, Slot, TestSummary, Tile

TILES_MAX = 8
"""So many tiles stand on a summary."""

_OF_WRITES = {"still-falling", "settled-fall"}
_OF_TIMES = {"tail", "stalls"}
_EACH = {*OWN_SLOTS, "demand-max"}
"""Slots in which each test has a tile."""
_PRINTERS: dict[str, Callable[[float], str]] = {"MB/s": thousands, "sectors": "{:,.0f}".format}
_BARE: dict[str, Callable[[float], str]] = {"LBA": "{:,.0f}".format}
"""Of what is printed without its unit, which its name has."""
_TIMES = {"ms": 1, "min": 60_000}
_TITLES = {
    f"tile-{name}": f"titled-{name}" for name in ("cell", "time", "settled", "not-settled", "idle", "recovery", "point")
}
_SIDES = {"time-read": 100, "time-write": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class TileView:
    """One tile as printed.

    slot : its place. test : the label of its test. title, demand : what it is of. value, unit : its number.
    then : what that becomes, in the same unit; empty where it becomes nothing. part : of the response times, as p50.
    lines : range over rounds, further percentiles. level : what its colour follows; None for no colour.
    claim, claim_level : what a data sheet claims, and how the number meets that.
    """

    slot: Slot
    test: str
    title: str
    demand: str
    value: str
    unit: str
    then: str = ""
    part: str = ""
    lines: tuple[str, ...] = ()
    level: Level | None = None
    claim: str = ""
    claim_level: Level | None = None


def run_tiles(tests: Sequence[TestSummary], said: Sequence[Coded], claims: Mapping[str, float]) -> tuple[TileView, ...]:
    """At most eight of all tests, in the order of their slots; of a slot that several tests have, the first.

    said : what the run shows; a tile has the level of what is said of it.
    Worked: eight tests with eleven slots -> the first eight; two studies -> the tiles of both.
    """
    tiles: dict[tuple[str, str], TileView] = {}
    for one in tests:
        for tile in test_tiles(one, said, claims):
            tiles.setdefault((tile.slot, one.name if tile.slot in _EACH else ""), tile)
    return tuple(sorted(tiles.values(), key=lambda one: SLOTS.index(one.slot))[:TILES_MAX])


def test_tiles(test: TestSummary, said: Iterable[Coded], claims: Mapping[str, float]) -> tuple[TileView, ...]:
    """Those of one test that have a number."""
    lines = (*said, *test.said)
    return tuple(view for tile in test.tiles if (view := _view(test, tile, lines, claims)))


def _view(test: TestSummary, tile: Tile, said: Sequence[Coded], claims: Mapping[str, float]) -> TileView | None:
    first = test.measure(tile.value)
    if first is None or first.value is None:
        return None
    then = test.measure(tile.then) if tile.then else None
    goes_on = then is not None and then.key == first.key
    value, unit = number_parts(first)
    claim = claims.get(first.claim or "")
    return TileView(
        slot=tile.slot,
        test=test.label,
        title=tile_title(tile.title),
        demand=demand_text(test),
        value=value,
        unit=unit,
        then=_becomes(first, then) if goes_on else "",
        part=short_name(first.key),
        lines=(*_lines(test, first, None if goes_on else then), *_host(first)),
        level=_level(test, tile.slot, said) or ("warn" if first.mark == "warn" else None),
        claim=_claim(first, claim),
        claim_level=_claim_level(first, claim),
    )


def tile_title(title: Coded) -> str:
    """What a tile is of, without its demand. Worked: the median of 4 KiB reads -> ``"4 KiB read latency"``."""
    return text(Coded(code=_TITLES.get(title.code, title.code), values=title.values))


def demand_text(test: TestSummary) -> str:
    """I/Os in flight, where they are the same throughout. Worked: 8 -> ``"QD 8"``; 1 to 256 -> nothing."""
    depths = test.outstanding
    return f"QD {depths[0]:,}" if len(depths) == 1 else ""


def number_parts(measure: Measure) -> tuple[str, str]:
    """A number and its unit. Worked: 33,332 IOPS -> ``("33.3k", "IOPS")``; 0.06 ms -> ``("60", "µs")``."""
    if measure.value is None:
        return NOT_AVAILABLE, ""
    value = float(measure.value)
    if measure.unit in _TIMES:
        return span_parts(value * _TIMES[measure.unit])
    if measure.unit == "x":
        return times(value), ""
    if printed := _BARE.get(measure.unit):
        return printed(value), ""
    return _PRINTERS.get(measure.unit, si)(value), measure.unit


def _becomes(first: Measure, then: Measure | None) -> str:
    """The second number, with its unit where that is another. Worked: 3,953 IOPS -> ``"3.95k"``; nothing -> n/a."""
    if then is None or then.value is None:
        return NOT_AVAILABLE
    number, unit = number_parts(then)
    return number if unit == number_parts(first)[1] else f"{number} {unit}"


def _lines(test: TestSummary, first: Measure, then: Measure | None) -> Iterator[str]:
    """Further numbers of the cell, the slowest I/O behind its percentiles; of a mean its range over rounds."""
    beside = [then] if then else []
    if "percentile" in {one.stat for one in (first, *beside)}:
        mean = next((one for key in MEANS if (one := test.measure((first.cell, key)))), None)
        beside = [one for one in (mean, *beside, test.measure((first.cell, MAXIMUM))) if one and one is not first]
    known = [one for one in beside if one.value is not None]
    told = [" ".join(filter(None, (short_name(one.key), *number_parts(one)))) for one in known]
    if told:
        yield " \N{MIDDLE DOT} ".join(told)
    if first.extremes and first.unit != "ms":
        printed = _PRINTERS.get(first.unit, si)
        least, most = (printed(float(value)) for value in first.extremes)
        yield text(coded("rounds-equal") if least == most else coded("rounds", least=least, most=most))


def _host(measure: Measure) -> Iterator[str]:
    """What the host did to it."""
    if note := host_note(measure):
        yield text(note)


def _level(test: TestSummary, slot: Slot, said: Iterable[Coded]) -> Level | None:
    """That of what is said of it, else of its test where that is bad. Worked: writes that still fall -> ``warn``."""
    about = (one for one in said if _is_about(one, slot))
    levels = [level_of_said(one) for one in about]
    if levels:
        return "bad" if "bad" in levels else levels[0]
    return "bad" if level_of(test.verdict) == "bad" else None


def _is_about(one: Coded, slot: Slot) -> bool:
    side = getattr(one.values.get("subject"), "read_pct", None)
    times = one.code in _OF_TIMES and slot in _SIDES and side in {None, _SIDES[slot]}
    return times or (slot == "settled" and one.code in _OF_WRITES)


def _share(measure: Measure, claim: float) -> float:
    """Worked: 45,000 of 50,000 IOPS -> 0.9."""
    return float(measure.value or 0.0) / claim


def _claim(measure: Measure, claim: float | None) -> str:
    if not claim:
        return ""
    return text(coded("claimed", bound=quantity(claim, measure.unit), share=_share(measure, claim)))


def _claim_level(measure: Measure, claim: float | None) -> Level | None:
    if not claim:
        return None
    share = _share(measure, claim)
    return "good" if (share <= 1 if measure.better == "lower" else share >= 1) else "bad"
