"""The paper report: Typst sets the pages from one JSON file and the vector figures.

Fonts are shipped and system fonts ignored, so a report looks the same on every machine; texts reach Typst
as JSON strings only and are never parsed as markup. Nothing is downloaded.

DejaVu has Latin, Greek, Cyrillic, Hebrew, Arabic and symbols; on paper Droid Sans Fallback has Chinese, Japanese and
Korean besides. Figures are drawn in DejaVu alone. Characters that the fonts lack are spelled out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unicodedata
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from assay.errors import StoreError
from assay.report import drawing
from assay.report.drawing import Size
from assay.report.first_page.front import TestPage
from assay.report.first_page.page import Parameter
from assay.report.formats import typeset
from assay.report.formats.cells import drawn_bars, entry_looks, repeats, table_cells
from assay.summary.pages.model import Box, Figure, Group, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.report.first_page.front import Paper


T = TypeVar("T")

FONTS = Path(__file__).parents[1] / "assets/fonts"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def spelled_out(value: T, mark: str = "", *, wide: bool = False) -> T:
    r"""Write every character that the fonts lack as its number, in a text or in all texts of a page, figure or report.

    mark : what stands for each of them instead, where numbers take too much space. wide : the fonts of paper.
    Worked: ``spelled_out("A \u6771")`` is ``"A \\u{6771}"``.
    """
    if isinstance(value, str):
        if value.isascii() and value.isprintable():
            return value
        spelled = (one if _is_known(one, wide=wide) else mark or f"\\u{{{ord(one):x}}}" for one in value)
        return "".join(spelled)  # type: ignore[return-value]
    if isinstance(value, tuple):
        # The values of a series are many, and none of them is a text.
        if value and isinstance(value[0], float | int):
            return value
        return tuple(spelled_out(part, mark, wide=wide) for part in value)  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: spelled_out(getattr(value, part.name), mark, wide=wide) for part in fields(value)}
        return replace(value, **parts)
    return value


@cache
def _is_known(character: str, *, wide: bool) -> bool:
    known = ord(character) in _characters("DejaVu*.ttf") or (wide and ord(character) in _characters("Droid*.ttf"))
    return known and not unicodedata.category(character).startswith("C")


@cache
def _characters(names: str) -> frozenset[int]:
    """What every shipped font of these names has a glyph for."""
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - only those who draw pay for it

    characters: list[frozenset[int]] = []
    for path in sorted(FONTS.glob(names)):
        with TTFont(path, lazy=True) as font:
            characters.append(frozenset(font.getBestCmap()))
    return frozenset.intersection(*characters)


_HEIGHT_PT = {"lines": 374, "bars": 374, "columns": 430, "heat": 374}
_LOW_PT, _SMALL_WIDTH_PT = 180, 385
"""A small picture is as wide as half of a sheet, so that its letters are as large there."""
_LETTERS, _SMALL_LETTERS = 10.5, 8.0
_DOTS_WIDTH_PT, _DOTS_LETTERS = 780, 9.0


def figure_svg(figure: Figure) -> bytes:
    """Draw a figure as an SVG file, UTF-8, without a date: equal for equal figures."""
    return drawing.figure_svg(spelled_out(figure), _size(figure), paper=True).encode("utf-8")


def _size(figure: Figure) -> Size:
    """In points. Worked: a figure of its own page with an aspect of 2 -> 748 x 374."""
    if figure.dots or figure.changes:
        return Size(width=_DOTS_WIDTH_PT, height=0, letters=_DOTS_LETTERS, beside=False, grows=True)
    if figure.room == "front":
        height = _SMALL_WIDTH_PT / figure.aspect
        return Size(width=_SMALL_WIDTH_PT, height=height, letters=_SMALL_LETTERS, beside=False)
    low = figure.room == "table"
    height, letters = (_LOW_PT, _SMALL_LETTERS) if low else (_HEIGHT_PT[figure.kind], _LETTERS)
    return Size(width=height * figure.aspect, height=height, letters=letters)


ASSETS = Path(__file__).parents[1] / "assets"


def report_pdf(paper: Paper, pictures: Mapping[str, bytes], begun: Typesetting | None = None) -> bytes:
    r"""Set a report as landscape A4 PDF/A-2b, the same bytes each time.

    pictures : SVG text by figure name. begun : of the same report, where it was begun before. Returns the PDF.
    Characters that the fonts lack are spelled out as ``\u{1f680}``, or stand as one mark each where the pages would not
    hold their numbers; where the typesetter does not take those of the fallback font, they are spelled out, too.
    Raises StoreError where the sheets of paper are not as many as the report's pages, or the typesetter fails.
    """
    try:
        return _finished(begun or begin(paper), pictures)
    except StoreError:
        forms = _plainer_forms(paper)
        if not forms:
            raise
    for form in forms[:-1]:
        with suppress(StoreError):
            return _finished(Typesetting(form), pictures)
    return _finished(Typesetting(forms[-1]), pictures)


def begin(paper: Paper) -> Typesetting:
    """Begin to set a report; to be closed."""
    return Typesetting(spelled_out(paper, wide=True))


def _plainer_forms(paper: Paper) -> list[Paper]:
    """The report with its texts ever plainer, those that differ: a text may cost its characters, and no report."""
    forms = [spelled_out(paper, wide=True)]
    for wide, mark in ((True, REPLACEMENT), (False, ""), (False, REPLACEMENT)):
        form = spelled_out(paper, mark, wide=wide)
        if form not in forms:
            forms.append(form)
    return forms[1:]


class Typesetting:
    """A report on its way to paper: a process lays out its texts while its figures are still being drawn."""

    def __init__(self, paper: Paper) -> None:
        """Begin with the texts of a report, in which each character can be set. To be closed."""
        shown = replace(paper.report, appendix=())
        self._folder = tempfile.TemporaryDirectory(prefix="assay-report-")
        self._root = Path(self._folder.name)
        texts = json.dumps({**_printed(shown), "front": _printed(paper.front)})
        for folder in (self._root, self._root / typeset.DRAFT):
            folder.mkdir(exist_ok=True)
            (folder / "report.json").write_text(texts, "ascii")
            for name in typeset.SOURCES:
                (folder / name).write_bytes((ASSETS / name).read_bytes())
        for figure in paper.figures:
            (self._root / typeset.DRAFT / f"{figure.name}.svg").write_text(typeset.NO_PICTURE, "ascii")
        self._process = _started(self._root, datetime(*shown.date, tzinfo=UTC))

    def supply(self, pictures: Mapping[str, bytes]) -> None:
        """Give the process its pictures, so that it sets the report while the caller does something else."""
        for name, picture in pictures.items():
            (self._root / f"{name}.svg").write_bytes(picture)
        # The end of its input is what the process waits for.
        if self._process.stdin:
            self._process.stdin.close()
            self._process.stdin = None

    def finish(self, pictures: Mapping[str, bytes]) -> bytes:
        """Set the report with its pictures, if they were not supplied; the PDF. Raises StoreError as ``report_pdf``."""
        if self._process.stdin:
            self.supply(pictures)
        output, errors = self._process.communicate()
        if self._process.returncode != 0:
            reason = f"the typesetter ended with code {self._process.returncode}"
            # What it says is for programmers; the command line keeps the cause of an error in a file.
            cause = RuntimeError(errors)
            raise StoreError(typeset.PRODUCT, reason, "render the other formats alone with assay report") from cause
        sheets, asked = output.split()
        verify_sheet_count(int(sheets), int(asked))
        return (self._root / typeset.PRODUCT).read_bytes()

    def close(self) -> None:
        """End the process and remove its folder; a second time does nothing."""
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _finished(setting: Typesetting, pictures: Mapping[str, bytes]) -> bytes:
    with setting:
        return setting.finish(pictures)


def _printed(value: Any) -> Any:
    """What stands on paper, as JSON: of a figure what is beside its picture, since the typesetter hashes all of it."""
    if isinstance(value, Figure):
        return {name: getattr(value, name) for name in ("block", "name", "alt", "reading", "aspect")}
    if isinstance(value, tuple):
        return [_printed(part) for part in value]
    if is_dataclass(value):
        shown = {part.name: _printed(getattr(value, part.name)) for part in fields(value)}
        return {**shown, **_looks(value)}
    return value


def _looks(value: Any) -> dict[str, Any]:
    """What texts of a block are to the eye, beside these."""
    if isinstance(value, Group | Box):
        return {"entries": entry_looks(value)}
    if isinstance(value, Parameter):
        return {"shared": value.shared}
    if isinstance(value, TestPage):
        return {"level": value.level}
    if isinstance(value, Table):
        looks = table_cells(value)
        return {
            "bars": drawn_bars(value),
            # A number is not parted from its unit.
            "rows": [
                [cell.text.replace(" ", "\u00a0") if "number" in cell.look else cell.text for cell in row]
                for row in looks
            ],
            "looks": [[(cell.look, cell.pad) for cell in row] for row in looks],
            "again": repeats(value),
        }
    return {}


def _started(root: Path, date: datetime) -> subprocess.Popen[str]:
    """Typeset a folder in a process of its own, with this interpreter and its module path."""
    arguments = [str(root), str(FONTS), json.dumps(sys.path), date.isoformat()]
    return subprocess.Popen(
        [sys.executable, "-I", typeset.__file__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def verify_sheet_count(sheets: int, pages: int) -> None:
    """Insist that every page of a report fits on one sheet.

    Raises StoreError where they differ. Worked: 7 sheets for 6 pages is refused.
    """
    if sheets != pages:
        reason = f"{pages} pages came out on {sheets} sheets"
        raise StoreError(typeset.PRODUCT, reason, "shorten the texts of the plan")
