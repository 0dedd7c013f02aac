"""The nouns of a report: pages made of blocks. Every format is laid out from these and nothing else.

Everything here is plain data, so ``dataclasses.asdict`` of a report is JSON: texts are what is printed,
numbers are only found in the series of figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Entry = tuple[str, str]
Scale = Literal["linear", "log"]
Mode = Literal["markers", "lines", "lines+markers"]
Dash = Literal["solid", "dash", "dot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A titled column of (name, value) entries in the page header."""

    title: str
    entries: tuple[Entry, ...]


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
class Table:
    """A table of printed texts; the first column names the row.

    spanner : title over all columns but the first, or empty. notes : footnotes below the table.
    folded : an on-screen report shows it closed at first.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    spanner: str = ""
    notes: tuple[str, ...] = ()
    folded: bool = False
    block: Literal["table"] = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A titled box of (name, value) entries; ``wide`` runs across the page instead of beside a figure."""

    title: str
    entries: tuple[Entry, ...]
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

    colour : index into ``assay.pages.palette``, which also gives the marker.
    label : the legend text; empty keeps it out of the legend.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: int
    mode: Mode = "lines+markers"
    dash: Dash = "solid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot as data.

    name : file name stem of its vector picture, unique within a report.
    kind : ``lines`` (points and lines in a plane) or ``columns`` (a column per point: x and y of a series are
        the column's place on the x axis and its height, the series' own place is on the z axis).
    alt : one sentence for readers who cannot see it. aspect : width over height on paper.
    narrow : it shares its page with a box, so its legend goes below and its y axis is cut to the values.
    beside : it shares its page with another figure, so its legend goes below.
    rounds : the x axis counts rounds, so only whole numbers are labelled.
    ticks, y_ticks : labelled places on the axes; empty leaves them to the renderer.
    """

    name: str
    kind: Literal["lines", "columns"]
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
    aspect: float = 1.95
    narrow: bool = False
    beside: bool = False
    block: Literal["figure"] = "figure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]
    block: Literal["text"] = "text"


Block = Table | Box | Figure | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One printed page.

    place : its number in the report, ``7 of 26`` for the pages of the specification, ``A1 of A4`` for those behind.
    banner : what a reader must know before any number on the page, or None.
    columns : blocks side by side in columns of equal width, below ``blocks``.
    part : the test that the page belongs to, as contents print it; empty for pages of the whole run.
    anchor : its address in the report on the screen; empty leaves it to the renderer.
    """

    title: str
    subtitle: str
    header: Header
    banner: str | None
    blocks: tuple[Block, ...]
    columns: tuple[tuple[Block, ...], ...] = ()
    place: str = ""
    part: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole report.

    label : how far the run conforms, printed on each page. colophon : tool and run, printed beside it.
    date : year, month, day, hour, minute, second of the report in UTC, fixed at the first rendering.
    pages : the printed pages. disclosure : what stands behind the numbers, as further printed pages.
    appendix : the same as blocks for the on-screen form, with more detail.
    """

    title: str
    label: str
    colophon: str
    date: tuple[int, int, int, int, int, int]
    pages: tuple[Page, ...]
    disclosure: tuple[Page, ...] = ()
    appendix: tuple[Block, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures in page order."""
        return tuple(block for page in self.pages for block in page.blocks if isinstance(block, Figure))


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """A table of values by rows; ``name`` is the stem of its file and the name of its sheet."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
