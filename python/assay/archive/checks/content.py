"""What a run folder holds, as digests: one that differs anywhere is another run.

Its report is no part of it: that is made from the run at any time.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.checks.record import kept_checks, seal_of
from assay.run.store import JOURNAL_NAME, RUN_DOCUMENT, TRACES
from assay.run.store.tables import TABLE_KINDS
from assay.spec.files import open_bounded, open_inside

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK, _TAIL_BYTES = 1 << 20, 128
_HASHED_BYTES_MAX = 1 << 31
"""Of all files together; what is beyond stands with size and times as captures do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContent:
    """SHA-256 of what is in a run folder, as hex digits.

    document : of ``run.json``. journal : of the whole journal, whose last line is the head of the chain. tables : of
    every table, with its name; captures, and tables beyond 2 GiB in all, stand there with size and times.
    """

    document: str
    journal: str
    tables: str


def run_content(folder: Path) -> RunContent:
    """What a run folder holds now. Raises OSError where it cannot be read, or a link lies in it."""
    tables, left = hashlib.sha256(), _HASHED_BYTES_MAX
    document, journal = (_digest(folder, name, left) for name in (RUN_DOCUMENT, JOURNAL_NAME))
    for name in sorted(name for kind in (*TABLE_KINDS, TRACES) for name in _inside(folder, kind)):
        size = 0 if name.startswith(f"{TRACES}/") else os.lstat(folder / name).st_size
        digest = _digest(folder, name, left) if 0 < size <= left else _state(folder, name)
        left -= min(size, left)
        tables.update(f"{name} {digest}\n".encode("utf-8", "surrogateescape"))
    return RunContent(document=document, journal=journal, tables=tables.hexdigest())


def journal_seal(folder: Path) -> str:
    """The hash at the end of the journal; empty of a last line that is not whole. Raises OSError."""
    with os.fdopen(open_inside(folder, JOURNAL_NAME), "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _TAIL_BYTES, 0))
        return seal_of(file.read())


def known_result(run_id: str, journal_hash: str, content: RunContent, seal: str) -> bool | None:
    """Whether a run with this content keeps all rules, as it was checked before; None where it was not."""
    known = run_id, journal_hash, content.document, content.journal, content.tables
    fitting = [
        check.passed
        for check in kept_checks().get(seal, [])
        if (check.run_id, check.journal_hash, check.document, check.journal, check.tables) == known
    ]
    return fitting[-1] if fitting else None


def _inside(folder: Path, kind: str) -> list[str]:
    try:
        return [f"{kind}/{name}" for name in os.listdir(folder / kind)]  # noqa: PTH208 - names alone
    except FileNotFoundError:
        return []


def _digest(folder: Path, name: str, bytes_max: int) -> str:
    digest = hashlib.sha256()
    with open_bounded(folder, name, bytes_max=bytes_max) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _state(folder: Path, name: str) -> str:
    status = os.lstat(folder / name)
    return f"{status.st_mode:o} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
