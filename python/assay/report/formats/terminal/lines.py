"""A run on the terminal: at most 24 lines of 100 columns, fewer on a narrow one."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from assay.spec.units import SECOND_NS, count_label, duration_label
from assay.summary.insights import in_words
from assay.summary.record import SLOTS
from assay.summary.verdict import level_of, verdict_text
from assay.words.coded import coded, quantity
from assay.words.digits import si
from assay.words.printed import NOT_AVAILABLE, capacity_label, paragraph, utc
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.summary.record import Level, Measure, RunSummary, TestSummary, Tile
    from assay.words.coded import Coded

LINES_MAX, COLUMNS_MAX = 24, 100
_TESTS_MAX, _TILES_MAX, _CAVEATS_MAX = 8, 8, 4
_TITLE_COLUMNS, _LEAST_COLUMNS, _EXTENT_MAX = 36, 12, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line as printed. level : of all of it; None where no colour follows."""

    text: str
    level: Level | None = None


def terminal_lines(run: RunSummary, ends: Sequence[str] = (), columns: int = COLUMNS_MAX) -> list[Line]:
    """What the terminal shows of a run. ends : lines behind all others, as where its report is, which are never cut.

    columns : of the terminal.
    Worked: eight tests -> two lines of the run, nine of tests, four of tiles, and caveats in what is left of 24.
    """
    tests = [*_tests(run, columns)]
    head = [Line(text=part) for one in _head(run) for part in textwrap.wrap(paragraph(one), columns)]
    tiles = [Line(text=tile) for tile in _tiles(run, columns)]
    last = [*_held(run), *(Line(text=end) for end in ends)]
    left = LINES_MAX - sum(map(len, (head, tests, tiles, last)))
    said = [Line(text=_cut(paragraph(_finding(*one)), columns)) for one in run.said[: max(left - 1, 1)]]
    caveats = [*_caveats(run, min(left - len(said), _CAVEATS_MAX + 1), columns)]
    return _apart([head, tests, tiles, said, caveats, last])


def whole_head(run: RunSummary) -> Iterator[str]:
    """The lines of a run with every deviation."""
    yield from _head(run)
    yield from (f"- {line}" for line in run.deviations)


def whole_said(run: RunSummary) -> Iterator[Line]:
    """Every finding and caveat of a run and its tests, and how its limits came out."""
    yield from (Line(text=_finding(*said)) for said in run.said)
    yield from (Line(text=_finding((test.label,), said)) for test in run.tests for said in test.said)
    # Deviations stand in the head.
    caveats = [("", caveat) for caveat in run.caveats if caveat.said.code != "deviations"]
    caveats += [(f"{test.label}: ", caveat) for test in run.tests for caveat in test.caveats]
    yield from (Line(text=f"{name}{text(caveat.said)}", level=caveat.level) for name, caveat in caveats)
    yield from (Line(text=f"N/A: {name}: {reason}", level="unknown") for name, reason in run.skipped)
    yield from _held(run)


def verdict_rows(tests: Iterable[TestSummary], extent_max: int = 1000) -> list[tuple[str, str, str, str]]:
    """Tests with their verdicts under headers. extent_max : letters of what each measured."""
    rows = [("Test", "Verdict", "Extent", "In flight")]
    for test in tests:
        depths = "-".join(f"{depth:,}" for depth in dict.fromkeys((test.outstanding[0], test.outstanding[-1])))
        verdict, extent = paragraph(verdict_text(test.verdict)), _cut(paragraph(test.extent), extent_max)
        rows.append((test.label, verdict, extent, depths))
    return rows


def _finding(tests: Sequence[str], said: Coded) -> str:
    """Worked: reads that stall in two tests -> ``"IOPS, LAT: Reads stall: 10 times for up to 400 ms."``."""
    return f"{', '.join(tests)}: {in_words(said)}" if tests else in_words(said)


def _apart(blocks: Sequence[Sequence[Line]]) -> list[Line]:
    """The blocks with an empty line between each two, as far as there is room."""
    full = [block for block in blocks if block]
    room = LINES_MAX - sum(map(len, full))
    lines: list[Line] = []
    for number, block in enumerate(full):
        if number and room >= number:
            lines.append(Line(text=""))
        lines += block
    return lines


def _head(run: RunSummary) -> Iterator[str]:
    size = capacity_label(run.identity.capacity_bytes)
    model = run.model if run.model.endswith(size) else f"{run.model}, {size}"
    listed = f", {count_label(len(run.deviations), 'deviation')}" if run.deviations else ""
    yield f"{model} | {run.edition_title} | {run.label_class}{listed}"
    took = "not ended" if run.wall_s is None else f"took {_duration(run.wall_s)}"
    yield f"{utc(run.started_wall_ns)}, {took}, {_duration(run.driven_s)} on the drive | {run.level}"


def _duration(seconds: float) -> str:
    return duration_label(max(round(seconds), 1) * SECOND_NS)


def _tests(run: RunSummary, columns: int) -> Iterator[Line]:
    """A line for each test, with how it came out and what stands beside that."""
    shown = run.tests[:_TESTS_MAX]
    levels: list[Level | None] = [None, *(level_of(one.verdict) for one in shown)]
    table = _aligned(verdict_rows(shown, _EXTENT_MAX), columns)
    for row, level in zip(table, levels, strict=True):
        yield Line(text=row, level=level)
    if more := len(run.tests) - len(shown):
        yield Line(text=f"+{more} tests: --full")


def _tiles(run: RunSummary, columns: int) -> list[str]:
    """Two tiles a line where they fit, those of the first slots; of a slot that several tests have, the first."""
    tiles: dict[str, tuple[str, str]] = {}
    for test in run.tests:
        for tile in test.tiles:
            if (shown := _shown(test, tile)) and tile.slot not in tiles:
                tiles[tile.slot] = (_cut(text(tile.title), _TITLE_COLUMNS), shown)
    ordered = [tiles[slot] for slot in SLOTS if slot in tiles][:_TILES_MAX]
    pairs = [ordered[place : place + 2] for place in range(0, len(ordered), 2)]
    lines = [*_aligned([tuple(part for tile in pair for part in tile) for pair in pairs])]
    return lines if all(len(line) <= columns for line in lines) else [*_aligned(ordered)]


def _shown(test: TestSummary, tile: Tile) -> str:
    """The number of a tile, what it goes on to, and its range over rounds."""
    first = test.measure(tile.value)
    if first is None or first.value is None:
        return ""
    if tile.then is not None:
        return f"{_number(first)} -> {_number(test.measure(tile.then))}"
    return f"{_number(first)}{_range(first)}"


def _range(measure: Measure) -> str:
    """Least and greatest round in the digits of the number; none of times, whose unit follows their size."""
    if measure.extremes is None or measure.unit == "ms":
        return ""
    least, most = (si(float(value)) for value in measure.extremes)
    return f" ({least}-{most})" if least != most else ""


def _number(measure: Measure | None) -> str:
    """A number with its unit; n/a where there is none."""
    result = quantity(measure.value, measure.unit) if measure else None
    return text(result) if result else NOT_AVAILABLE


def _caveats(run: RunSummary, most: int, columns: int) -> Iterator[Line]:
    """Caveats in so many lines, the last of which says how many more there are."""
    fits = run.caveats if len(run.caveats) <= most else run.caveats[: max(most - 1, 0)]
    for fit in fits:
        yield Line(text=_cut(paragraph(text(fit.said)), columns), level=fit.level)
    if more := len(run.caveats) - len(fits):
        yield Line(text=f"+{count_label(more, 'caveat')}: --full")


def _held(run: RunSummary) -> Iterator[Line]:
    if held := run.held:
        level: Level = "bad" if held.missed else "warn" if held.undecided else "good"
        said = coded("held", met=held.met, missed=held.missed, undecided=held.undecided)
        yield Line(text=text(said), level=level)


def _aligned(rows: Sequence[tuple[str, ...]], columns: int | None = None) -> Iterator[str]:
    """Cells under each other. columns : that a row may take; the second of its cells is cut."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    if columns is not None:
        others = sum(width + 2 for index, width in enumerate(widths) if index != 1)
        widths[1] = max(min(widths[1], columns - others), _LEAST_COLUMNS)
    for row in rows:
        yield "  ".join(_cut(cell, width).ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 3]}..."


def joined(lines: Iterable[Line]) -> str:
    """The lines as plain text."""
    return "\n".join(line.text for line in lines)
