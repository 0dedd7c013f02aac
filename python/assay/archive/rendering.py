"""Renders the report of a stored run into its folder, or elsewhere."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from assay.archive.kept import REPORT_FOLDER
from assay.compare.limits.judge import held_of_plan
from assay.report import records_of_tests, render, shown_run
from assay.report.first_page.run_summary import summarise_run
from assay.report.formats.write import foreign
from assay.run.store.document import fix_report_date, has_report_date, report_date
from assay.run.store.read import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.report import Format, ShownRun
    from assay.summary.record import RunSummary


def render_run(
    folder: Path, formats: Collection[Format], *, shown: Callable[[str, int, int], None] = lambda *_: None
) -> list[Path]:
    """Render a run folder's report in these formats; every further rendering is byte-identical.

    shown : called as each format is begun, with its name, its number from 1, and their count.
    Returns the paths written. Raises StoreError and VerificationError.
    """
    return render_stored(stored_run(folder), folder, formats, shown=shown)


def stored_run(folder: Path) -> StoredRun:
    """A run folder with all that a report needs. Raises StoreError."""
    return read_run(folder, histograms=True)


def whole_run(run: StoredRun) -> ShownRun:
    """A run with all its numbers and tables. Raises as ``report.shown_run``."""
    return shown_run(run, partial(held_of_plan, run))


def run_summary(run: StoredRun, folder: Path) -> RunSummary:
    """A run as one record, with how its limits came out. Raises as ``report.shown_run``."""
    return foreign(lambda: _run_summary(run), f"run {folder}")


def _run_summary(run: StoredRun) -> RunSummary:
    reports = records_of_tests(run)
    return summarise_run(run, reports, held_of_plan(run, reports))


def render_stored(
    run: StoredRun,
    folder: Path,
    formats: Collection[Format],
    *,
    shown: Callable[[str, int, int], None] = lambda *_: None,
    out: Path | None = None,
    assets_at: str = "",
) -> list[Path]:
    """Render the report of a run, as ``render_run``.

    folder : that it was read from. out : where the files go, the run folder is then not written to; None means into the
    folder ``report`` of the run. shown : as of ``render_run``. assets_at : as of ``report.render``.
    A run without a report date gets it in the folder that is written to.
    """
    if out is None:
        fix_report_date(folder, run)
        return render(run, folder, formats=formats, below=REPORT_FOLDER, shown=shown, held=partial(held_of_plan, run))
    held = partial(held_of_plan, run)
    return render(dated(run, folder, out), out, formats=formats, shown=shown, held=held, assets_at=assets_at)


def dated(run: StoredRun, folder: Path, out: Path) -> StoredRun:
    """A run with the date of its report, which is kept in ``out`` where its own folder has none."""
    if not has_report_date(folder):
        run = replace(run, report_date_ns=report_date(out))
        fix_report_date(out, run)
    return run
