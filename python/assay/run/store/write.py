"""Writing a run folder."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from assay.engine.codec import canonical, encode
from assay.engine.records import DIRECTIONS
from assay.errors import StoreError
from assay.run.store import LIVE, PROGRESS, RUN_DOCUMENT, TRACES
from assay.run.store.document import read_document
from assay.run.store.journal import AskedWriter, Journal, read_journal
from assay.run.store.live import LiveFile
from assay.run.store.lock import lock_folder
from assay.run.store.tables import HISTOGRAMS, REPLAYS, SERIES, sequence_tables, trace_name, warm_up
from assay.spec.files import write_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.live import LiveSecond
    from assay.engine.records import (
        DriveCondition,
        DriveRecord,
        HostRecord,
        MeasurementWindow,
        PurgeRecord,
        Stage,
        StepRecord,
        StepSequence,
        TestSettings,
    )
    from assay.run.store.journal import Entries, Entry

RUNS = Path("runs")
"""Where runs go that are given no folder."""
ADVICE = "advice.txt"
FREE_BYTES_MIN = 64 << 20
"""A run is not begun with less free space; the journal and tables of a day's test need about this much."""
_TABLES = (
    "histogram",
    "intended_histogram",
    "late_histogram",
    "lead_in_histogram",
    "series_io_count",
    "series_bytes",
    "series_latency_ns_sum",
    "series_latency_ns_max",
)
_STEP_WITHOUT_TABLES = {side: set(_TABLES) for side in DIRECTIONS}
"""What of a StepRecord goes to Parquet instead of the journal."""


def new_folder(out: Path | None, name: str, needed_bytes: int = 0, below: Path = RUNS) -> Path:
    """Make the run folder.

    out : the folder itself, which must be new or empty; None makes ``<time>-<name>`` in the folder ``below``.
    needed_bytes : free space that it should have, at least 67 MB.
    Raises FolderBusyError where another run writes to it, StoreError where it is not empty, cannot be written, or the
    disk is too full.
    """
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    folder = out or below / f"{stamp}-{name}-{secrets.token_hex(2)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_filled(folder)
        _probe(folder, folder)
    except OSError as error:
        raise _unwritable(folder, error) from None
    refuse_full(folder, needed_bytes)
    return folder


def refuse_folder(out: Path | None, needed_bytes: int, below: Path = RUNS) -> None:
    """Raise what ``new_folder`` would; a folder is made and removed where the run folder is to be."""
    folder = out or below
    try:
        if out is not None and out.exists():
            _refuse_filled(out)
        refuse_full(folder, needed_bytes)
        with TemporaryDirectory(prefix=".assay-", dir=_nearest(folder)) as tried:
            _probe(Path(tried), folder)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _nearest(folder: Path) -> Path:
    """The folder itself, or the one above it that is there."""
    whole = folder.absolute()
    return next(parent for parent in (whole, *whole.parents) if parent.exists())


def _refuse_filled(folder: Path) -> None:
    if any(folder.iterdir()):
        os.close(lock_folder(folder))
        raise StoreError(str(folder), "is not empty", "name a new folder with --out")


def refuse_full(folder: Path, needed_bytes: int) -> None:
    """Raise StoreError where the disk of a folder has less free space than is needed."""
    needed_bytes = max(needed_bytes, FREE_BYTES_MIN)
    try:
        room = shutil.disk_usage(_nearest(folder))
    except OSError as error:
        raise _unwritable(folder, error) from None
    # One without any size, as /proc, is no disk: it refuses the folder itself.
    if room.total and room.free < needed_bytes:
        remedy = "free some space or choose another folder with --out"
        reason = f"only {room.free / 1e6:.0f} MB are free, {needed_bytes / 1e6:.0f} MB are needed"
        raise StoreError(str(folder), reason, remedy)


def _unwritable(folder: Path, error: OSError) -> StoreError:
    reason = error.strerror or str(error)
    return StoreError(str(folder), f"cannot be written ({reason})", "choose another folder with --out")


def _probe(folder: Path, named: Path) -> None:
    """Write a file and remove it. named : in errors. Raises OSError, StoreError where it would not survive a crash."""
    write_inside(folder, "writable", b"", durable=False)
    try:
        for path in (folder / "writable", folder):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        reason = f"files or folders cannot be synced there ({error.strerror or error})"
        raise StoreError(str(named), reason, "choose a folder on another file system with --out") from None
    finally:
        (folder / "writable").unlink()


class RunWriter:
    """Appends what happens to a run folder; must be closed. Use it as a context manager."""

    def __init__(self, folder: Path, document: dict[str, Any] | None, after: Entries | None = None) -> None:
        """Begin a run folder with the content of ``run.json``.

        document : None goes on with a run, after the lines of ``after``, as they were read.
        Raises FolderBusyError, StoreError, also where the journal is another by now.
        """
        self.folder = folder
        self._asked = AskedWriter()
        self._program_count = 0
        self._test_ended = True
        self._traces: Counter[str] = Counter()
        self._live: LiveFile | None = None
        self._live_begun = False
        if after:
            self._program_count, self._traces = _written_before(after.lines)
        with ExitStack() as undo:
            try:
                self._lock = lock_folder(folder)
                undo.callback(os.close, self._lock)
                head = _begin(folder, document) if document is not None else _read_again(folder, after)
                self._journal = Journal(folder, head, time.time_ns, after=after)
                self._journal.prepare(warm_up)
                # Of a run that was killed before it goes on now.
                (folder / LIVE).unlink(missing_ok=True)
            except OSError as error:
                reason = error.strerror or str(error)
                raise StoreError(str(folder), f"cannot be written ({reason})", "choose another with --out") from None
            undo.pop_all()

    def test_started(self, settings: TestSettings) -> None:
        """A test begins with these settings."""
        self._test_ended = False
        self._journal.append("test_started", lambda: {"settings": encode(settings)})

    def record(self, kind: str, record: PurgeRecord | DriveCondition) -> None:
        """A record by name: ``purged``, ``condition`` of the drive now, ``test_condition`` before or after a test."""
        self._journal.append(kind, lambda: encode(record))

    def stepped(
        self,
        sequence: StepSequence,
        steps: Sequence[StepRecord],
        *,
        host: HostRecord | None = None,
        drive: DriveRecord | None = None,
    ) -> None:
        """A sequence ran; returns once its record is durable.

        steps : what its steps did, as many as were begun. host : what the test system did.
        drive : what was seen of the drive out of band.
        Raises StoreError where it cannot be stored.
        """
        self._program_count += 1
        number = self._program_count
        names, unknown = self._asked.named(sequence.steps)
        if unknown:
            self._journal.append("asked", lambda: unknown)
        watched = {name: encode(record) for name, record in (("host", host), ("drive", drive)) if record}
        # The journal names steps by their specification, and replayed I/Os by their table.
        kept = [field.name for field in fields(sequence) if field.name not in {"steps", "replay"}]
        ran = {**{name: getattr(sequence, name) for name in kept}, "asked": names, **watched}
        self._journal.append("steps", lambda: ran | self._store_steps(number, steps))
        self._journal.wait()

    def judged(self, window: MeasurementWindow, stage: Stage, covered: Sequence[int]) -> None:
        """A verdict, with its inputs, and the sequences of a stage, by index, that its window is of."""
        self._journal.append("verdict", lambda: {"window": encode(window), "stage": stage, "covered": list(covered)})

    def trace_path(self, test: str, stage: Stage, index: int) -> Path:
        """Where the completions of a sequence are to be kept; the folder is made."""
        folder = self.folder / TRACES
        folder.mkdir(exist_ok=True)
        path = folder / trace_name(self._traces, test, stage, index)
        # Of a sequence that a break cut short there is a part, which no line of the journal names.
        path.unlink(missing_ok=True)
        return path

    def replay_path(self) -> Path:
        """Where the I/Os are to be kept that the next sequence issues again; the folder is made."""
        path = self.folder / _replay_name(self._program_count + 1)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        return path

    def test_ended(self, reason: str, detail: str = "") -> None:
        """How the test that runs ended; what comes after the first, as an interrupt may, is of no test."""
        if not self._test_ended:
            self._test_ended = True
            self.note("test_ended", reason=reason, **({"detail": detail} if detail else {}))

    def note(self, kind: str, **data: Any) -> None:
        """Anything else, by name: ``run_ended``, ``engine``, ``failure``."""
        self._journal.append(kind, lambda: data)

    def keep_advice(self, advice: str) -> None:
        """What frees the drive if this run is cut short, in the journal and in a file; returns once both are durable.

        Raises StoreError.
        """
        self._journal.append("advice", lambda: {"text": advice})
        self._journal.wait()
        try:
            write_inside(self.folder, ADVICE, f"{advice}\n".encode())
        except OSError as error:
            reason = error.strerror or "cannot be written"
            raise StoreError(str(self.folder / ADVICE), reason, "make the run folder writable") from None

    @property
    def digest(self) -> str:
        """SHA-256 of the journal's last line; that of the whole run once everything is durable."""
        return self._journal.digest

    def keep_progress(self, make: Callable[[], dict[str, Any]]) -> None:
        """How far the run is, in a file of its own, for those who ask from outside; not durable, and no loss.

        make : runs on the writer thread and returns the facts.
        """

        def job() -> None:
            # Whatever goes wrong here, the run goes on.
            with suppress(Exception):
                write_inside(self.folder, PROGRESS, canonical(make()), durable=False)

        self._journal.prepare(job)

    def keep_live(self, seconds: Sequence[LiveSecond], *, virtual: bool) -> None:
        """Seconds of the sequence that runs, for those who watch; not durable, and no loss. Returns at once.

        virtual : the drive's time is not that of the clock.
        """
        number = self._program_count + 1

        def job() -> None:
            # As above; what failed once is not tried again.
            with suppress(Exception):
                if not self._live_begun:
                    self._live_begun = True
                    self._live = LiveFile(self.folder, time.time_ns, virtual=virtual)
                if self._live:
                    self._live.add(number, seconds)

        self._journal.prepare(job)

    def wait(self) -> None:
        """Return once everything is durable. Raises StoreError."""
        self._journal.wait()

    def close(self) -> None:
        """Finish writing and let go of the folder."""
        self._journal.close()
        if self._live:
            self._live.close()
        for name in (PROGRESS, LIVE):
            with suppress(OSError):
                (self.folder / name).unlink(missing_ok=True)
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _store_steps(self, number: int, steps: Sequence[StepRecord]) -> dict[str, Any]:
        tables = {f"{kind}/{number:06}.parquet": content for kind, content in sequence_tables(steps).items()}
        for name, content in tables.items():
            write_inside(self.folder, name, content)
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in tables.items()}
        replayed = _replay_name(number)
        if (self.folder / replayed).exists():
            with (self.folder / replayed).open("rb") as file:
                os.fsync(file.fileno())
                digests[replayed] = hashlib.file_digest(file, "sha256").hexdigest()
        return {"steps": [encode(step, exclude=_STEP_WITHOUT_TABLES) for step in steps], "tables": digests}


def _replay_name(number: int) -> str:
    return f"{REPLAYS}/{number:06}.parquet"


def _begin(folder: Path, document: dict[str, Any]) -> bytes:
    """Make what a run folder has before its first line; ``run.json`` as written."""
    head = canonical(document)
    for name in (SERIES, HISTOGRAMS):
        (folder / name).mkdir()
    write_inside(folder, RUN_DOCUMENT, head)
    return head


def _read_again(folder: Path, after: Entries | None) -> bytes:
    """``run.json`` of a run that goes on. Raises StoreError where somebody went on with it since it was read."""
    head, _ = read_document(folder)
    if after is None or read_journal(folder, head).digest != after.digest:
        raise StoreError(str(folder), "was written to since it was read", "see what became of it: assay status")
    return head


def _written_before(lines: Sequence[Entry]) -> tuple[int, Counter[str]]:
    """How many sequences a journal has, and the names of traces that they took."""
    count, taken, test = 0, Counter[str](), ""
    for entry in lines:
        if entry.kind == "test_started":
            test = str(entry.data["settings"]["test"])
        elif entry.kind == "steps":
            count += 1
            trace_name(taken, test, entry.data["stage"], entry.data["index"])
    return count, taken
