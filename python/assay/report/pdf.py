"""The paper report: Typst sets the pages from one JSON file and the vector figures.

Fonts are shipped and system fonts ignored, so a report looks the same on every machine; texts reach Typst
as JSON strings only and are never parsed as markup. Nothing is downloaded.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typst

from assay.errors import VerificationError
from assay.report.glyphs import FONTS, REPLACEMENT, spelled_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.pages.model import Report

ASSETS = Path(__file__).parent / "assets"


def report_pdf(report: Report, pictures: Mapping[str, bytes]) -> bytes:
    r"""Set a report as landscape A4 PDF/A-2b, the same bytes each time.

    pictures : SVG text by figure name. Returns the PDF. Characters that the fonts lack are spelled out as
    ``\u{6771}``, or stand as one mark each where the pages would not hold their numbers.
    Raises VerificationError when the sheets of paper are not as many as the report's pages.
    """
    try:
        return _typeset(spelled_out(report), pictures)
    except VerificationError:
        marked = spelled_out(report, REPLACEMENT)
        if marked == spelled_out(report):
            raise
        return _typeset(marked, pictures)


def _typeset(report: Report, pictures: Mapping[str, bytes]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="assay-report-") as folder:
        root = Path(folder)
        for name, picture in pictures.items():
            (root / f"{name}.svg").write_bytes(picture)
        (root / "report.json").write_text(json.dumps(asdict(report)), "ascii")
        (root / "report.typ").write_bytes((ASSETS / "report.typ").read_bytes())
        compiler = typst.Compiler(root / "report.typ", root=root, font_paths=[FONTS], ignore_system_fonts=True)
        verify_sheet_count(
            int(compiler.query("<sheet-count>", field="value", one=True)), len(report.pages) + len(report.disclosure)
        )
        pdf = compiler.compile(format="pdf", pdf_standards=["a-2b"], timestamp=datetime(*report.date, tzinfo=UTC))
    if not isinstance(pdf, bytes):
        raise VerificationError("report.pdf", "the typesetter returned no document", "report this as a defect")
    return pdf


def verify_sheet_count(sheets: int, pages: int) -> None:
    """Insist that every page of a report fits on one sheet.

    Raises VerificationError where they differ. Worked: 7 sheets for 6 pages is refused.
    """
    if sheets != pages:
        raise VerificationError(
            "report.pdf", f"{pages} pages came out on {sheets} sheets", "shorten the texts of the plan"
        )
