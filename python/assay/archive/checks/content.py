"""What a run folder holds, as digests: one that differs anywhere is another run.

Its report is no part of it: that is made from the run at any time.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.run.store.document import RUN_DOCUMENT
from assay.run.store.journal import JOURNAL_NAME
from assay.run.store.tables import TABLE_KINDS
from assay.run.store.traces import TRACES
from assay.spec.files import open_inside

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContent:
    """SHA-256 of what is in a run folder, as hex digits.

    document : of ``run.json``. journal : of the whole journal, whose last line is the head of the chain. tables : of
    every table, with its name; captures, which may be large, stand there with size and times.
    """

    document: str
    journal: str
    tables: str


def run_content(folder: Path) -> RunContent:
    """What a run folder holds now. Raises OSError where it cannot be read, or a link lies in it."""
    tables = hashlib.sha256()
    for name in sorted(name for kind in (*TABLE_KINDS, TRACES) for name in _inside(folder, kind)):
        digest = _state(folder, name) if name.startswith(f"{TRACES}/") else _digest(folder, name)
        tables.update(f"{name} {digest}\n".encode("utf-8", "surrogateescape"))
    return RunContent(
        document=_digest(folder, RUN_DOCUMENT), journal=_digest(folder, JOURNAL_NAME), tables=tables.hexdigest()
    )


def _inside(folder: Path, kind: str) -> list[str]:
    try:
        return [f"{kind}/{name}" for name in os.listdir(folder / kind)]  # noqa: PTH208 - names alone
    except FileNotFoundError:
        return []


def _digest(folder: Path, name: str) -> str:
    digest = hashlib.sha256()
    with os.fdopen(open_inside(folder, name), "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _state(folder: Path, name: str) -> str:
    status = os.lstat(folder / name)
    return f"{status.st_mode:o} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
