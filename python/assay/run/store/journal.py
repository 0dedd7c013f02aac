"""The append-only journal, the specifications that its steps name, and the places where a run was resumed.

A writer thread commits while the next step runs. Each line is one JSON object: ``seq``, ``wall_ns``, ``kind``,
``data``, ``previous``, the SHA-256 of the line before it (of ``run.json`` for the first), and last ``hash``, the
SHA-256 of what stands before it in the line, so that the last line of a run that was cut short is held, too.
"""

from __future__ import annotations

import errno
import hashlib
import os
import queue
import threading
from dataclasses import dataclass, field, fields, is_dataclass, replace
from math import inf
from typing import IO, TYPE_CHECKING, Any

from assay.engine.codec import canonical, decode, decode_text, encode, parse
from assay.engine.records import IDLE, AccessPattern, ActiveRange, Demand, RunBreak, StepSpec, TestSettings
from assay.errors import StoreError, VerificationError
from assay.run.store import JOURNAL_NAME, RUN_DOCUMENT
from assay.run.store.document import Asked, Line, Resumed
from assay.spec.files import open_bounded, sync_folder
from assay.words.outcomes import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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
        if after is None:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        else:
            self._descriptor = _reopened(self._path, after.whole_bytes)
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


_COUNTED = ("_ns", "_bytes", "_count", "_limit", "_samples", "samples", "cycles", "_bursts")


def impossible(record: TestSettings | StepSpec, name: str) -> str | None:
    """What no test can have been set to, or no step asked, with its place; None where there is nothing of that kind.

    name : that the place begins with.
    Worked: settings with a demand of no threads -> ``settings.demand: is no demand``.
    """
    return next((f"{place}: {reason}" for place, reason in _faults(record, name)), None)


def _faults(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, tuple):
        for index, part in enumerate(value):
            # Ranges have many segments, which are plain numbers.
            if not isinstance(part, int | float | str):
                yield from _faults(part, f"{place}.{index}")
    if not is_dataclass(value):
        return
    if reason := _reason(value):
        yield place, reason
    for part in fields(value):
        inner, within = getattr(value, part.name), f"{place}.{part.name}"
        share = part.name.endswith("_share")
        bounded = share or part.name.endswith(_COUNTED)
        if bounded and isinstance(inner, int | float) and not 0 <= inner <= (1 if share else inf):
            yield within, f"{inner} is outside its range"
        yield from _faults(inner, within)


def _reason(record: object) -> str | None:
    """What is wrong with a record as a whole."""
    match record:
        case Demand():
            asked = record.thread_count > 0 and record.queue_depth > 0
            return None if asked or record == IDLE else "is no demand"
        case AccessPattern():
            sizes = all(size > 0 and 0 < share <= 1 for size, share in record.sizes)
            return None if record.sizes and sizes else "has no sizes, or sizes of nothing"
        case ActiveRange():
            return None if record.segment_starts and record.segment_bytes > 0 else "covers nothing of the drive"
        case TestSettings():
            return record.fault()
    return None


_DIGITS = 16
_NOWHERE = ActiveRange(segment_starts=(), segment_bytes=0)
_DAMAGED = "the run was changed or damaged, or written by another version of Assay"


@dataclass
class AskedWriter:
    """Names specifications of steps, and hands out what is to be written before a name is used."""

    _names: dict[StepSpec, str] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)

    def named(self, steps: Sequence[StepSpec]) -> tuple[list[str], dict[str, Any] | None]:
        """The names of steps in order, and the data of the line that must stand before them; None where none must."""
        ranges: dict[str, Any] = {}
        specs: dict[str, Any] = {}
        for step in dict.fromkeys(steps):
            if step not in self._names:
                self._names[step] = self._add(step, ranges, specs)
        names = [self._names[step] for step in steps]
        return names, {"ranges": ranges, "specs": specs} if specs else None

    def _add(self, step: StepSpec, ranges: dict[str, Any], specs: dict[str, Any]) -> str:
        active_range = encode(step.active_range)
        range_name = spec_name(active_range)
        if range_name not in self._written:
            ranges[range_name] = active_range
        spec = {**encode(replace(step, active_range=_NOWHERE)), "active_range": range_name}
        name = spec_name(spec)
        specs[name] = spec
        self._written |= {range_name, name}
        return name


@dataclass
class AskedReader:
    """Takes the lines of the kind ``asked`` and gives specifications back by name."""

    _ranges: dict[str, ActiveRange] = field(default_factory=dict)
    _specs: dict[str, StepSpec] = field(default_factory=dict)

    def take(self, entry: Entry) -> None:
        """Take a line. Raises StoreError where something in it is not what its name says."""
        asked = decode(Asked, entry.data, name=entry.place)
        for name, content in asked.ranges.items():
            _hold(name, content, entry)
            self._ranges[name] = decode(ActiveRange, content, name=f"{entry.place}: ranges.{name}")
        for name, content in asked.specs.items():
            _hold(name, content, entry)
            self._specs[name] = self._spec(content, f"{entry.place}: specs.{name}")

    def _spec(self, content: dict[str, Any], place: str) -> StepSpec:
        range_name = content.get("active_range")
        if not isinstance(range_name, str) or range_name not in self._ranges:
            raise StoreError(place, "active_range: names no range of this run", _DAMAGED)
        spec = decode(StepSpec, {**content, "active_range": encode(_NOWHERE)}, name=place)
        spec = replace(spec, active_range=self._ranges[range_name])
        if fault := impossible(spec, "spec"):
            raise StoreError(place, fault, _DAMAGED)
        return spec

    def specs(self, names: Sequence[str], entry: Entry) -> tuple[StepSpec, ...]:
        """What was asked, by name. Raises StoreError for a name that no line before has."""
        for name in names:
            if name not in self._specs:
                raise StoreError(entry.place, f"asked: {name} is in no line before", _DAMAGED)
        return tuple(self._specs[name] for name in names)


def spec_name(content: dict[str, Any]) -> str:
    """What a specification or a range is called in the journal: the first 16 digits of the SHA-256 of its content."""
    return hashlib.sha256(canonical(content)).hexdigest()[:_DIGITS]


def _hold(name: str, content: dict[str, Any], entry: Entry) -> None:
    if spec_name(content) != name:
        raise StoreError(entry.place, f"{name}: is not the digest of what it names", _DAMAGED)


RESUMED = "resumed"


def superseded(lines: Sequence[Entry]) -> frozenset[int]:
    """The ``seq`` of each line that begins a test which a break cut short and which is in no result."""
    result: set[int] = set()
    start: int | None = None
    ended: str | None = None
    for entry in lines:
        if entry.kind == "test_started":
            start, ended = entry.seq, None
        elif entry.kind == "test_ended" and ended is None:
            ended = str(entry.data.get("reason"))
        elif entry.kind == RESUMED and start is not None and is_cut_short(ended):
            result.add(start)
    return frozenset(result)


def run_breaks(lines: Sequence[Entry]) -> tuple[RunBreak, ...]:
    """Every place where a run was taken up again. Raises StoreError where a line is none of a run's."""
    breaks: list[RunBreak] = []
    test, ended, count = None, None, 0
    for index, entry in enumerate(lines):
        if entry.kind == "test_started":
            settings = entry.data.get("settings")
            test, ended, count = str(settings.get("test")) if isinstance(settings, dict) else "unknown", None, 0
        elif entry.kind == "steps":
            count += 1
        elif entry.kind == "test_ended" and ended is None:
            ended = str(entry.data.get("reason"))
        elif entry.kind == RESUMED:
            data = decode(Resumed, entry.data, name=entry.place)
            cut = test is not None and is_cut_short(ended)
            breaks.append(
                RunBreak(
                    wall_ns=entry.wall_ns,
                    last_wall_ns=lines[index - 1].wall_ns if index else entry.wall_ns,
                    test=test if cut else None,
                    ended=ended if cut else None,
                    sequence_count=count if cut else 0,
                    torn_bytes=data.torn_bytes,
                    changed=data.changed,
                )
            )
            test = None
    return tuple(breaks)
