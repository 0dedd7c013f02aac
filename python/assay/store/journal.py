"""The append-only journal. A writer thread commits while the next step runs.

Each line is one JSON object: ``seq``, ``wall_ns``, ``kind``, ``data`` and ``previous``, the SHA-256 of the line
before it (of ``run.json`` for the first).
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import StoreError, VerificationError
from assay.store.codec import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

JOURNAL_NAME = "journal.jsonl"
_DISTRUST = "the run was changed or damaged; do not trust it"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal as read."""

    seq: int
    wall_ns: int
    kind: str
    data: dict[str, Any]


class Journal:
    """Appends lines durably; owns its file and thread and must be closed.

    The first error stops all writing for good: nothing is retried after a failed fsync.
    """

    def __init__(self, folder: Path, head: bytes, clock: Callable[[], int]) -> None:
        self._path = folder / JOURNAL_NAME
        self._previous = hashlib.sha256(head).hexdigest()
        self._clock = clock
        self._seq = 0
        self._error: Exception | None = None
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        self._descriptor = os.open(self._path, flags, 0o644)
        sync_folder(folder)
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def append(self, kind: str, make: Callable[[], dict[str, Any]]) -> None:
        """Queue one line; ``make`` runs on the writer thread and returns its data."""
        wall_ns = self._clock()
        self._jobs.put(lambda: self._write(kind, wall_ns, make()))

    def prepare(self, job: Callable[[], None]) -> None:
        """Queue work for the writer thread that writes no line."""
        self._jobs.put(job)

    def wait(self) -> None:
        """Return once everything queued is on stable storage.

        Raises StoreError where it cannot be; the lines before stay readable.
        """
        self._jobs.join()
        if self._error is not None:
            reason = getattr(self._error, "strerror", None) or repr(self._error)
            remedy = "what was written before is kept; free space or choose another folder with --out"
            raise StoreError(str(self._path.parent), f"cannot be written ({reason})", remedy)

    def close(self) -> None:
        """Write what is queued and end the thread."""
        self._jobs.put(None)
        self._thread.join()
        os.close(self._descriptor)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                if self._error is None:
                    job()
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing after it may count as stored
                self._error = error
            finally:
                self._jobs.task_done()
        self._jobs.task_done()

    def _write(self, kind: str, wall_ns: int, data: dict[str, Any]) -> None:
        entry = {"seq": self._seq, "wall_ns": wall_ns, "kind": kind, "data": data, "previous": self._previous}
        line = canonical(entry) + b"\n"
        view = memoryview(line)
        while view:
            view = view[os.write(self._descriptor, view) :]
        os.fdatasync(self._descriptor)
        self._previous = hashlib.sha256(line).hexdigest()
        self._seq += 1


def read_journal(folder: Path, head: bytes) -> Iterator[Entry]:
    """Read the lines in order, checking the hash chain. A torn last line is left out.

    Raises VerificationError naming the line where the chain breaks, StoreError where it cannot be read.
    """
    path = folder / JOURNAL_NAME
    previous = hashlib.sha256(head).hexdigest()
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be read", "name a run folder") from None
    for number, line in enumerate(lines, start=1):
        if number == len(lines) and not line.endswith(b"\n"):
            return
        entry = _parse(path, number, line)
        if entry.get("previous") != previous or entry.get("seq") != number - 1:
            raise VerificationError(f"{path}:{number}", "the hash chain is broken", _DISTRUST)
        previous = hashlib.sha256(line).hexdigest()
        yield Entry(entry["seq"], entry["wall_ns"], entry["kind"], entry["data"])


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file as a whole: temporary name, fsync, rename, fsync of the folder. Raises OSError."""
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if not isinstance(entry, dict):
        raise VerificationError(f"{path}:{number}", "is not a journal line", _DISTRUST)
    return entry
