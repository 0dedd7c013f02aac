"""The append-only journal. A writer thread commits while the next step runs.

Each line is one JSON object: ``seq``, ``wall_ns``, ``kind``, ``data``, ``previous``, the SHA-256 of the line before it
(of ``run.json`` for the first), and last ``hash``, the SHA-256 of what stands before it in the line, so that the last
line of a run that was cut short is held, too.
"""

from __future__ import annotations

import errno
import hashlib
import os
import queue
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from assay.engine.codec import canonical, decode_text, parse
from assay.errors import StoreError, VerificationError
from assay.run.store import JOURNAL_NAME, RUN_DOCUMENT
from assay.run.store.forms import Line
from assay.spec.files import open_bounded, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RUN_ENDED = "run_ended"
_DISTRUST = "the run was changed or damaged; do not trust it"
_BYTES_MAX, _LINE_BYTES_MAX, _LINE_VALUES_MAX = 1 << 30, 64 << 20, 1 << 24
_VALUES_MAX = 1 << 24
_HASH = b',"hash":"'


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal as read. place : file and line, for messages. digest : SHA-256 of the line."""

    seq: int
    wall_ns: int
    kind: str
    data: dict[str, Any]
    place: str
    digest: str


@dataclass(frozen=True, slots=True)
class Entries:
    """A journal as read. complete : it ends with the line that ends a run. digest : of its last line.

    whole_bytes : of the lines that are whole. torn_bytes : of a last one that is not, and is left out.
    """

    lines: tuple[Entry, ...]
    complete: bool
    digest: str
    whole_bytes: int
    torn_bytes: int


class Journal:
    """Appends lines durably; owns its file and thread and must be closed.

    The first error stops all writing for good: nothing is retried after a failed fsync.
    """

    def __init__(self, folder: Path, head: bytes, clock: Callable[[], int], *, after: Entries | None = None) -> None:
        """Begin a journal, or go on behind the lines of one that was read. Raises OSError."""
        self._path = folder / JOURNAL_NAME
        self._previous = after.digest if after else hashlib.sha256(head).hexdigest()
        self._clock = clock
        self._seq = len(after.lines) if after else 0
        self._error: Exception | None = None
        self._descriptor = _begun(self._path) if after is None else _reopened(self._path, after.whole_bytes)
        sync_folder(folder)
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    @property
    def digest(self) -> str:
        """SHA-256 of the last line that is on stable storage."""
        return self._previous

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
        line = sealed(entry)
        view = memoryview(line)
        while view:
            view = view[os.write(self._descriptor, view) :]
        os.fdatasync(self._descriptor)
        self._previous = hashlib.sha256(line).hexdigest()
        self._seq += 1


def _begun(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)


def _reopened(path: Path, whole_bytes: int) -> int:
    """A journal that goes on behind its whole lines; what is torn is cut off, as it is left out on reading."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
    try:
        os.ftruncate(descriptor, whole_bytes)
        os.fsync(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def sealed(entry: dict[str, Any]) -> bytes:
    """A line of the journal with its own hash at its end."""
    body = canonical(entry)[:-1]
    return body + _HASH + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def read_journal(folder: Path, head: bytes) -> Entries:
    """Read the lines in order, checking every hash. A torn last line is left out.

    Raises VerificationError naming the line that is not what was written, or does not follow the one before it;
    StoreError where it cannot be read.
    """
    path, digest, found = folder / JOURNAL_NAME, hashlib.sha256(head).hexdigest(), list[Entry]()
    whole_bytes = torn_bytes = commas = 0
    for number, line in enumerate(_lines(folder), start=1):
        if not line.endswith(b"\n"):
            torn_bytes = len(line)
            break
        # All lines are kept: a bound on each alone would let many of them use up the memory.
        commas += line.count(b",")
        if commas > _VALUES_MAX:
            raise StoreError(f"{path}:{number}", "has more values than any journal that Assay writes", _DISTRUST)
        found.append(_entry(f"{path}:{number}", number, line[:-1], digest))
        digest = found[-1].digest
        whole_bytes += len(line)
    complete = bool(found) and found[-1].kind == RUN_ENDED and not torn_bytes
    return Entries(tuple(found), complete, digest, whole_bytes, torn_bytes)


def read_lines(folder: Path) -> list[bytes]:
    """The whole lines of a journal as they are. Raises StoreError."""
    return [line[:-1] for line in _lines(folder) if line.endswith(b"\n")]


def _lines(folder: Path) -> Iterator[bytes]:
    """One line after the other, so that a reader ends at the first that is none; the last may be torn."""
    left = _BYTES_MAX
    try:
        with open_bounded(folder, JOURNAL_NAME, bytes_max=left) as file:
            while line := _line(file, left):
                left -= len(line)
                yield line
    except OSError as error:
        reason = error.strerror or "cannot be read"
        # Not Path.exists: it raises where the file system itself fails.
        is_run = os.path.exists(folder / RUN_DOCUMENT)  # noqa: PTH110
        remedy = "restore it from a copy or bundle of the run" if is_run else "name a run folder"
        raise StoreError(str(folder / JOURNAL_NAME), reason, remedy) from None


def _line(file: IO[bytes], bytes_max: int) -> bytes:
    line = file.readline(min(bytes_max, _LINE_BYTES_MAX))
    if len(line) == _LINE_BYTES_MAX:
        raise OSError(errno.EFBIG, f"has {_LINE_BYTES_MAX >> 20} MiB without the end of a line")
    return line


def is_sealed(content: bytes) -> bool:
    """Whether a line ends with the hash of what stands before it."""
    body, _, told = content.rpartition(_HASH)
    return told == hashlib.sha256(body).hexdigest().encode() + b'"}'


def _entry(place: str, number: int, content: bytes, previous: str) -> Entry:
    if not is_sealed(content):
        raise VerificationError(place, "is not the line that was written", _DISTRUST)
    parse(content, name=place, values_max=_LINE_VALUES_MAX)
    line = decode_text(Line, content, name=place)
    if line.previous != previous or line.seq != number - 1:
        raise VerificationError(place, "the hash chain is broken", _DISTRUST)
    digest = hashlib.sha256(content + b"\n").hexdigest()
    return Entry(line.seq, line.wall_ns, line.kind, line.data, place, digest)
