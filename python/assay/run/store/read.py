"""Reading a run folder, whoever made it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.engine.codec import decode
from assay.engine.records import DriveCondition, JournalEnd, StoredRun, StoredSequence, StoredTest
from assay.errors import StoreError, VerificationError
from assay.results.step import completed_count
from assay.results.stimulus_steps import goes_on_by_draw
from assay.run.store import RUN_DOCUMENT
from assay.run.store.document import read_document, report_date
from assay.run.store.forms import Engine
from assay.run.store.journal import read_journal
from assay.run.store.resumed import run_breaks, superseded
from assay.run.store.tables import REPLAYS, check_accounted, table_bytes_max
from assay.run.store.tests import Tables, read_steps, stored_tests
from assay.run.store.trace_summary import trace_summary
from assay.run.store.traces import TRACES, latency_reader, trace_name
from assay.spec.files import exists_inside, open_bounded, read_bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.engine.records import RunBreak
    from assay.run.store.forms import RunDocument, Steps
    from assay.run.store.journal import Entries, Entry

# Of the tables of a run together, where they are kept in memory, and of each otherwise.
_TABLES_BYTES_MAX = 1 << 31
_REPLAY_BYTES_MAX = 1 << 36
# So many response times, to 0.2 %, do not come a second time.
_TELLING_IO_COUNT = 1_000


def read_run(folder: Path, *, histograms: bool = False) -> StoredRun:
    """Read a run folder as far as it goes; an unfinished or crashed run gives what was measured.

    histograms : read the response-time counts of every step and the seconds of studies, too, and sum up what was
    captured.
    Raises StoreError naming file, place and reason where it is no run folder, damaged, or of another form.
    """
    return read_with_journal(folder, histograms=histograms)[0]


def read_with_journal(folder: Path, *, histograms: bool = False) -> tuple[StoredRun, Entries]:
    """A run folder as ``read_run`` reads it, and its journal."""
    head, document = read_document(folder)
    journal = read_journal(folder, head)
    sequences = {entry.seq: read_steps(entry) for entry in journal.lines if entry.kind == "steps"}
    return run_of(folder, document, journal, sequences, histograms=histograms), journal


def run_of(
    folder: Path, document: RunDocument, journal: Entries, sequences: Mapping[int, Steps], *, histograms: bool
) -> StoredRun:
    """The run of a folder of which document and journal were read, with its tables. The rest is as of ``read_run``.

    sequences : what each line of the kind ``steps`` holds, by its ``seq``.
    """
    contents = _checked_tables(folder, sequences.values(), kept=histograms)
    result = stored_tests(journal.lines, sequences, Tables(folder=folder, contents=contents))
    traces, left_out = (
        _Traces(folder, document.identity.capacity_bytes if histograms else None),
        superseded(journal.lines),
    )
    # What was captured of all of them is numbered in their order, also of those that are in no result.
    joined = [(traces.joined(test), seq) for test, seq in result]
    tests, breaks = [test for test, seq in joined if seq not in left_out], run_breaks(journal.lines)
    calibration = document.certificate.calibration if document.certificate else None
    purges = [test.purge.deviation for test in tests if test.purge and test.purge.deviation]
    return StoredRun(
        run_id=document.run_id,
        identity=document.identity,
        platform=document.platform,
        certificate=document.certificate,
        description=document.description,
        plan=document.plan,
        edition=document.edition,
        deviations=tuple(dict.fromkeys([*document.deviations, *purges, *_changed(breaks)])),
        started_wall_ns=document.started_wall_ns,
        report_date_ns=report_date(folder),
        skipped=document.skipped,
        engine=_engine(journal.lines),
        conditions=tuple(
            decode(DriveCondition, entry.data, name=entry.place) for entry in journal.lines if entry.kind == "condition"
        ),
        tests=tuple(replace(test, calibration=calibration) for test in tests),
        journal=JournalEnd(line_count=len(journal.lines), complete=journal.complete, hash=journal.digest),
        breaks=breaks,
        seed=document.seed,
        digests=frozenset(_digests(sequences.values())),
    )


def _digests(sequences: Iterable[Steps]) -> Iterator[str]:
    """The digests of response times that tell a run from every other; tables that are written anew keep them."""
    for sequence in sequences:
        if sum(map(completed_count, sequence.steps)) >= _TELLING_IO_COUNT:
            times = [
                (way.latency_io_count, way.latency_ns_sum) for step in sequence.steps for way in (step.read, step.write)
            ]
            yield hashlib.sha256(repr(times).encode()).hexdigest()


def list_runs(folder: Path) -> Iterator[Path]:
    """The run folders directly below a folder, by name. Raises StoreError where the folder cannot be looked at."""
    try:
        runs = sorted(path.parent for path in folder.glob(f"*/{RUN_DOCUMENT}")) if folder.is_dir() else []
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be read", "name another folder") from None
    yield from runs


@dataclass
class _Traces:
    """Finds what was captured of each sequence; captures are in nobody's digest, so a missing one is none."""

    folder: Path
    capacity_bytes: int | None
    taken: Counter[str] = field(default_factory=Counter)

    def joined(self, test: StoredTest) -> StoredTest:
        return replace(test, sequences=tuple(self._joined(test.settings.test, sequence) for sequence in test.sequences))

    def _joined(self, test: str, sequence: StoredSequence) -> StoredSequence:
        name = f"{TRACES}/{trace_name(self.taken, test, sequence.stage, sequence.index)}"
        try:
            if not exists_inside(self.folder, name):
                return sequence
        except OSError as error:
            raise StoreError(str(self.folder / name), error.strerror or "cannot be read", "remove it") from None
        captured = latency_reader(self.folder, name, sequence.steps) if sequence.keeps_ios else None
        if self.capacity_bytes is None:
            return replace(sequence, captured=captured)
        steps = zip(sequence.asked, sequence.steps, strict=False)
        in_order = {
            index
            for index, (spec, record) in enumerate(steps)
            if record.successor_io_count is None and goes_on_by_draw(spec.pattern)
        }
        count, capacity = len(sequence.steps), self.capacity_bytes
        result = trace_summary(self.folder, name, step_count=count, capacity_bytes=capacity, in_order=in_order)
        return replace(sequence, captured=captured, trace=result)


def _engine(entries: Sequence[Entry]) -> dict[str, str]:
    """What was in force; a fact that changed during the run is given with all its values in order."""
    values: dict[str, dict[str, None]] = {}
    for entry in entries:
        if entry.kind == "engine":
            for name, text in decode(Engine, {"facts": entry.data}, name=entry.place).facts.items():
                values.setdefault(name, {})[text] = None
    return {name: ", later ".join(texts) for name, texts in values.items()}


def _changed(breaks: Sequence[RunBreak]) -> list[str]:
    """What was another from a break on, as deviations: all tests of a run are of one test system."""
    return [f"the test system changed where the run was resumed: {line}" for one in breaks for line in one.changed]


def _checked_tables(folder: Path, sequences: Iterable[Steps], *, kept: bool) -> dict[str, bytes]:
    """Read the tables that sequences name; their contents by name, where these are to be kept.

    Raises StoreError where one is missing or not the one that the journal names.
    """
    contents: dict[str, bytes] = {}
    left = _TABLES_BYTES_MAX
    for steps, name in ((one, name) for one in sequences for name in one.tables):
        if name.startswith(REPLAYS):
            check_replay(folder, name, steps.tables[name])
            continue
        content = checked_table(folder, name, steps, bytes_max=left)
        left -= len(content)
        if kept:
            contents[name] = content
    return contents


def check_replay(folder: Path, name: str, digest: str) -> None:
    """Raise what ``checked_table`` raises for a file of replayed I/Os, which may be large and is not kept in memory."""
    try:
        with open_bounded(folder, name, bytes_max=_REPLAY_BYTES_MAX) as file:
            check_accounted(file)
            result = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(folder, name, error) from None
    if result != digest:
        raise _another(folder, name)


def checked_table(folder: Path, name: str, steps: Steps, *, bytes_max: int = _TABLES_BYTES_MAX) -> bytes:
    """A table that a sequence names.

    Raises StoreError where it is missing, or larger than its steps can have made it or than ``bytes_max``;
    VerificationError where it is not the one that the journal names.
    """
    try:
        with open_bounded(folder, name, bytes_max=min(bytes_max, table_bytes_max(name, steps.steps))) as file:
            check_accounted(file)
            content = read_bounded(file, bytes_max)
    except OSError as error:
        raise _unreadable(folder, name, error) from None
    if hashlib.sha256(content).hexdigest() != steps.tables[name]:
        raise _another(folder, name)
    return content


def _unreadable(folder: Path, name: str, error: OSError) -> StoreError:
    return StoreError(str(folder / name), error.strerror or "cannot be read", "the run is damaged")


def _another(folder: Path, name: str) -> VerificationError:
    remedy = "the run was changed or damaged; do not trust it"
    return VerificationError(str(folder / name), "is not the table that was written", remedy)
