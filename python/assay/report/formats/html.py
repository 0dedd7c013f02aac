"""The screen report: one file that needs nothing else and asks the network for nothing.

Every text is escaped by the template engine; style and script are named by their hashes in the content security policy,
so that no other can run even where a text slipped through.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

from assay.procedures.run_findings import FINDINGS, SEE_FINDINGS
from assay.report.formats.anchors import slug, unique
from assay.report.formats.cells import drawn_bars, look, repeats, table_cells
from assay.report.formats.page_assets import ASSETS, inlined
from assay.report.formats.screen_figure import figure_data, screen_pictures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.first_page.front import Front
    from assay.report.formats.page_assets import PageAssets
    from assay.summary.pages.model import Block, Page, Report, Table
    from assay.summary.record import Level

    _Link = tuple[str, str]
    _Chapter = tuple[str, str, Level | None]
    _Entry = tuple[str, str, list[_Link]]
    _Head = tuple[str, list[tuple[str, Block]]]

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
    environment.filters.update(look=look, cells=table_cells, repeats=repeats, drawn_bars=drawn_bars, unbroken=_unbroken)
    environment.filters.update(compact=_is_compact, large=_large)
    pages = _with_anchors(report.pages)
    halves = [figure.figure for figure in front.figures] if front else []
    parts, appendix = _parts(pages), _appendix(report.appendix, [page.anchor for page in pages])
    text = environment.get_template("report.html.j2").render(
        report=report,
        parts=parts,
        outcomes={page.anchor: page.outcome for page in pages if page.outcome and page.part},
        contents=[*(entry for part, own in parts for entry in _entries(part, own)), *_ending(appendix)],
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


def _with_anchors(pages: tuple[Page, ...]) -> list[Page]:
    anchors = unique([*_TAKEN, *(page.anchor or slug(page.title) for page in pages)])[len(_TAKEN) :]
    return [replace(page, anchor=anchor) for page, anchor in zip(pages, anchors, strict=True)]


def _parts(pages: list[Page]) -> list[tuple[str, list[Page]]]:
    """The pages of each test, by its name; those of the whole run have an empty one."""
    return [(part, list(group)) for part, group in groupby(pages, key=lambda page: page.part)]


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


def _ending(appendix: list[_Head]) -> list[_Entry]:
    """The data in the contents."""
    below = [(blocks[0][0], head) for head, blocks in appendix if head]
    return [(DISCLOSURE, DATA, below)] if appendix else []


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
