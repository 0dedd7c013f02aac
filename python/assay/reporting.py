"""Renders the report of a run folder into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report import render
from assay.store.read import fix_report_date, read_run

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from assay.report import Format

REPORT_FOLDER = "report"


def render_run(folder: Path, formats: Collection[Format]) -> list[Path]:
    """Render a run folder's report in these formats; every further rendering is byte-identical.

    Returns the paths written. Raises StoreError and VerificationError.
    """
    run = read_run(folder, histograms=True)
    fix_report_date(folder, run)
    return render(run, folder / REPORT_FOLDER, formats=formats)
