"""Kept summaries of finished runs, and the files of a report: both are shown without reading the run.

A finished run does not change. Its summary is kept in the user's cache folder, under a name made of what the run folder
holds, of this program and of this host, and is checked by its own hash. A summary that is damaged, older or
of another user counts as missing.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.checks import journal_seal, kept_checks, known_result, run_content
from assay.report.formats import FORMATS, RESULTS
from assay.run.store import ORIGIN
from assay.spec.files import open_inside
from assay.spec.state_file import BYTES_MAX, read_whole, write_whole
from assay.summary.stored import summary_of, summary_text
from assay.version import tool_version
from assay.words.outcomes import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.archive.checks import RunContent
    from assay.engine.records import JournalEnd, StoredRun
    from assay.summary.record import RunSummary

REPORT_FOLDER = "report"
SUMMARIES = "summaries"
"""The folder of the kept summaries in the user's cache folder."""
COUNT_MAX = 2000
_HEAD_BYTES = 4096
_JOURNAL_HASH = re.compile(rb'"hash": "([0-9a-f]{64})"')
"""Hash of the journal at the head of the results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A finished run as it was shown before. hash, complete : as of ``JournalEnd``."""

    summary: RunSummary
    hash: str
    complete: bool = True


def kept_summary(folder: Path, host_id: str | None) -> Kept | None:
    """The kept summary of a run folder; None without a summary of its present content.

    host_id : of this host, on which the level depends. Only runs that this user has checked have one. Raises nothing.
    """
    try:
        if os.path.lexists(folder / ORIGIN):
            return None
        # Digests are made only where the run was checked before.
        if not kept_checks().get(seal := journal_seal(folder)):
            return None
        content = run_content(folder)
        digest, journal_hash, text = read_whole(_name(content, host_id), SUMMARIES).decode().split("\n", 2)
        if digest != _digest(journal_hash, text):
            return None
        summary = summary_of(text)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    if not known_result(summary.run_id, journal_hash, content, seal):
        return None
    return Kept(summary=summary, hash=journal_hash)


def keep_summary(run: StoredRun, folder: Path, summary: RunSummary, host_id: str | None) -> None:
    """Keep the summary of a run, unless it goes on, was cut short, was imported or is not known to keep the rules.

    Nor are those of tests of a user's own kept, whose code is no part of this program. Raises nothing.
    """
    end = run.journal
    if not (end and end.complete and run.checked) or _is_cut_or_custom(summary):
        return
    with suppress(OSError, TypeError):
        # The level of an import hangs on keys, which come and go.
        if os.path.lexists(folder / ORIGIN):
            return
        content = run_content(folder)
        if known_result(run.run_id, end.hash, content, journal_seal(folder)):
            text = summary_text(summary)
            entry = f"{_digest(end.hash, text)}\n{end.hash}\n{text}".encode()
            if len(entry) <= BYTES_MAX:
                write_whole(_name(content, host_id), entry, SUMMARIES, count_max=COUNT_MAX)


def _is_cut_or_custom(summary: RunSummary) -> bool:
    from assay.procedures.registry import find_procedure  # noqa: PLC0415 - the maker of the summary has loaded it

    cut = any(is_cut_short(test.verdict.ended) for test in summary.tests)
    return cut or any(find_procedure(test.procedure).kind == "custom" for test in summary.tests)


def _digest(journal_hash: str, text: str) -> str:
    return hashlib.sha256(f"{journal_hash}\n{text}".encode()).hexdigest()


def _name(content: RunContent, host_id: str | None) -> str:
    parts = (content.document, content.journal, content.tables, _program(), host_id or "")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _program() -> str:
    """A digest of this program: its version, and size and time of each of its files."""
    digest, package = hashlib.sha256(tool_version().encode()), Path(__file__).parents[1]
    for parent, folders, names in os.walk(package):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            status = os.lstat(f"{parent}/{name}")
            digest.update(f"{parent}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def report_files(
    end: JournalEnd | Kept | None, folder: Path, files: Iterable[Path] | None
) -> tuple[list[Path], bool | None]:
    """The files of a report, documents first, and whether they are of an earlier state; None if nothing tells.

    end : of the journal. files : those that were just written; those that are in the folder of the run where None.
    """
    order = {f".{name}": index for index, name in enumerate(FORMATS)}
    result = [path for path in (_report_files(folder) if files is None else files) if path.suffix in order]
    result.sort(key=lambda path: (order[path.suffix], path.name))
    return result, _is_older(folder, end) if files is None else False


def _is_older(folder: Path, end: JournalEnd | Kept | None) -> bool | None:
    """Whether the report in a run's folder was written from another journal than it has now; None if none tells."""
    if end is None:
        return None
    try:
        with os.fdopen(open_inside(folder, f"{REPORT_FOLDER}/{RESULTS}"), "rb") as file:
            result = _JOURNAL_HASH.search(file.read(_HEAD_BYTES))
    except OSError:
        return None
    return None if result is None else result[1].decode() != end.hash


def _report_files(folder: Path) -> list[Path]:
    """The files in a run's report folder, without links."""
    report = folder / REPORT_FOLDER
    files = [] if report.is_symlink() else report.glob("*")
    return [path for path in files if path.is_file() and not path.is_symlink()]
