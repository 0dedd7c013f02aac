"""The summary page, and what stands with it on the first pages: tiles, method and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.procedures.conformity import deviations
from assay.report.annex.disclosure import drive_entries, platform_entries, settings_entries
from assay.spec.units import GB, count_label, duration_label
from assay.summary.insights import in_words, level_of_said
from assay.summary.measures import MAXIMUM, MEANS, host_note, short_name
from assay.summary.pages.figures import chosen
from assay.summary.record import OWN_SLOTS, SLOTS, Status
from assay.summary.verdict import STATE_WORDS, gravity, level_of, stated, verdict_caveats
from assay.words.coded import Coded, coded, quantity
from assay.words.digits import si, span_parts, thousands, three_digits, times
from assay.words.printed import NOT_AVAILABLE, UNKNOWN, paragraph, utc
from assay.words.text import merged, sentence, shape, text

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.pages.figures import MainFigure
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import (
        Held,
        HeldNumber,
        Level,
        Measure,
        Outcome,
        RunSummary,
        Slot,
        State,
        TestSummary,
        Tile,
    )
    from assay.words.coded import Number


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
    """The tiles of one test that have a number."""
    lines = (*said, *test.said)
    return tuple(view for tile in test.tiles if (view := _tile_view(test, tile, lines, claims)))


def _tile_view(test: TestSummary, tile: Tile, said: Sequence[Coded], claims: Mapping[str, float]) -> TileView | None:
    first = test.measure(tile.value)
    if first is None or first.value is None:
        return None
    then = test.measure(tile.then) if tile.then else None
    value, unit = number_parts(first)
    goes_on = ""
    if then is not None and then.key == first.key:
        number, its_unit = number_parts(then)
        goes_on = number if its_unit in {unit, ""} else f"{number} {its_unit}"
    note, claim = host_note(first), claims.get(first.claim or "")
    return TileView(
        slot=tile.slot,
        test=test.label,
        # What it is of, without its demand.
        title=text(Coded(code=_TITLES.get(tile.title.code, tile.title.code), values=tile.title.values)),
        demand=demand_text(test),
        value=value,
        unit=unit,
        then=goes_on,
        part=short_name(first.key),
        lines=(*_lines(test, first, None if goes_on else then), *([text(note)] if note else [])),
        level=_level(test, tile.slot, said) or ("warn" if first.mark == "warn" else None),
        claim=text(coded("claimed", bound=quantity(claim, first.unit), share=first.share_of(claim))) if claim else "",
        claim_level=("good" if first.meets(claim) else "bad") if claim else None,
    )


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


def _level(test: TestSummary, slot: Slot, said: Iterable[Coded]) -> Level | None:
    """The level of an insight on a tile, else of its test if bad. Worked: writes that still fall -> ``warn``."""
    levels = []
    for statement in said:
        side = getattr(statement.values.get("subject"), "read_pct", None)
        of_times = statement.code in _OF_TIMES and slot in _SIDES and side in {None, _SIDES[slot]}
        if of_times or (slot == "settled" and statement.code in _OF_WRITES):
            levels.append(level_of_said(statement))
    if levels:
        return "bad" if "bad" in levels else levels[0]
    return "bad" if level_of(test.verdict) == "bad" else None


LIMITS_MAX = 8
"""So many limits stand in the strip."""

OUTCOME_LEVELS: dict[Outcome, Level] = {"fail": "bad", "not decided": "unknown", "pass": "good"}
_WORDS: dict[Outcome, str] = {"fail": "missed", "not decided": "not decided", "pass": "met"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitView:
    """One limit as printed. outcome : in a word, by which its level can be known without its colour."""

    name: str
    value: str
    bound: str
    outcome: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitStrip:
    """The limits. counts : in words. level : of all. more : how many are not among the first."""

    counts: str
    level: Level
    limits: tuple[LimitView, ...]
    more: int


def limit_strip(held: Held | None) -> LimitStrip | None:
    """The strip; None of a run that states no limits.

    Worked: nine limits, one of them missed -> that one first, then seven, and one more.
    """
    if held is None:
        return None
    parts = ((held.missed, "missed"), (held.undecided, "not decided"), (held.met, "met"))
    return LimitStrip(
        counts=", ".join(f"{count} {name}" for count, name in parts if count),
        level="bad" if held.missed else "unknown" if held.undecided else "good",
        limits=tuple(map(_view, held.numbers[:LIMITS_MAX])),
        more=max(len(held.numbers) - LIMITS_MAX, 0),
    )


def _view(held_number: HeldNumber) -> LimitView:
    bound = coded(
        "bound-least" if held_number.is_least else "bound-most", bound=_number(held_number.bound, held_number.unit)
    )
    value = _number(held_number.value, held_number.unit)
    return LimitView(
        name=held_number.name,
        value=text(value) if value else "n/a",
        bound=text(bound),
        outcome=_WORDS[held_number.outcome],
        level=OUTCOME_LEVELS[held_number.outcome],
    )


def _number(value: Number | None, unit: str) -> Coded | None:
    """A number with its unit; a count has none. Worked: 3 findings -> ``"3"``."""
    return quantity(value, unit) if unit or value is None else coded("count", value=float(value))


CAVEATS_MAX = 4
"""So many caveats are shown; then how many more there are."""
DEVIATIONS_NAMED = 2

_NEEDS_NO_REASON = {"steady", "no-rule", "not-run"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence with its level. tests : labels of those that it comes from."""

    text: str
    level: Level
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPage:
    """All that the summary page shows, printed.

    name, facts : of the drive and the run. states : label, edition, and how the tests came out. sentence : the gravest
    insight, or what the drive is good for. findings : those behind it. more_caveats : how many are not shown.
    """

    name: str
    facts: tuple[str, ...]
    states: tuple[Said, ...]
    sentence: Said
    tiles: tuple[TileView, ...]
    limits: LimitStrip | None
    figures: tuple[MainFigure, ...]
    findings: tuple[Said, ...]
    caveats: tuple[Said, ...]
    more_caveats: int


def summary_page(run: RunSummary, figures: Iterable[MainFigure]) -> SummaryPage:
    """Lay out the summary of a run. figures : of all its tests, in their order.

    Worked: a client suite -> eight tiles, the curve of write saturation and the matrix, at most four findings.
    """
    caveats, test = [*_caveats(run)], run.tests[0]
    # Of a run that shows nothing how its first test came out.
    nothing = Said(text=sentence(f"{test.label}: {_state(test)}"), level=level_of(test.verdict))
    said = [Said(text=in_words(one), level=level_of_said(one), tests=tests) for tests, one in run.said]
    first, *findings = said or [nothing]
    return SummaryPage(
        name=run.model,
        facts=(f"{three_digits(run.identity.capacity_bytes / GB)} GB", *run.facts, utc(run.started_wall_ns), run.level),
        states=tuple(_states(run)),
        sentence=first,
        tiles=run_tiles(run.tests, [statement for _, statement in run.said], run.claims),
        limits=limit_strip(run.held),
        figures=chosen(figures),
        findings=tuple(findings),
        caveats=tuple(caveats[:CAVEATS_MAX]),
        more_caveats=max(len(caveats) - CAVEATS_MAX, 0),
    )


def _state(test: TestSummary) -> str:
    """How a test came out, without caveats. Worked: ``"steady, rounds 1-5"``."""
    return paragraph(text(stated(test.verdict)))


def _states(run: RunSummary) -> Iterator[Said]:
    """How far the run conforms, its edition, and how its tests came out."""
    yield Said(text=run.label_class, level=run.label_level)
    yield Said(text=run.edition_title, level="unknown")
    if run.deviations:
        yield Said(text=count_label(len(run.deviations), "deviation"), level="warn")
    yield from _outcomes(run.tests)
    if behind := len(run.skipped) + len(run.not_begun):
        yield Said(text=f"{behind} not run", level="bad" if run.not_begun else "unknown")


def _outcomes(tests: Sequence[TestSummary]) -> Iterator[Said]:
    """Each state once with its tests, the gravest first. Worked: three of four steady -> ``"3 of 4 steady"``."""
    outcomes: dict[State, list[TestSummary]] = {}
    for test in tests:
        outcomes.setdefault(test.verdict.state, []).append(test)
    levels = {state: worst(level_of(test.verdict) for test in same) for state, same in outcomes.items()}
    for state, same in sorted(outcomes.items(), key=lambda pair: gravity(levels[pair[0]])):
        count = (
            f"{len(same)} of {len(tests)} " if state in _NEEDS_NO_REASON else f"{', '.join(one.label for one in same)} "
        )
        if state != "no-rule":
            words = STATE_WORDS[state]
            yield Said(text=words if len(tests) == 1 else f"{count}{words}", level=levels[state])


def worst(levels: Iterable[Level]) -> Level:
    """The gravest of some levels. Worked: good and warn -> warn."""
    return min(levels, key=gravity)


def _caveats(run: RunSummary) -> Iterator[Said]:
    """Why tests have no verdict or a bad one, then what concerns the run, the deviations last."""
    for one in sorted(run.tests, key=lambda test: gravity(level_of(test.verdict))):
        if one.verdict.state not in _NEEDS_NO_REASON and one.verdict.reason:
            yield Said(text=f"{one.label}: {_state(one)}", level=level_of(one.verdict))
    for caveat in run.caveats:
        listed = caveat.said.code == "deviations"
        words = deviations_text(run.deviations) if listed else paragraph(text(caveat.said))
        yield Said(text=words, level=caveat.level)
    yield from _of_tests(run.tests)


def _of_tests(tests: Sequence[TestSummary]) -> Iterator[Said]:
    """What is to be known of tests, the gravest first; of one shape once. Worked: ``"ECW, HIR: 3 steps too short"``."""
    told = [
        (test.label, line)
        for test in tests
        for line in (*(Status(level="warn", said=said) for said in verdict_caveats(test.verdict)), *test.caveats)
    ]
    groups: dict[Hashable, list[tuple[str, Status]]] = {}
    for label, line in sorted(told, key=lambda pair: gravity(pair[1].level)):
        groups.setdefault((line.level, shape(line.said)), []).append((label, line))
    for same in groups.values():
        labels = ", ".join(dict.fromkeys(label for label, _ in same))
        words = text(merged([line.said for _, line in same]))
        yield Said(text=f"{labels}: {paragraph(words)}", level=same[0][1].level)


def deviations_text(listed: Sequence[str]) -> str:
    """How many there are, and the first of them. Worked: eleven -> ``"11 deviations: a; b; and 9 more"``."""
    rest = len(listed) - DEVIATIONS_NAMED
    named = "; ".join((*listed[:DEVIATIONS_NAMED], *([f"and {rest} more"] if rest > 0 else [])))
    return f"{count_label(len(listed), 'deviation')}: {named}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A row of the matrix. values : one for each test, empty where it has none. shared : that of all, where it is."""

    name: str
    values: tuple[str, ...]

    @property
    def shared(self) -> str:
        """The value of all tests; empty where they differ. Worked: PTS-C 1.0 in each of four -> ``"PTS-C 1.0"``."""
        return self.values[0] if len(set(self.values)) == 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPage:
    """How the run was made. tests : labels. drive, platform : name and value of what is known."""

    tests: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    deviations: tuple[str, ...]
    drive: tuple[Entry, ...]
    platform: tuple[Entry, ...]


def method_page(run: StoredRun, tests: Sequence[TestRecord]) -> MethodPage:
    """Lay out the method of a run.

    Worked: a client suite -> a column for each of four tests, a row for each parameter that any of them has, those that
    all share first.
    """
    columns = []
    for test in tests:
        purge, extent = test.test.purge, ("Extent", paragraph(test.facts.extent))
        purged = [("Purge", f"{paragraph(purge.method)}, {duration_label(purge.span_ns)}")] if purge else []
        columns.append(dict([*purged, *settings_entries(test), extent]))
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [Parameter(name=name, values=tuple(column.get(name, "") for column in columns)) for name in names]
    return MethodPage(
        tests=tuple(test.label for test in tests),
        parameters=tuple(sorted(rows, key=lambda row: not row.shared)),
        deviations=deviations(run),
        drive=_known(drive_entries(run)),
        platform=_known(platform_entries(run)),
    )


def _known(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple((name, value) for name, value in entries if value != UNKNOWN)
