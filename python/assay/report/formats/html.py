"""The screen report: one file that needs nothing else and asks the network for nothing.

Every text is escaped by the template engine; style and script are named by their hashes in the content security policy,
so that no other can run even where a text slipped through.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup, escape

from assay.procedures.run_findings import FINDINGS, SEE_FINDINGS
from assay.report.drawing import Size, figure_svg, screen_rules
from assay.report.formats.cells import OF_LEVEL, drawn_bars, entry_looks, repeats, table_cells
from assay.summary.pages.model import slug, unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.report.first_page.front import Front
    from assay.summary.pages.model import Block, Figure, Heat, Page, Report, Table, Tick
    from assay.summary.record import Level

    _Chapter = tuple[str, str, Level | None]
    _Entry = tuple[str, str, list[tuple[str, str]]]
    _Head = tuple[str, list[tuple[str, Block]]]


ASSETS = Path(__file__).parents[1] / "assets"
SCRIPTS = ("places.js", "figures.js", "report.js", "search.js")
"""In this order one script: what the first names the others use."""
STYLES = ("report.css", "front.css", "figures.css")
FACES = ((400, "IBMPlexSans-Regular-Latin1.woff2"), (700, "IBMPlexSans-SemiBold-Latin1.woff2"))
_UNSCRIPTED = (
    ".fold::details-content, .form::details-content, .annex::details-content "
    "{ content-visibility: visible; display: block; }"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAssets:
    """What a page needs beside its content. policy : its content security policy. head, end : elements of both ends."""

    policy: str
    head: Markup
    end: Markup


@cache
def inlined() -> PageAssets:
    """Everything in the page, which then asks the network for nothing; each part is named by its hash."""
    packed = {name: base64.b64encode((ASSETS / "fonts" / name).read_bytes()).decode("ascii") for _, name in FACES}
    fonts = "".join(_face(weight, f'url("data:font/woff2;base64,{packed[name]}")') for weight, name in FACES)
    style, script = f"{fonts}{_style()}", _script()
    styles = " ".join(map(_hashed, (style, _UNSCRIPTED)))
    return PageAssets(
        policy=_policy(styles=styles, scripts=_hashed(script), fonts="data:"),
        head=Markup(f"<style>{style}</style>\n<noscript><style>{_UNSCRIPTED}</style></noscript>"),  # noqa: S704 - ours
        end=Markup(f"<script>{script}</script>"),  # noqa: S704 - ours
    )


def linked(address: str) -> PageAssets:
    """Everything below an address of the same server, which has ``asset_files``.

    Worked: ``/assets`` -> a link to ``/assets/page.css`` and a script of ``/assets/page.js``.
    """
    return PageAssets(
        # The server's own frame around the page asks it for what has changed.
        policy=_policy(styles="'self'", scripts="'self'", fonts="'self'") + "; connect-src 'self'",
        head=Markup('<link rel="stylesheet" href="{}/page.css">').format(address),
        end=Markup('<script src="{}/page.js"></script>').format(address),
    )


def asset_files() -> dict[str, bytes]:
    """What ``linked`` pages ask for, by name."""
    faces = "".join(_face(weight, f'url("{name}")') for weight, name in FACES)
    fonts = {name: (ASSETS / "fonts" / name).read_bytes() for _, name in FACES}
    return {"page.css": f"{faces}{_style()}".encode(), "page.js": _script().encode(), **fonts}


def _style() -> str:
    return "\n".join((*map(_asset, STYLES), screen_rules()))


def _script() -> str:
    return "\n".join(map(_asset, SCRIPTS))


def _face(weight: int, address: str) -> str:
    """A font as a rule of a style sheet."""
    return f'@font-face{{font-family:"IBM Plex Sans";font-weight:{weight};src:{address} format("woff2")}}'


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8").strip()


def _policy(*, styles: str, scripts: str, fonts: str) -> str:
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; font-src {fonts}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


WIDE = Size(width=1200, height=460, letters=13, grows=True)
HALF = Size(width=560, height=320, letters=13, beside=False, grows=True)
PHONE = Size(width=350, height=270, letters=12, beside=False, grows=True)
"""In CSS pixels: over the whole of a page, one of two side by side, and on a phone."""
_DIGITS = 9


def screen_pictures(figure: Figure, *, half: bool = False) -> str:
    """The pictures of a figure, of which a style sheet shows the one that fits. half : it stands beside another."""
    desk = figure_svg(figure, HALF if half else WIDE, paper=False)
    phone = figure_svg(replace(figure, legend_title=""), PHONE, paper=False, name=f"{figure.name}-phone")
    return f'<div class="desk">{desk}</div><div class="phone">{phone}</div>'


def figure_data(figure: Figure) -> dict[str, Any]:
    """The numbers of a figure, ready for JSON: titles, then series or the fields of a heat map.

    Numbers have nine digits. labels : names of places across, by their number.
    Worked: a series of 1.5 at tick ``4`` -> ``{"x": ..., "labels": {"1": "4"}, "series": [["a", [1], [1.5]]]}``.
    """
    facts: dict[str, Any] = {"x": figure.x_label, "y": figure.y_label}
    if figure.heat:
        return {**facts, **_fields(figure, figure.heat)}
    labels = {f"{tick.at:g}": tick.label for tick in figure.ticks}
    across = {"z": figure.z_title} if figure.kind == "columns" else {}
    return {
        **facts,
        **across,
        "labels": labels,
        "series": [[one.label, _short(one.x), _short(one.y)] for one in figure.series],
    }


def _fields(figure: Figure, heat: Heat) -> dict[str, Any]:
    return {
        "value": heat.colour_title,
        "columns": _names(heat.x_edges, figure.ticks),
        "rows": _names(heat.y_edges, figure.y_ticks),
        "edges": [_short(heat.x_edges), _short(heat.y_edges)],
        "fields": [[None if value is None else _shortened(value) for value in row] for row in heat.rows],
    }


def _names(edges: tuple[float, ...], ticks: tuple[Tick, ...]) -> list[str]:
    """What each field along an axis is: the label of the tick in its middle, or from where to where it reaches."""
    labels = {tick.at: tick.label for tick in ticks}
    pairs = list(pairwise(edges))
    names = [labels.get((low + high) / 2, "") for low, high in pairs]
    return names if all(names) else [f"{low:,.4g} - {high:,.4g}" for low, high in pairs]


def _short(values: Iterable[float]) -> list[float]:
    return [_shortened(value) for value in values]


def _shortened(value: float) -> float:
    """A number with nine digits, whole where it is. Worked: 0.00035026562500000005 -> 0.000350265625."""
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short


DISCLOSURE, DATA = "disclosure", "Data"
_TAKEN = (DISCLOSURE, "summary", "method", "pts-report", "report", "figures", "findings", "caveats")
"""Addresses that no page of the specification has."""
_PLAIN_COLUMNS, _COMPACT_COLUMNS, _COMPACT_LETTERS = 3, 9, 9
_UNBROKEN = (r"\w{1,4}-\d{1,4}", r"\d[\d,.]* - \d[\d,.]*", r"[-+]?\d[\d,.]* %")
_DECIMALS = re.compile(r"\d{1,3}(?:,\d{3})+\.\d*[^5\D]")
_RANGE = re.compile(rf"(?<![\w.&;#-])({'|'.join(_UNBROKEN)})(?![\w-])")


def report_html(report: Report, front: Front | None = None, assets: PageAssets | None = None) -> bytes:
    """Lay out a report as HTML, UTF-8, the same bytes each time.

    front : the pages before those of the specification, which are then an annex; None of a report without tests.
    assets : style and script; inside the file where they are not given.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "look": OF_LEVEL.get,
        "looks": entry_looks,
        "cells": table_cells,
        "repeats": repeats,
        "drawn_bars": drawn_bars,
        "unbroken": _unbroken,
        "compact": _is_compact,
        "large": _large,
    }
    anchors = unique([*_TAKEN, *(page.anchor or slug(page.title) for page in report.pages)])[len(_TAKEN) :]
    pages = [replace(page, anchor=anchor) for page, anchor in zip(report.pages, anchors, strict=True)]
    halves = [figure.figure for figure in front.figures] if front else []
    # The pages of each test, by its name; those of the whole run have an empty one.
    parts = [(part, list(group)) for part, group in groupby(pages, key=lambda page: page.part)]
    appendix = _appendix(report.appendix, anchors)
    below = [(blocks[0][0], head) for head, blocks in appendix if head]
    data: list[_Entry] = [(DISCLOSURE, DATA, below)] if appendix else []
    text = environment.get_template("report.html.j2").render(
        report=report,
        parts=parts,
        outcomes={page.anchor: page for page in pages if page.outcome and page.part},
        contents=[*(entry for part, own in parts for entry in _entries(part, own)), *data],
        chapters=_chapters(front, has_data=bool(appendix)),
        front=front,
        # One test stands on the summary page.
        alone=front.alone if front else None,
        anchors=front.anchors if front else {},
        # Drawn by the program of the package; every text in it is escaped there.
        drawn={
            **{screen_figure.name: Markup(screen_pictures(screen_figure)) for screen_figure in report.screen_figures},  # noqa: S704
            **{halve.name: Markup(screen_pictures(halve, half=True)) for halve in halves},  # noqa: S704
        },
        data_anchor=DISCLOSURE,
        # On the pages of a test what it found comes first: a header is a fold there.
        open_form=pages[0].anchor,
        appendix=appendix,
        assets=assets or inlined(),
        figures={halve.name: figure_data(halve) for halve in (*report.screen_figures, *halves)},
    )
    return text.encode("utf-8")


def _chapters(front: Front | None, *, has_data: bool) -> list[_Chapter]:
    """The parts of a report with the level of each test; none of a report without a front."""
    if front is None:
        return []
    tests = [(test.anchor, ", ".join(test.labels), test.level) for test in front.tests if test is not front.alone]
    annexes = [("pts-report", "PTS report", None), *([(DISCLOSURE, DATA, None)] if has_data else [])]
    return [("summary", "Summary", None), *tests, ("method", "Method", None), *annexes]


def _is_compact(table: Table) -> bool:
    """Whether a matrix is a table on a phone, too. Worked: seven mixes of ``22,850.8`` at most -> True."""
    heads = (name for name in table.columns[1:])
    texts = (text for row in table.rows for text in row)
    few = _PLAIN_COLUMNS < len(table.columns) <= _COMPACT_COLUMNS
    return bool(table.spanner) and few and max(map(len, (*heads, *texts)), default=0) <= _COMPACT_LETTERS


def _unbroken(text: str) -> str:
    """The text of a cell, escaped, with no line ending inside ``1-5``, ``TP-1024``, ``3,130.7 - 3,236`` or ``9 %``.

    Where it names the list of findings it leads there.
    """
    whole = _RANGE.sub(r'<span class="whole">\1</span>', str(escape(text)))
    place = f'<a href="#{slug(f"{DISCLOSURE} {FINDINGS}")}">{SEE_FINDINGS}</a>'
    return Markup(whole.replace(SEE_FINDINGS, place))  # noqa: S704 - escaped


def _large(text: str) -> str:
    """A number from 1,000 on beside itself without decimals, for a narrow window: ``8,648.2`` with ``8,648``.

    One that ends with 5 stays as it is: what it was rounded from is not known here.
    """
    if not _DECIMALS.fullmatch(text):
        return str(escape(text))
    short = f"{Decimal(text.replace(',', '')):,.0f}"
    return Markup(f'<span class="exact" data-short="{short}">{text}</span>')  # noqa: S704 - digits alone


def _entries(part: str, pages: list[Page]) -> Iterator[_Entry]:
    """The pages of a test in the contents, or those of the whole run: under the test that several in a row begin with.

    Worked: ``WSAT: IOPS over Time`` and ``WSAT: fresh against settled`` -> both below ``WSAT``, each without it.
    """
    if part:
        yield pages[0].anchor, part, [(page.anchor, page.subtitle) for page in pages[1:]]
        return
    for head, group in groupby(pages, key=lambda page: page.subtitle.partition(": ")[0]):
        own = list(group)
        if len(own) == 1:
            yield own[0].anchor, own[0].subtitle, []
        else:
            yield "", head, [(page.anchor, page.subtitle.partition(": ")[2] or head) for page in own]


def _appendix(blocks: tuple[Block, ...], taken: list[str]) -> list[_Head]:
    """The blocks of the disclosure with their anchors, by what stands before the colon of their captions."""
    captions = [str(getattr(block, "caption", "") or getattr(block, "title", "")) for block in blocks]
    names = unique([*taken, DISCLOSURE, *(slug(f"{DISCLOSURE} {caption}") for caption in captions)])[len(taken) + 1 :]
    heads = [caption.partition(": ")[0] if ": " in caption else "" for caption in captions]
    # A figure has no caption: it belongs to the test of the table before it, as does what is named after the procedure.
    for index, caption in enumerate(captions[1:], 1):
        before = heads[index - 1]
        heads[index] = before if not caption or before.startswith(f"{heads[index]}-") else heads[index]
    listed = zip(heads, names, blocks, strict=True)
    return [(head, [one[1:] for one in group]) for head, group in groupby(listed, key=lambda one: one[0])]
