"""Renders the report of a stored run into its folder, or elsewhere."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from assay.compare.limits.outcome import held_of_plan
from assay.report import FORMATS, render, reports_of_tests, shown_run
from assay.report.first_page.run_summary import summarise_run
from assay.report.formats.results_json import RESULTS
from assay.report.formats.write import foreign
from assay.run.store.document import fix_report_date, has_report_date, report_date
from assay.run.store.read import read_run
from assay.spec.files import open_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.report import Format, ShownRun
    from assay.summary.record import RunSummary

REPORT_FOLDER = "report"
_HEAD_BYTES = 4096
_JOURNAL_HASH = re.compile(rb'"hash": "([0-9a-f]{64})"')
"""Of the journal, which stands at the head of the results."""


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
    reports = reports_of_tests(run)
    return summarise_run(run, reports, held_of_plan(run, reports))


def report_files(run: StoredRun, folder: Path, files: Iterable[Path] | None) -> tuple[list[Path], bool | None]:
    """The files of a report, documents first, and whether they are of an earlier state; None where nothing tells.

    files : those that were just written; those that are in the folder of the run where None.
    """
    order = {f".{name}": index for index, name in enumerate(FORMATS)}
    result = [path for path in (_report_files(folder) if files is None else files) if path.suffix in order]
    result.sort(key=lambda path: (order[path.suffix], path.name))
    return result, _is_older(folder, run) if files is None else False


def _is_older(folder: Path, run: StoredRun) -> bool | None:
    """Whether the report in a run's folder was written from another journal than it has now; None where none tells."""
    if run.journal is None:
        return None
    try:
        with os.fdopen(open_inside(folder, f"{REPORT_FOLDER}/{RESULTS}"), "rb") as file:
            result = _JOURNAL_HASH.search(file.read(_HEAD_BYTES))
    except OSError:
        return None
    return None if result is None else result[1].decode() != run.journal.hash


def _report_files(folder: Path) -> list[Path]:
    """The files in a run's report folder; links, and what is behind one, are none."""
    report = folder / REPORT_FOLDER
    files = [] if report.is_symlink() else report.glob("*")
    return [path for path in files if path.is_file() and not path.is_symlink()]


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
