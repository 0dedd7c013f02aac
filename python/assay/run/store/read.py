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
    table_bytes_max,
    trace_name,
    with_series,
)
from assay.run.store.traces import latency_reader, replayed_ios, trace_summary
from assay.spec.files import exists_inside, is_plain_name, open_bounded, read_bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.engine.records import DirectionRecord, HistogramTable, RunBreak, StepRecord, StepSpec, TestSettings
    from assay.plan.procedure import Procedure
    from assay.run.store.document import RunDocument
    from assay.run.store.journal import Entries, Entry
    from assay.workloads.traces import Batch


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

    def _series(self, sequence: Steps) -> Any:
        """The rows of a sequence's seconds, None where they were not read."""
        if (name := self._named(sequence, SERIES)) is None:
            return None
        return series_rows(sequence.steps, self.contents[name], name=str(self.folder / name))

    def _replayed(self, sequence: Steps) -> Callable[[], Iterator[Batch]] | None:
        """What reads the I/Os that a sequence issued again, None where it drew its own."""
        result = next((name for name in sequence.tables if name.startswith(f"{REPLAYS}/")), None)
        return None if result is None else partial(replayed_ios, self.folder, result)

    def joined(self, steps: Steps, asked: tuple[StepSpec, ...]) -> StoredSequence:
        """A sequence with what was asked of it and what its tables hold."""
        rows = self._series(steps)
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
            replayed=self._replayed(steps),
            series=None if rows is None else completions(rows),
            host=steps.host,
            drive=steps.drive,
        )

    def _named(self, sequence: Steps, kind: str) -> str | None:
        """The table of a kind of a sequence; None where there is none, or it was not read."""
        result = (name for name in sequence.tables if name in self.contents and name.startswith(f"{kind}/"))
        return next(result, None)


@dataclass
class _Test:
    settings: TestSettings
    started_wall_ns: int
    seq: int
    purge: PurgeRecord | None = None
    sequences: list[StoredSequence] = field(default_factory=list)
    conditions: list[DriveCondition] = field(default_factory=list)
    verdict: Verdict | None = None
    ended: str | None = None
    ended_detail: str = ""
    ended_wall_ns: int | None = None
    looks: LooksRecord | None = None
    read_backs: list[ReadBack] = field(default_factory=list)
    data_checks: list[DataCheck] = field(default_factory=list)

    def take(self, entry: Entry) -> None:
        match entry.kind:
            case "purged":
                self.purge = decode(PurgeRecord, entry.data, name=entry.place)
            case "test_condition":
                self.conditions.append(decode(DriveCondition, entry.data, name=entry.place))
            case "verdict":
                self.verdict = decode(Verdict, entry.data, name=entry.place)
            case "looked":
                self.looks = decode(LooksRecord, entry.data, name=entry.place)
            case "read_back":
                self.read_backs.append(decode(ReadBack, entry.data, name=entry.place))
            case "data_checked":
                self.data_checks.append(decode(DataCheck, entry.data, name=entry.place))
            case "drive_changed":
                self._void(decode(DriveChanged, entry.data, name=entry.place))
            case "test_ended" if self.ended is None:
                ended = decode(TestEnded, entry.data, name=entry.place)
                self.ended, self.ended_detail = ended.reason, ended.detail
                self.ended_wall_ns = entry.wall_ns

    def _void(self, change: DriveChanged) -> None:
        """Mark what ran since the drive was last seen as it was; a verdict on any of that is none."""
        event = DriveEvent(level=_GRAVE, device=BY_GATE, text=change.reason[:_EVENT_MAX])
        for index, sequence in enumerate(self.sequences):
            if max(step.start_wall_ns + step.span_ns for step in sequence.steps) > change.since_wall_ns:
                steps = tuple(replace(step, drive_events=(*step.drive_events, event)) for step in sequence.steps)
                self.sequences[index] = replace(sequence, steps=steps)
                if self.verdict and (sequence.stage, sequence.index) in self._judged(self.verdict):
                    self.verdict = None

    @staticmethod
    def _judged(verdict: Verdict) -> set[tuple[str, int]]:
        return {(verdict.stage, index) for index in verdict.covered}

    def stored(self) -> StoredTest:
        return StoredTest(
            settings=self.settings,
            started_wall_ns=self.started_wall_ns,
            ended_wall_ns=self.ended_wall_ns,
            purge=self.purge,
            sequences=tuple(self.sequences),
            verdict=self.verdict.window if self.verdict else None,
            window_stage=self.verdict.stage if self.verdict else "",
            window_indexes=self.verdict.covered if self.verdict else (),
            ended=self.ended,
            ended_detail=self.ended_detail,
            conditions=tuple(self.conditions),
            looks=self.looks,
            read_backs=tuple(self.read_backs),
            data_checks=tuple(self.data_checks),
        )


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
    tests: list[_Test] = []
    asked = AskedReader()
    for entry in entries:
        if entry.kind == "test_started":
            tests.append(_Test(_settings(entry), entry.wall_ns, entry.seq))
        elif entry.kind == "steps":
            if not tests:
                raise StoreError(entry.place, "holds steps of no test", _DAMAGED)
            steps = sequences[entry.seq]
            tests[-1].sequences.append(tables.joined(steps, asked.specs(steps.asked, entry)))
        elif entry.kind == "asked":
            asked.take(entry)
        elif tests:
            tests[-1].take(entry)
    return [(test.stored(), test.seq) for test in tests]


def _procedure(settings: Mapping[str, Any], entry: Entry) -> Procedure[Any, Any]:
    try:
        return find_procedure(str(settings.get("procedure")))
    except UsageError as error:
        raise StoreError(f"{entry.place}: settings.procedure", f"{error.thing} {error.reason}", error.remedy) from None


def _settings(entry: Entry) -> TestSettings:
    stored = decode(TestStarted, entry.data, name=entry.place).settings
    settings = decode(_procedure(stored, entry).settings, stored, name=f"{entry.place}: settings")
    if not is_plain_name(settings.test) or len(settings.test) > _TEST_NAME_MAX:
        # It becomes part of the names of files.
        raise StoreError(entry.place, f"settings.test: {settings.test[:40]!r} is no name of a test", _DAMAGED)
    if fault := impossible(settings, "settings"):
        raise StoreError(entry.place, fault, _DAMAGED)
    return settings


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
