"""Finds on the pages of a rendered report what a reader would trip over: by the glyphs of the PDF and the SVG texts."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.first_page.front import Paper
    from assay.summary.pages.model import Figure, Page

FONT_PT_MIN = 7.0
BLANK_SHARE_MAX = 0.4
UNKNOWN_MAX = 5
"""The word stands once for the parties of a header and once for each of its four groups."""
FURTHER = ", further"
"""Behind the name of a part of the front, of its sheets behind the first one."""
OVERLAP_PT = 0.8
EDGE_PT = 14.0
_SVG = "{http://www.w3.org/2000/svg}"
_RAW_KEY = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b")
_NAMES = {"io_uring"}
"""Words with an underscore that are names of something outside."""
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,.]*\d(?![\w-])")
_SOFT_BREAK = "\u200b"
_TURN = 0.02
_AXES = re.compile(r"M([\d.]+) [\d.]+V([\d.]+)H")
"""The path of both axes: down the left one, then along the one across."""
_HEIGHT = re.compile(r"\d[\d,.]*")
Box = tuple[float, float, float, float]
Glyph = tuple[str, Box, float, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault. rule : ``overlap``, ``edge``, ``small``, ``split``, ``blank``, ``key``, ``unknown``.

    sheet : from 1. page : the place of the page that it is a part of, or the name of a part of the front.
    """

    sheet: int
    rule: str
    what: str
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Glyphs without a space between them.

    box : left, bottom, right and top in points from the lower left corner. turned : it runs neither along nor up.
    """

    text: str
    box: Box
    size_pt: float
    turned: bool = False


def report_faults(pdf: bytes, paper: Paper) -> list[Fault]:
    """Every fault on the sheets of a report; those of the front each by itself."""
    document = PdfDocument(pdf)
    sheets = {number: document[number - 1] for number in range(1, len(document) + 1)}
    lines = {number: _lines(sheet) for number, sheet in sheets.items()}
    faults: list[Fault] = []
    for name, own in front_sheets(document, paper):
        for number in own:
            page_name = name if number == own[0] else f"{name}{FURTHER}"
            faults += [replace(fault, page=page_name) for fault in sheet_faults(number, sheets[number])]
    for page, own in own_sheets(document, paper):
        printed = [line for number in own for line in lines[number]]
        found = {"split": split_numbers(page, printed), "unknown": unknowns(page, printed)}
        faults += [replace(fault, page=page.place) for number in own for fault in sheet_faults(number, sheets[number])]
        faults += [
            Fault(page=page.place, sheet=own[0], rule=rule, what=what)
            for rule, whats in found.items()
            for what in whats
        ]
    return faults


def front_names(paper: Paper) -> list[str]:
    """The parts of the front as the outline names them; none of a report without tests."""
    if paper.front is None:
        return []
    tests = [] if paper.front.alone else [", ".join(one.labels) for one in paper.front.tests]
    return ["Summary", *tests, "Method"]


def front_sheets(document: PdfDocument, paper: Paper) -> Iterator[tuple[str, range]]:
    """The numbers of the sheets of each part of the front by its name."""
    return zip(front_names(paper), _spans(document), strict=False)


def own_sheets(document: PdfDocument, paper: Paper) -> Iterator[tuple[Page, range]]:
    """The numbers of the sheets of each page behind the front."""
    pages = (*paper.report.pages, *paper.report.disclosure)
    return zip(pages, _spans(document)[len(front_names(paper)) :], strict=True)


def _spans(document: PdfDocument) -> list[range]:
    """The numbers of sheets from each entry of the outline to the next."""
    starts = [entry.get_dest().get_index() + 1 for entry in document.get_toc()]
    return list(map(range, starts, [*starts[1:], len(document) + 1]))


def sheet_faults(number: int, sheet: Any) -> Iterator[Fault]:
    """Every fault that one sheet shows by itself."""
    words = words_of(sheet)
    found = {
        "overlap": overlaps(words),
        "edge": [word.text for word in words if not _inside(word, sheet.get_size())],
        "small": small(words),
        "blank": blank(sheet),
        "key": [key for word in words for key in _RAW_KEY.findall(word.text) if key not in _NAMES],
    }
    return (Fault(sheet=number, rule=rule, what=what) for rule, whats in found.items() for what in whats)


def overlaps(words: list[Word]) -> list[str]:
    """Pairs of words that cover each other."""
    ordered = sorted(words, key=lambda word: word.box[0])
    found = []
    for place, one in enumerate(ordered):
        for other in ordered[place + 1 :]:
            if other.box[0] > one.box[2] - OVERLAP_PT:
                break
            turned = one.turned and other.turned
            if not turned and min(one.box[3], other.box[3]) - max(one.box[1], other.box[1]) > OVERLAP_PT:
                found.append(f"{one.text} / {other.text}")
    return found


def small(words: list[Word]) -> list[str]:
    """The smallest text of a sheet where it is too small, with its size."""
    sizes = [(word.size_pt, word.text) for word in words if word.size_pt < FONT_PT_MIN - 0.01]
    return [f"{size:.2f} pt: {text}, {len(sizes)} words" for size, text in sorted(sizes)[:1]]


def blank(sheet: Any) -> list[str]:
    """The highest band of a sheet that holds nothing, where it is too high."""
    pixels = sheet.render(scale=0.5, grayscale=True).to_numpy()
    rows = pixels.reshape(pixels.shape[0], -1)
    inked = [place for place, row in enumerate(rows) if row.min() < 250]
    widest = max((after - before for before, after in pairwise([0, *inked, len(rows)])), default=len(rows))
    share = widest / len(rows)
    return [f"{share:.0%} in one piece"] if share > BLANK_SHARE_MAX else []


def split_numbers(page: Page, lines: list[str]) -> list[str]:
    """Numbers of the page's texts that stand on no line of the sheet in one piece."""
    whole = "\n".join(lines)
    tokens = {token for text in _texts(page) for token in _NUMBER.findall(text)}
    return sorted(token for token in tokens if token not in whole)


def unknowns(page: Page, lines: list[str]) -> list[str]:
    """How often the header says unknown, where that is too often."""
    header = "\n".join(lines).partition(page.subtitle)[0]
    count = len(re.findall(r"\bunknown\b", header))
    return [f"{count} times"] if count > UNKNOWN_MAX else []


def nameless_gaps(figure: Figure) -> list[str]:
    """The legend entries of curves without a point that do not say so."""
    return [one.label for one in figure.series if one.label and not one.x and not one.label.endswith("n/a")]


def few_ticks(figure: Figure, svg: bytes) -> list[str]:
    """The axes of a drawn figure with fewer than two labels.

    An axis of one round has one label, and so has each group of bars. The three axes of columns are counted as one.
    """
    root = ET.fromstring(svg)  # noqa: S314 - drawn by ourselves
    if figure.kind == "columns":
        needed = {"x": len(figure.ticks) + len(figure.series) + 2, "y": 0}
        labels = {"x": _labels_of_columns(figure, root), "y": []}
    else:
        needed = {"x": 1 if _one_round(figure) else 2, "y": 2}
        labels = _tick_labels(root)
    return [f"{figure.name}: {axis} axis {labels[axis]}" for axis in "xy" if len(labels[axis]) < needed[axis]]


def _one_round(figure: Figure) -> bool:
    return figure.rounds and len({x for one in figure.series for x in one.x}) < 2


def _tick_labels(root: ET.Element) -> dict[str, list[str]]:
    """The texts that end left of the upward axis, and those in the first line below the axis across."""
    (axes,) = (_AXES.match(one.get("d", "")) for one in root.iter(f"{_SVG}path") if one.get("class") == "a")
    assert axes is not None
    left, ground = float(axes[1]), float(axes[2])
    below = [one for one in root.iter(f"{_SVG}text") if _at(one)[1] > ground and one.get("text-anchor") == "middle"]
    first = min((_at(one)[1] for one in below), default=0)
    beside = (one for one in root.iter(f"{_SVG}text") if _at(one)[0] < left and one.get("text-anchor") == "end")
    return {
        "x": [one.text or "" for one in below if _at(one)[1] == first],
        "y": [one.text or "" for one in beside],
    }


def _labels_of_columns(figure: Figure, root: ET.Element) -> list[str]:
    """The names of columns and of series, and the numbers that end left of the upward axis."""
    named = {tick.label for tick in figure.ticks} | {one.label for one in figure.series}
    texts = [(one.text or "", one.get("text-anchor")) for one in root.iter(f"{_SVG}text")]
    return [words for words, anchor in texts if words in named or (anchor == "end" and _HEIGHT.fullmatch(words))]


def _at(text: ET.Element) -> tuple[float, float]:
    return float(text.get("x", "nan")), float(text.get("y", "nan"))


def _inside(word: Word, size: tuple[float, float]) -> bool:
    left, bottom, right, top = word.box
    return min(left, bottom, size[0] - right, size[1] - top) >= EDGE_PT


def words_of(sheet: Any) -> list[Word]:
    """The words of a sheet in the order in which they are drawn."""
    text = sheet.get_textpage()
    words: list[Word] = []
    open_word: list[Glyph] = []
    for place in range(text.count_chars() + 1):
        glyph = _glyph(text, place) if place < text.count_chars() else None
        if open_word and (glyph is None or _next_line(open_word[-1], glyph)):
            words.append(_joined(open_word))
            open_word = []
        if glyph is not None:
            open_word.append(glyph)
    return words


def _glyph(text: Any, place: int) -> Glyph | None:
    shown = chr(pdfium.FPDFText_GetUnicode(text, place))
    if shown.isspace() or shown == _SOFT_BREAK or pdfium.FPDFText_IsGenerated(text, place) == 1:
        return None
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text, place, ctypes.byref(matrix))
    size_pt = pdfium.FPDFText_GetFontSize(text, place) * float((matrix.c**2 + matrix.d**2) ** 0.5)
    return shown, text.get_charbox(place), size_pt, min(abs(matrix.c), abs(matrix.d)) > _TURN


def _next_line(one: Glyph, other: Glyph) -> bool:
    """Whether a glyph begins the next line: what is broken at a hyphen is read as one word."""
    return not one[3] and other[1][3] < one[1][1] and other[1][0] < one[1][0] - other[2]


def _joined(glyphs: list[Glyph]) -> Word:
    lefts, bottoms, rights, tops = zip(*(box for _, box, _, _ in glyphs), strict=True)
    return Word(
        text="".join(shown for shown, _, _, _ in glyphs),
        box=(min(lefts), min(bottoms), max(rights), max(tops)),
        size_pt=min(size for _, _, size, _ in glyphs),
        turned=any(turned for *_, turned in glyphs),
    )


def _lines(sheet: Any) -> list[str]:
    text: str = sheet.get_textpage().get_text_range()
    return text.replace(_SOFT_BREAK, "").splitlines()


def _texts(value: Any) -> Iterator[str]:
    """Every text of the blocks of a page."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _texts(part)
    elif value is not None and getattr(value, "block", "") != "figure":
        for name in ("blocks", "columns", "entries", "rows", "notes"):
            yield from _texts(getattr(value, name, ()))
        yield from getattr(value, "paragraphs", ())
