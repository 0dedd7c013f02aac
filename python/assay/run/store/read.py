"""Reading a run folder, whoever made it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.engine.codec import decode
from assay.engine.records import (
    BY_GATE,
    DIRECTIONS,
    DataCheck,
    DriveCondition,
    DriveEvent,
    JournalEnd,
    LooksRecord,
    PurgeRecord,
    ReadBack,
    StoredRun,
    StoredSequence,
    StoredTest,
)
from assay.errors import StoreError, UsageError, VerificationError
from assay.procedures.registry import find_procedure
from assay.results.histogram import lowest_ns
from assay.results.step import completed_count
from assay.results.stimulus_steps import goes_on_by_draw
from assay.run.store import TRACES
from assay.run.store.document import (
    DriveChanged,
    Engine,
    Steps,
    TestEnded,
    TestStarted,
    Verdict,
    read_document,
    report_date,
)
from assay.run.store.journal import AskedReader, impossible, read_journal, run_breaks, superseded
from assay.run.store.tables import (
    HISTOGRAMS,
    INTENDED,
    LATENESS,
    LEAD_INS,
    REPLAYS,
    SERIES,
    check_accounted,
    completions,
    read_histograms,
    series_rows,
    series_table,
    table_bytes_max,
    trace_name,
    with_series,
)
from assay.run.store.traces import latency_reader, replayed_ios, trace_summary
from assay.spec.files import exists_inside, is_plain_name, open_bounded, read_bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.engine.records import (
        DirectionRecord,
        HistogramTable,
        MeasurementWindow,
        Stage,
        StepRecord,
        StepSpec,
        TestSettings,
    )
    from assay.run.store.document import RunDocument
    from assay.run.store.journal import Entries, Entry

    Reader = Callable[..., Any]


# Of the tables of a run together, where they are kept in memory, and of each otherwise.
_TABLES_BYTES_MAX = 1 << 31
_REPLAY_BYTES_MAX = 1 << 36
# So many response times, to 0.2 %, do not come a second time.
_TELLING_IO_COUNT = 1_000
_TEST_NAME_MAX = 64
# What changes a drive under a test is as grave as the kernel's word of a critical condition.
_GRAVE = 2
_EVENT_MAX = 200
_DAMAGED = "the run was changed or damaged, or written by another version of Assay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Tables of a run folder by name. contents : of those that are to be read into records."""

    folder: Path
    contents: Mapping[str, bytes]

    def _histograms(self, sequence: Steps, kind: str) -> HistogramTable | None:
        """The counts of a kind of a sequence, None where there are none or they were not read."""
        if (name := self._named(sequence, kind)) is None:
            return None
        return read_histograms(self.contents[name], step_count=len(sequence.steps), name=str(self.folder / name))

    def joined(self, steps: Steps, asked: tuple[StepSpec, ...]) -> StoredSequence:
        """A sequence with what was asked of it and what its tables hold."""
        rows = None
        if name := self._named(steps, SERIES):
            rows = series_rows(steps.steps, self.contents[name], name=str(self.folder / name))
        replay = next((name for name in steps.tables if name.startswith(f"{REPLAYS}/")), None)
        return StoredSequence(
            name=steps.name,
            stage=steps.stage,
            index=steps.index,
            asked=asked,
            role=steps.role,
            on_void=steps.on_void,
            keeps_ios=steps.keeps_ios,
            ramp_up_steps=steps.ramp_up_steps,
            # Only studies look at seconds; the series of a day of samples would take their memory for nothing.
            steps=with_series(steps.steps, rows) if rows is not None and steps.stage == "variant" else steps.steps,
            histograms=self._histograms(steps, HISTOGRAMS),
            intended=self._histograms(steps, INTENDED),
            lead_in=self._histograms(steps, LEAD_INS),
            lateness=self._histograms(steps, LATENESS),
            replayed=None if replay is None else partial(replayed_ios, self.folder, replay),
            series=None if rows is None else completions(rows),
            host=steps.host,
            drive=steps.drive,
        )

    def _named(self, sequence: Steps, kind: str) -> str | None:
        """The table of a kind of a sequence; None where there is none, or it was not read."""
        result = (name for name in sequence.tables if name in self.contents and name.startswith(f"{kind}/"))
        return next(result, None)


@dataclass
class _TestReader:
    """Puts a test together from its lines. seq : of the line that begins it."""

    test: StoredTest
    seq: int
    sequences: list[StoredSequence] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        test, data, place = self.test, entry.data, entry.place
        match entry.kind:
            case "purged":
                self.test = replace(test, purge=decode(PurgeRecord, data, name=place))
            case "test_condition":
                self.test = replace(test, conditions=(*test.conditions, decode(DriveCondition, data, name=place)))
            case "verdict":
                verdict = decode(Verdict, data, name=place)
                self._judge(verdict.window, verdict.stage, verdict.covered)
            case "looked":
                self.test = replace(test, looks=decode(LooksRecord, data, name=place))
            case "read_back":
                self.test = replace(test, read_backs=(*test.read_backs, decode(ReadBack, data, name=place)))
            case "data_checked":
                self.test = replace(test, data_checks=(*test.data_checks, decode(DataCheck, data, name=place)))
            case "drive_changed":
                self._void(decode(DriveChanged, data, name=place))
            case "test_ended" if test.ended is None:
                ended = decode(TestEnded, data, name=place)
                self.test = replace(test, ended=ended.reason, ended_detail=ended.detail, ended_wall_ns=entry.wall_ns)

    def _judge(self, window: MeasurementWindow | None, stage: Stage = "", indexes: tuple[int, ...] = ()) -> None:
        self.test = replace(self.test, verdict=window, window_stage=stage, window_indexes=indexes)

    def _void(self, change: DriveChanged) -> None:
        """Mark what ran since the drive was last seen as it was; a verdict on any of that is none."""
        event = DriveEvent(level=_GRAVE, device=BY_GATE, text=change.reason[:_EVENT_MAX])
        for index, sequence in enumerate(self.sequences):
            if max(step.start_wall_ns + step.span_ns for step in sequence.steps) > change.since_wall_ns:
                steps = tuple(replace(step, drive_events=(*step.drive_events, event)) for step in sequence.steps)
                self.sequences[index] = replace(sequence, steps=steps)
                if sequence.stage == self.test.window_stage and sequence.index in self.test.window_indexes:
                    self._judge(None)


def read_steps(entry: Entry) -> Steps:
    """A sequence of steps as the journal has it. Raises StoreError where it is none."""
    steps = decode(Steps, entry.data, name=entry.place)
    if not steps.steps:
        raise StoreError(entry.place, "steps: a sequence has at least a step", _DAMAGED)
    if len(steps.steps) > len(steps.asked):
        raise StoreError(entry.place, "asked: names fewer steps than ran", _DAMAGED)
    for index, step in enumerate(steps.steps):
        if fault := step_fault(step):
            raise StoreError(entry.place, f"steps.{index}: {fault}", _DAMAGED)
    return steps


def step_fault(step: StepRecord) -> str | None:
    """What of a step nothing can have done; None where there is nothing of that kind."""
    for name, side in step.named_sides:
        completed = side.latency_io_count > 0
        if completed != (side.latency_ns_min is not None) or completed != (side.latency_ns_max is not None):
            return f"{name}: I/Os without response times, or response times without I/Os"
    spans = (step.span_ns, step.lead_in_ns, step.carried_in_ns, step.carried_out_ns, step.submission_gap_ns_max)
    numbers = (*spans, step.start_ns, step.start_wall_ns, step.outstanding_ns)
    sides = (value for side in step.sides for value in _numbers(side))
    return "holds a number below zero" if min(*numbers, *sides) < 0 else None


def _numbers(side: DirectionRecord) -> list[int]:
    lead_in = [side.lead_in_io_count, side.lead_in_bytes, side.lead_in_latency_ns_sum or 0]
    carried_in = [side.carried_in_io_count, side.carried_in_bytes, side.carried_in_latency_ns_sum]
    own = [side.window_io_count, side.window_bytes, side.tail_io_count, side.tail_bytes, side.failed_ns]
    counts = [*own, *lead_in, *carried_in, side.latency_io_count, side.latency_ns_sum]
    return [*counts, side.latency_ns_min or 0, side.latency_ns_max or 0, *side.errors.values()]


def stored_tests(
    entries: Sequence[Entry], sequences: Mapping[int, Steps], tables: Tables
) -> list[tuple[StoredTest, int]]:
    """The tests of a journal in the order they ran, each with the ``seq`` of the line that begins it.

    sequences : its lines of the kind ``steps`` as read, by ``seq``.
    Raises StoreError naming the line that is none of a run's.
    """
    tests: list[_TestReader] = []
    asked = AskedReader()
    for entry in entries:
        if entry.kind == "test_started":
            test = StoredTest(
                settings=_settings(entry),
                started_wall_ns=entry.wall_ns,
                ended_wall_ns=None,
                purge=None,
                sequences=(),
                verdict=None,
                ended=None,
            )
            tests.append(_TestReader(test, entry.seq))
        elif entry.kind == "steps":
            if not tests:
                raise StoreError(entry.place, "holds steps of no test", _DAMAGED)
            steps = sequences[entry.seq]
            tests[-1].sequences.append(tables.joined(steps, asked.specs(steps.asked, entry)))
        elif entry.kind == "asked":
            asked.take(entry)
        elif tests:
            tests[-1].add(entry)
    return [(replace(each.test, sequences=tuple(each.sequences)), each.seq) for each in tests]


def _settings(entry: Entry) -> TestSettings:
    stored = decode(TestStarted, entry.data, name=entry.place).settings
    try:
        procedure = find_procedure(str(stored.get("procedure")))
    except UsageError as error:
        raise StoreError(f"{entry.place}: settings.procedure", f"{error.thing} {error.reason}", error.remedy) from None
    settings = decode(procedure.settings, stored, name=f"{entry.place}: settings")
    if not is_plain_name(settings.test) or len(settings.test) > _TEST_NAME_MAX:
        # It becomes part of the names of files.
        raise StoreError(entry.place, f"settings.test: {settings.test[:40]!r} is no name of a test", _DAMAGED)
    if fault := impossible(settings, "settings"):
        raise StoreError(entry.place, fault, _DAMAGED)
    return settings


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
    traces = _Traces(folder, document.identity.capacity_bytes if histograms else None)
    left_out = superseded(journal.lines)
    # What was captured of all of them is numbered in their order, also of those that are in no result.
    joined = [(traces.joined(test), seq) for test, seq in result]
    tests, breaks = [test for test, seq in joined if seq not in left_out], run_breaks(journal.lines)
    calibration = document.certificate.calibration if document.certificate else None
    # All tests of a run are of one test system.
    changes = [f"the test system changed where the run was resumed: {line}" for one in breaks for line in one.changed]
    purges = [test.purge.deviation for test in tests if test.purge and test.purge.deviation]
    return StoredRun(
        run_id=document.run_id,
        identity=document.identity,
        platform=document.platform,
        certificate=document.certificate,
        description=document.description,
        plan=document.plan,
        edition=document.edition,
        deviations=tuple(dict.fromkeys([*document.deviations, *purges, *changes])),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTable:
    """The rows of one sequence. number : of the sequence in its test, from 0. labels : of its steps.

    name, stage, index, role : of the sequence. rows : as pyarrow has them, with the column ``step``.
    """

    number: int
    name: str
    stage: str
    index: int
    role: str
    labels: tuple[str, ...]
    rows: Any

    @classmethod
    def empty(cls, rows: Reader) -> RawTable:
        """One without rows, of the columns that ``rows`` reads."""
        content = series_table(()) if rows is raw_series else None
        result = rows((), content, name="empty")
        return cls(number=0, name="", stage="", index=0, role="", labels=(), rows=result)


def steps_of_tests(folder: Path) -> list[list[Steps]]:
    """The sequences of each test of a run that is in its results, in order, from the journal.

    Raises StoreError and VerificationError as the reader of runs.
    """
    lines = read_journal(folder, read_document(folder)[0]).lines
    left_out, tests, counts = superseded(lines), list[list[Steps]](), False
    for entry in lines:
        if entry.kind == "test_started":
            counts = entry.seq not in left_out
            tests += [[]] if counts else []
        elif entry.kind == "steps" and counts:
            tests[-1].append(read_steps(entry))
    return tests


def read_raw(folder: Path, sequences: Sequence[Steps], rows: Reader) -> Iterator[RawTable]:
    """The tables of one kind of a test, sequence by sequence.

    sequences : of the test. rows : ``raw_series`` or ``raw_histograms``, which reads a table.
    Raises StoreError and VerificationError naming the table that is not what was written.
    """
    kind = SERIES if rows is raw_series else HISTOGRAMS
    for number, steps in enumerate(sequences):
        for name in steps.tables:
            if name.startswith(f"{kind}/"):
                result = rows(steps.steps, checked_table(folder, name, steps), name=str(folder / name))
                yield RawTable(
                    number=number,
                    name=steps.name,
                    stage=steps.stage,
                    index=steps.index,
                    role=steps.role,
                    labels=tuple(step.label for step in steps.steps),
                    rows=result,
                )


def raw_series(steps: Sequence[StepRecord], content: bytes, *, name: str) -> Any:
    """Rows of ``step``, ``direction``, ``second`` and what completed in it."""
    table = series_rows(steps, content, name=name)
    place = table.column_names.index("direction")
    return table.set_column(place, "direction", table["direction"].cast("string"))


def raw_histograms(steps: Sequence[StepRecord], content: bytes | None, *, name: str) -> Any:
    """Rows of ``step``, ``direction``, the bounds of a bucket in ns, and how many I/Os fell in it.

    The lower bound belongs to a bucket, the upper one to the next. Worked: bucket 1,024 is 1,024 to 1,026 ns.
    """
    import numpy as np  # noqa: PLC0415 - with pyarrow, which is slow to import
    import pyarrow as pa  # noqa: PLC0415

    none: Any = np.array([], dtype=np.uint64)
    columns = (none, none, none, none)
    if content is not None:
        rows = read_histograms(content, step_count=len(steps), name=name)
        columns = (rows.step, rows.direction, rows.bucket, rows.count)
    step, direction, bucket, count = columns
    return pa.table(
        {
            "step": pa.array(step, type=pa.uint64()),
            "direction": pa.array([DIRECTIONS[one] for one in direction], type=pa.string()),
            "latency_ns_from": pa.array(lowest_ns(bucket)),
            "latency_ns_to": pa.array(lowest_ns(bucket + np.uint64(1))),
            "count": pa.array(count, type=pa.uint64()),
        }
    )
