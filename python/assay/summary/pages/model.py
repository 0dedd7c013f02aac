"""The nouns of a report: pages made of blocks. Every format is laid out from these and nothing else.

Everything here is plain data, so ``dataclasses.asdict`` of a report is JSON: texts are what is printed,
numbers are only found in the series of figures.

The axes of all figures, on paper and on the screen, follow one rule:

- A linear axis of values begins at zero. Where all values are within 15 % of the largest, or a box with the verdict
  stands beside, it is cut to them and its title says so; it still spans a tenth of the largest value at least, so that
  a difference of 1 % looks small. Values that are the same to 0.2 % are shown from zero, as one level.
- An axis is logarithmic where its values span nearly a decade or more (a factor of 8); where they span less, it is
  linear. Axes with labelled places of their own (block sizes, counts, nines) and those that the title of a page names
  logarithmic stay so.
- Axes of time and of rounds begin with the first point that is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.summary.record import Level


CUT_BELOW = 0.15
"""Values that differ by less than this share of the largest are shown on an axis of their own range."""
SAME_BELOW = 0.002
"""Values that differ by less than this share of the largest are one level."""
SPAN_MIN = 0.1
"""A cut axis spans this share of its largest value at least."""
LOG_FROM = 8.0
"""A logarithmic axis needs values of which the largest is so many times the smallest."""
_EDGE = 0.06


def is_close(values: Sequence[float]) -> bool:
    """Whether values differ too little to be told apart from zero on. Worked: 3,250 to 3,470 differ by 6 %."""
    if not values or min(values) <= 0:
        return False
    return SAME_BELOW <= (max(values) - min(values)) / max(values) < CUT_BELOW


def linear_range(values: Sequence[float], *, cut: bool) -> tuple[float, float]:
    """Where a linear axis begins and ends.

    Worked: 40 to 100 -> 0 to 106; 98 to 100, cut -> 93.4 to 104.6, which is a tenth of 100 and some more on each side.
    """
    low, high = min(values), max(values)
    if not cut:
        return min(low, 0.0), (1 + _EDGE) * high or 1.0
    span = max(high - low, SPAN_MIN * high)
    middle = (low + high) / 2
    half = span * (0.5 + _EDGE)
    return max(middle - half, 0.0) if low > 0 else middle - half, middle + half


HIDDEN_SHARE = 0.01
"""Share of an axis below which two lines are one to the eye."""
_HIDDEN_MAX = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One number. by : the share by which it is better, negative where it is worse; None without a ratio.

    reach : the share by which that may be off; None where it is not known. limit : the share from which it fails.
    level : of its verdict, which its colour follows. words : the verdict, behind the bar.
    """

    label: str
    by: float | None
    reach: float | None
    limit: float
    level: Level
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A drive in a row of dots.

    at : its share of the best, 1.0 of the best; None for no dot. low, high : the interval of that; None for none.
    value : in the unit of the row; None where there is none, ``words`` then says why in a word or two.
    hollow : its test is not settled. best : it is the best of its row.
    """

    at: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    words: str = ""
    hollow: bool = False
    best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DotRow:
    """A number of all drives. label : with its unit. dots : by drive. order : as printed. behind : of the last one."""

    label: str
    dots: tuple[Dot, ...]
    order: str = ""
    behind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Rows of dots on one axis of shares of the best, which is logarithmic, with a column of values per drive.

    letters : of the drives, in the order of the series of the figure. rows : from the top.
    least : where the axis begins; what is farther from the best stands at its border with its ratio.
    """

    letters: tuple[str, ...]
    rows: tuple[DotRow, ...]
    least: float


Entry = tuple[str, str]
Scale = Literal["linear", "log"]
Room = Literal["page", "box", "figure", "table", "front"]
Mode = Literal["markers", "lines", "lines+markers"]
Dash = Literal["solid", "dash", "dot", "dashdot"]
CUT_NOTE = "axis does not begin at 0"
LOG_NOTE = "log"
_NO_VALUE = frozenset({"", "-", "n/a", "N/A", "not stated", "not watched", "unknown"})
SPAN_LABEL = "Measurement window"
_DENSE = 100
"""Points of a series without lines from which on they are drawn small."""
TURNED_NOTE = "in falling order, so that high columns hide few low ones"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A titled column of (name, value) entries in the page header. levels : of entries by name, for their colour."""

    title: str
    entries: tuple[Entry, ...]
    levels: tuple[tuple[str, Level], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The standard header of every page of one test.

    form : ``1.0`` (device column and three groups of parameters) or ``2.0`` (four columns).
    dates : test and report run dates. parties : vendor, model and who tested. groups : the columns below.
    """

    form: Literal["1.0", "2.0"]
    organisation: str
    revision: str
    dates: tuple[Entry, ...]
    parties: tuple[Entry, ...]
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Shares of a whole, drawn as bars in one column of a table.

    column : where they stand. shares : one per row, 1.0 is the whole, which a line marks; None for no bar.
    """

    column: str
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of printed texts; the first column names the row.

    spanner : title over all columns but the first, or empty. notes : footnotes below the table.
    merged : columns in which a text that stands once more below itself is shown once; where the first column is one of
        them, only among the rows of one text there.
    folded : an on-screen report shows it closed at first. titled : its caption stands above it on paper, where a page
    holds several. bars : drawn beside the texts of a column; none where the table lacks it.
    marked : row and column, from 0, of cells with an asterisk, which a note explains. levels : row and column of cells
    whose colour follows a level. verdicts : columns of them that a folded row on a phone shows.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    spanner: str = ""
    notes: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    folded: bool = False
    titled: bool = False
    bars: Bars | None = None
    marked: tuple[tuple[int, int], ...] = ()
    levels: tuple[tuple[int, int, Level], ...] = ()
    verdicts: tuple[str, ...] = ()
    block: Literal["table"] = "table"

    def of_columns(self, places: Sequence[int]) -> Self:
        """The table of some of its columns. places : from 0, in the order in which they shall stand."""
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        marked = tuple((line, places.index(place)) for line, place in self.marked if place in places)
        levels = tuple((line, places.index(place), level) for line, place, level in self.levels if place in places)
        columns = tuple(self.columns[place] for place in places)
        return replace(self, columns=columns, rows=rows, marked=marked, levels=levels)


def column_levels(index: int, levels: Iterable[Level]) -> tuple[tuple[int, int, Level], ...]:
    """Levels of the cells of one column, from the first row on. Worked: good in 3 -> ``((0, 3, "good"),)``."""
    return tuple((line, index, level) for line, level in enumerate(levels))


def is_missing(text: str) -> bool:
    """Whether the text of a cell stands for no value. Worked: ``n/a`` and an empty text do."""
    return text in _NO_VALUE


def with_values(table: Table, kept: tuple[str, ...] = ()) -> Table:
    """A table without the columns that have no value in any row; the first one stays, and those of ``kept``.

    Worked: a column of ``n/a`` alone goes, one with a single number stays.
    """
    if not table.rows:
        return table
    columns = zip(*table.rows, strict=True)
    places = [
        index
        for index, (name, texts) in enumerate(zip(table.columns, columns, strict=True))
        if not index or name in kept or not all(map(is_missing, texts))
    ]
    return table.of_columns(places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A titled box of (name, value) entries; ``wide`` runs across the page instead of beside a figure.

    levels : of entries by name, for their colour.
    """

    title: str
    entries: tuple[Entry, ...]
    levels: tuple[tuple[str, Level], ...] = ()
    wide: bool = False
    block: Literal["box"] = "box"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One series of a figure; ``x`` and ``y`` have equal length.

    colour : index of its colour and its marker in ``assay.report.drawing``.
    label : the legend text; empty keeps it out of the legend.
    filled : the area between the line and the x axis is filled. mark : a large point in a colour that no series has.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: int
    mode: Mode = "lines+markers"
    dash: Dash = "solid"
    filled: bool = False
    mark: bool = False

    @property
    def dense(self) -> bool:
        """Whether its points are so many that large ones would be one blot."""
        return self.mode == "markers" and len(self.x) > _DENSE

    @classmethod
    def through(
        cls, points: Sequence[tuple[float, float]], label: str, colour: int, mode: Mode = "lines+markers"
    ) -> Self:
        """A series through points; one that has none says n/a in the legend.

        Worked: no point and the label ``MRT`` -> ``"MRT n/a"``.
        """
        shown = label if points or not label else f"{label} n/a"
        return cls(label=shown, x=tuple(x for x, _ in points), y=tuple(y for _, y in points), colour=colour, mode=mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """Fields of colour over a plane, on a logarithmic colour scale.

    x_edges, y_edges : ascending, one more than there are columns and rows. rows : lowest first; a value above zero, or
    None for an empty field. texts : what stands in the fields, like ``rows``; empty for none.
    reach : the values are ratios, the middle of the scale is 1, and its ends are so many times from that; 0: they are
    none.
    """

    x_edges: tuple[float, ...]
    y_edges: tuple[float, ...]
    rows: tuple[tuple[float | None, ...], ...]
    colour_title: str
    texts: tuple[tuple[str, ...], ...] = ()
    reach: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot as data.

    name : file name stem of its vector picture, unique within a report.
    kind : ``lines`` (points and lines in a plane), ``bars`` (a bar from zero per point), ``columns`` (a column per
        point: x and y of a series are the column's place on the x axis and its height, the series' own place is on the
        z axis), ``heat``, which has no series but ``heat``, ``dots``, a series per drive and ``dots``, or ``changes``.
    alt : one sentence for readers who cannot see it. aspect : width over height on paper.
    room : what it shares its page with; its legend goes below where it shares it. Beside a ``box`` its y axis is cut
        to the values; with a ``table`` it is drawn lower on paper, in letters of the same size; on the ``front`` it is
        small, in letters that can be read there.
    rounds : the x axis counts rounds, so only whole numbers are labelled.
    ticks, y_ticks : labelled places on the axes; empty leaves them to the renderer.
    span : a part of the x axis that is shaded, the measurement window; None for none.
    x_range : where the x axis begins and ends; None leaves it to the renderer. y_least : where the y axis begins.
    log_named : the title of its page says that its y axis is logarithmic, so that it is, whatever its values span.
    y_most : the largest value that it has room for, so that several figures have one scale; None takes its own.
    by_amount : the x axis counts bytes written, which says something else of drives of other capacities.
    reading : for a reader who never saw the specification: what it asks, how it was measured, how it is read.
    """

    name: str
    kind: Literal["lines", "bars", "columns", "heat", "dots", "changes"]
    alt: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    z_title: str = ""
    legend_title: str = ""
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    rounds: bool = False
    ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    x_range: tuple[float, float] | None = None
    span: tuple[float, float] | None = None
    y_least: float | None = None
    y_most: float | None = None
    by_amount: bool = False
    aspect: float = 1.95
    room: Room = "page"
    log_named: bool = False
    reading: str = ""
    heat: Heat | None = None
    dots: Dots | None = None
    changes: tuple[Change, ...] = ()
    block: Literal["figure"] = "figure"

    @property
    def y_values(self) -> list[float]:
        """Every value along the y axis."""
        return [y for one in self.series for y in one.y]

    @property
    def covered(self) -> frozenset[int]:
        """Places of the series that later ones hide, drawn wider; none where they are many, as a blot.

        Worked: lines of 6.30 and 6.31 ms over the same rounds, on an axis up to 32 -> the first.
        """
        if self.kind != "lines" or self.y_drawn_scale == "log" or not self.y_values:
            return frozenset()
        near = (self.y_range[1] - self.y_range[0]) * HIDDEN_SHARE
        lines = [(index, line) for index, line in enumerate(self.series) if line.mode == "lines+markers"]
        hidden = {
            index
            for (index, line), (_, other) in combinations(lines, 2)
            if line.x == other.x and all(abs(y - its) < near for y, its in zip(line.y, other.y, strict=True))
        }
        return frozenset(hidden) if len(hidden) <= _HIDDEN_MAX else frozenset()

    @property
    def legend_order(self) -> tuple[int, ...]:
        """Places of the series as a legend lists them: under one title as the lines end, the highest first.

        Worked: lines that end at 10, 300 and 2,000 -> 2, 1, 0; close to each other at 2,630 and 2,635 -> 0, 1.
        """
        places = range(len(self.series))
        ends = [line.y[-1] if line.y else 0.0 for line in self.series]
        apart = min(ends, default=0.0) < (1 - CUT_BELOW) * max(ends, default=0.0)
        if self.kind != "lines" or not self.legend_title or not apart:
            return tuple(places)
        return tuple(sorted(places, key=lambda place: -ends[place]))

    @property
    def y_drawn_scale(self) -> Scale:
        """How the y axis is drawn, by the rule of the axes. Worked: 1.9 to 3.1 ms asked for ``log`` -> linear."""
        values = self.y_values
        decade = bool(values) and min(values) > 0 and max(values) / min(values) >= LOG_FROM
        return self.y_scale if self.y_ticks or self.log_named or decade else "linear"

    @property
    def cut(self) -> bool:
        """Whether a linear y axis begins at its values, by the rule of the axes; never where figures share a scale.

        Worked: values from 3,250 to 3,470 differ by 6 %, so that the axis is cut.
        """
        values = self.y_values
        linear = self.kind == "lines" and self.y_drawn_scale == "linear" and self.y_most is None
        if not linear or not values or min(values) <= 0:
            return False
        return self.room == "box" or is_close(values)

    @property
    def y_range(self) -> tuple[float, float]:
        """Where a linear y axis begins and ends."""
        room = [] if self.y_most is None else [self.y_most]
        return linear_range([*self.y_values, *room], cut=self.cut)

    @property
    def x_label(self) -> str:
        """What is written at the x axis: its title, and whether it is cut or logarithmic.

        One of time begins with what is shown.
        """
        if self.x_scale == "log":
            return f"{self.x_title} ({LOG_NOTE})"
        begins = self.x_range[0] if self.x_range and self.x_scale == "linear" else 0
        timed = self.x_title.lower().startswith(("time", "minutes", "hours", "seconds"))
        return f"{self.x_title} ({CUT_NOTE})" if begins > 0 and not timed else self.x_title

    @property
    def y_label(self) -> str:
        """What is written at the y axis: its title, and whether it is cut or logarithmic."""
        if self.y_drawn_scale == "log":
            return f"{self.y_title} ({LOG_NOTE})"
        return f"{self.y_title} ({CUT_NOTE})" if self.cut else self.y_title

    @property
    def highest_left(self) -> bool:
        """Whether the columns are lower towards the end of the x axis, which then is the nearer one."""
        pairs = [(one.y[0], one.y[-1]) for one in self.series if one.y]
        return sum(first for first, _ in pairs) >= sum(last for _, last in pairs)

    @property
    def highest_first(self) -> bool:
        """Whether the first series is the higher one, so that it stands behind and the order is turned."""
        return bool(self.series) and sum(self.series[0].y) > sum(self.series[-1].y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]
    block: Literal["text"] = "text"


Block = Table | Box | Figure | Text


def figure_or_reason(figure: Figure | None, reason: str) -> Figure | Text:
    """A figure, or why there is none. Worked: None, and ``"no I/O completed"`` -> ``"n/a: no I/O completed"``."""
    return figure or Text(paragraphs=(f"n/a: {reason}",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One printed page.

    header : that of the specification; None where the report's title and ``facts`` stand instead.
    place : its number in the report, ``7 of 26`` for the pages of the specification, ``A1`` for those behind, of which
    each sheet of paper has a number of its own.
    banner : what a reader must know before any number on the page, or None. notice : likewise, of some of the numbers.
    columns : blocks side by side in columns of equal width, below ``blocks``.
    runs_on : on paper its tables take as many sheets as they need, and the next such page begins on the last of them.
    chapter : where a test or another part of the report begins, the name that tables of all tests have for it.
    part : the test that the page belongs to, as contents print it; empty for pages of the whole run.
    outcome : how that test came out, on the first of its pages; level : of that.
    anchor : its address in the report on the screen; empty leaves it to the renderer.
    """

    title: str
    subtitle: str
    header: Header | None
    banner: str | None
    blocks: tuple[Block, ...]
    columns: tuple[tuple[Block, ...], ...] = ()
    runs_on: bool = False
    notice: str = ""
    place: str = ""
    chapter: str = ""
    part: str = ""
    outcome: str = ""
    level: Level | None = None
    anchor: str = ""

    @property
    def all_blocks(self) -> tuple[Block, ...]:
        """The blocks across the page, then those of each column."""
        return (*self.blocks, *(block for column in self.columns for block in column))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole report.

    label : how far the run conforms, printed on each page. facts : of a report whose pages have no header, below its
    title. colophon : tool and run, printed beside it.
    date : year, month, day, hour, minute, second of the report in UTC, fixed at the first rendering.
    pages : the printed pages. disclosure : what stands behind the numbers, as further printed pages.
    appendix : the same as blocks for the on-screen form, with more detail.
    """

    title: str
    label: str
    colophon: str
    date: tuple[int, int, int, int, int, int]
    pages: tuple[Page, ...]
    facts: str = ""
    disclosure: tuple[Page, ...] = ()
    appendix: tuple[Block, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures of the pages in their order."""
        return _figures(block for page in self.pages for block in page.blocks)

    @property
    def printed_figures(self) -> tuple[Figure, ...]:
        """The figures of all printed pages, with the disclosure."""
        return (*self.figures, *_figures(block for page in self.disclosure for block in page.blocks))

    @property
    def screen_figures(self) -> tuple[Figure, ...]:
        """The figures on the screen: of the pages of the specification and of the appendix."""
        return (*self.figures, *_figures(self.appendix))


def _figures(blocks: Iterable[Block]) -> tuple[Figure, ...]:
    return tuple(block for block in blocks if isinstance(block, Figure))


# What a subtitle prints of a result or a demand: it is no part of the place's name.
_VALUE = re.compile(r"\w+=\S+( [mun]?s\b)?")


def slug(text: str) -> str:
    """Turn a text into a word for addresses. Worked: ``"ART, 4 KiB"`` is ``art-4-kib``."""
    return "-".join(re.findall(r"[a-z0-9]+", _VALUE.sub("", text).lower())) or "place"


def unique(wanted: Iterable[str]) -> list[str]:
    """The names, each once. Worked: ``["a", "a"]`` gives ``["a", "a-2"]``."""
    given: list[str] = []
    for name in wanted:
        numbered = (f"{name}-{number}" for number in range(2, len(given) + 3))
        given.append(name if name not in given else next(one for one in numbered if one not in given))
    return given
