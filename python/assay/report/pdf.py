"""The paper report: Typst sets the pages from one JSON file and the vector figures.

Fonts are shipped and system fonts ignored, so a report looks the same on every machine; texts reach Typst
as JSON strings only and are never parsed as markup. Nothing is downloaded.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import StoreError
from assay.report import typeset
from assay.report.glyphs import FONTS, REPLACEMENT, spelled_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.pages.model import Report

ASSETS = Path(__file__).parent / "assets"


def report_pdf(report: Report, pictures: Mapping[str, bytes]) -> bytes:
    r"""Set a report as landscape A4 PDF/A-2b, the same bytes each time.

    pictures : SVG text by figure name. Returns the PDF. Characters that the fonts lack are spelled out as
    ``\u{1f680}``, or stand as one mark each where the pages would not hold their numbers; where the typesetter does not
    take those of the fallback font, they are spelled out, too.
    Raises StoreError where the sheets of paper are not as many as the report's pages, or the typesetter fails.
    """
    *forms, plainest = _forms(report)
    for form in forms:
        with suppress(StoreError):
            return _typeset(form, pictures)
    return _typeset(plainest, pictures)


def _forms(report: Report) -> list[Report]:
    """The report with its texts ever plainer, those that differ: a text may cost its characters, and no report."""
    found: list[Report] = []
    for wide in (True, False):
        for mark in ("", REPLACEMENT):
            form = spelled_out(report, mark, wide=wide)
            if form not in found:
                found.append(form)
    return found


def _typeset(report: Report, pictures: Mapping[str, bytes]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="assay-report-") as folder:
        root = Path(folder)
        for name, picture in pictures.items():
            (root / f"{name}.svg").write_bytes(picture)
        (root / "report.json").write_text(json.dumps(asdict(report)), "ascii")
        (root / typeset.SOURCE).write_bytes((ASSETS / typeset.SOURCE).read_bytes())
        sheets, asked = _sheet_counts(root, report)
        verify_sheet_count(sheets, asked)
        return (root / typeset.PRODUCT).read_bytes()


def _sheet_counts(root: Path, report: Report) -> tuple[int, int]:
    """Typeset a folder in a process of its own, with this interpreter and its module path.

    Returns how many sheets it took, and how many its pages asked for.
    """
    stamp = datetime(*report.date, tzinfo=UTC).isoformat()
    arguments = [str(root), str(FONTS), json.dumps(sys.path), stamp]
    done = subprocess.run(
        [sys.executable, "-I", typeset.__file__, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        reason = f"the typesetter ended with code {done.returncode}"
        # What it says is for programmers; the command line keeps the cause of an error in a file.
        told = RuntimeError(done.stderr)
        raise StoreError(typeset.PRODUCT, reason, "render the other formats alone with assay report") from told
    sheets, asked = done.stdout.split()
    return int(sheets), int(asked)


def verify_sheet_count(sheets: int, pages: int) -> None:
    """Insist that every page of a report fits on one sheet.

    Raises StoreError where they differ. Worked: 7 sheets for 6 pages is refused.
    """
    if sheets != pages:
        reason = f"{pages} pages came out on {sheets} sheets"
        raise StoreError(typeset.PRODUCT, reason, "shorten the texts of the plan")
