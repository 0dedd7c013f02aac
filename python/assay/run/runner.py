"""Runs one test: takes what it asks for next, carries it out, makes it durable, and sends it what came of it."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.dut.dut import change_told
from assay.dut.ended import check_sequence, what_to_check
from assay.dut.real.direct import WRONG_REMEDY
from assay.dut.real.purge import PurgeWatch
from assay.engine.codec import encode
from assay.engine.records import CheckData, Purge, SetCache, StepSequence, Trim
from assay.engine.stimulus import Capture
from assay.errors import AssayError, DeviceFailureError, DriveChangedError, UsageError, WrongDataError
from assay.plan.procedure import Context
from assay.results.data_check import wrong_data, wrong_sectors
from assay.results.stall import stalled_steps, void_reason
from assay.run.progress import Pace, PhaseEnd, Progress, RunTimes, TimeLeft, Watched, extent
from assay.words.text import text, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from assay.dut.dut import Dut
    from assay.dut.real.watch import DriveWatch
    from assay.dut.simulated.fault_watch import FaultWatch
    from assay.engine.records import (
        CacheState,
        DataCheck,
        DriveRecord,
        Ending,
        HostRecord,
        StepRecord,
    )
    from assay.plan.procedure import Course, PlannedTest
    from assay.plan.until import Action, RoundOutcome
    from assay.run.store.write import RunWriter

    Watcher = Callable[[int, int, int, int], None]


_VERDICTS = {
    True: "steady in its last verdict",
    False: "not steady in its last verdict",
    None: "too few values for a verdict",
}


def run_test(
    planned: PlannedTest,
    dut: Dut,
    writer: RunWriter,
    *,
    seed: int,
    show: Callable[[Progress], None],
    capture: str = "none",
    times: RunTimes | None = None,
) -> bool:
    """Run one test from purge to end and write it down.

    capture : ``none``, or ``times`` or ``addresses`` of every completion of what is measured.
    times : of the run that it is a part of; None where it is all of it.

    Returns False where steady state was required and not reached; a write saturation test requires none.
    Raises KeyboardInterrupt, DeviceFailureError and StoreError; what was measured until then is written.
    """
    times = times or RunTimes([planned], real=dut.host_time)
    runner = _Runner(planned, dut, writer, show=show, capture=capture, times=times)
    times.test_begins()
    writer.test_started(planned.settings)
    try:
        with change_told(dut.unchanged), runner.write_cache_put_back():
            writer.record("test_condition", dut.condition())
            if dut.written:
                dut.written.sectors.begin()
            ending = runner.follow(planned.run(planned.settings, Context(drive=dut.identity, seed=seed)))
            runner.refuse_wrong_sectors()
            runner.check_data()
        dut.looked()
        _note_looks(dut, writer)
        writer.record("test_condition", dut.condition())
        writer.test_ended(ending.reason, ending.detail)
        runner.report_ending(ending)
    except KeyboardInterrupt:
        writer.test_ended("interrupted")
        raise
    except AssayError as error:
        _note_looks(dut, writer)
        if isinstance(error, DriveChangedError) and error.since_wall_ns is not None:
            writer.note("drive_changed", since_wall_ns=error.since_wall_ns, reason=error.reason)
        writer.test_ended(error.slug)
        raise
    return ending.reached


def _note_looks(dut: Dut, writer: RunWriter) -> None:
    if looks := dut.looks():
        writer.note("looked", **encode(looks))


def _both(drive: DriveWatch | FaultWatch | None, users: Callable[[], None], watch: Watcher) -> Watcher:
    """Look at the drive and its users whenever the stimulus is looked at, so that what befalls it is known."""

    def look(step_index: int, io_count: int, latency_ns_sum: int, elapsed_ns: int) -> None:
        if drive:
            drive.look(step_index)
        users()
        watch(step_index, io_count, latency_ns_sum, elapsed_ns)

    return look


class _Runner:
    """Carries out what one test asks for, writes it down and shows how far it is."""

    def __init__(
        self,
        planned: PlannedTest,
        dut: Dut,
        writer: RunWriter,
        *,
        show: Callable[[Progress], None],
        capture: str,
        times: RunTimes,
    ) -> None:
        self._dut, self._times = dut, times
        self._planned, self._writer, self._show = planned, writer, show
        self._capture = capture
        self._engine: dict[str, str] = {}
        self._watched: Watched | None = None
        self._verdict, self._last_name = "", ""
        self._cache_before: CacheState | None = None
        self._data_checks: list[DataCheck] = []

    def follow(self, course: Course) -> Ending:
        """Carry out one action after the other until the test has ended."""
        records: Sequence[StepRecord] | None = None
        while True:
            try:
                action = next(course) if records is None else course.send(records)
            except StopIteration as done:
                ending: Ending = done.value
                return ending
            records = self._act(action)

    def _act(self, action: Action) -> Sequence[StepRecord] | None:
        """Carry out one action; the records of a sequence, None of all else."""
        match action:
            case StepSequence():
                return self._run_allowed(action)
            case Purge():
                self.purge()
            case Trim():
                self._dut.trim(action.from_bytes, action.to_bytes)
                self._writer.note("trimmed", from_bytes=action.from_bytes, to_bytes=action.to_bytes)
            case SetCache():
                self._set_write_cache(action.state)
            case CheckData():
                self._check_sectors(action)
            case _:
                self._judged(action)
        return None

    def purge(self) -> None:
        self._times.purge_begins()
        self._report("purge", name="purge")
        record = self._dut.purge(PurgeWatch(show=self._show_purge, keep=self._keep_advice))
        self._times.purge_ended()
        self._writer.record("purged", record)
        self._report("purge", name="purge", phase_end=PhaseEnd(name=f"purge ({record.method})", span_ns=record.span_ns))

    def _show_purge(self, done: float | None, elapsed_ns: int) -> None:
        self._dut.look()
        left_ns = round(elapsed_ns * (1 - done) / done) if done else None
        left = None if left_ns is None else TimeLeft(left_ns, left_ns)
        self._report("purge", name="purge", share=done, left=left, unit_elapsed_ns=elapsed_ns)

    def _keep_advice(self, advice: str) -> None:
        self._writer.keep_advice(advice)
        self._report("purge", name="purge", advice=advice)

    def _check_sectors(self, request: CheckData) -> None:
        """Read addressed data back; what is wrong is kept until the end of the test."""
        whole = sum(length for _, length in request.parts)
        name = f"read-back after {request.after}"

        def show(done_bytes: int) -> None:
            self._dut.look()
            self._report("variant", name=name, share=done_bytes / whole)

        if self._dut.written is None:
            raise UsageError(self._dut.identity.path, "holds no data to be read back", "use a real drive or a file")
        record = self._dut.written.sectors.check(request, show)
        self._writer.note("data_checked", **encode(record))
        self._data_checks.append(record)
        self._report("variant", name=name, phase_end=PhaseEnd(name=name, span_ns=record.span_ns))

    def refuse_wrong_sectors(self) -> None:
        """Raise WrongDataError where addressed data were not returned as they were written."""
        if reason := next(filter(None, map(wrong_sectors, self._data_checks)), None):
            raise WrongDataError(self._dut.identity.path, text(reason), WRONG_REMEDY)

    def _set_write_cache(self, state: CacheState) -> None:
        if self._cache_before is None:
            self._cache_before = self._dut.identity.write_cache
        self._dut.set_write_cache(state)
        self._writer.note("write_cache_set", state=state)

    @contextmanager
    def write_cache_put_back(self) -> Iterator[None]:
        """Whatever happens, the write cache is what it was before a test that switches it."""
        try:
            yield
        except BaseException:
            # A drive that failed may not take it any more; what it failed of is what is reported.
            with suppress(AssayError):
                self._put_back()
            raise
        self._put_back()

    def _put_back(self) -> None:
        if self._cache_before is not None:
            self._set_write_cache(self._cache_before)

    def _judged(self, judged: RoundOutcome) -> None:
        """Write down a verdict. Raises DeviceFailureError where more is void than the test allows."""
        if judged.window:
            self._writer.judged(judged.window, judged.stage, judged.covered)
        self._verdict = _VERDICTS[judged.window.reached if judged.window else None]
        if judged.ended:
            self._times.phase_ended()
        self._report(judged.stage, name=self._last_name, index=judged.index, judged=judged)
        if judged.ended == "stalled":
            raise self._stalled(f"the last void {judged.stage}: {text_or_none(judged.void)}")

    def _run_allowed(self, sequence: StepSequence) -> list[StepRecord]:
        """Run a sequence, and again where it is void and asks for that. Raises DeviceFailureError where it gives up."""
        settings = self._planned.settings
        for _ in range(settings.void_limit + 1):
            records = self._run(sequence)
            void = void_reason(records, settings)
            if void is None or sequence.on_void in {"accept", "leave-out"}:
                return records
            if sequence.on_void == "stop":
                raise self._stalled(f"{text(void)}; this test cannot continue after a void {sequence.name}")
        raise self._stalled(f"the last void {sequence.name}: {text_or_none(void)}")

    def _stalled(self, reason: str) -> DeviceFailureError:
        remedy = f"{what_to_check(self._dut.identity.path)}, or raise --stall-limit"
        return DeviceFailureError(self._dut.identity.path, f"the drive stalled or was reset: {reason}", remedy)

    def _run(self, sequence: StepSequence) -> list[StepRecord]:
        """Run a sequence, make its record durable, and stop where it failed or the drive is another than before."""
        self._last_name = sequence.name
        self._times.sequence_begins(sequence)
        self._report(sequence.stage, name=sequence.name, index=sequence.index, step_count=len(sequence.steps))
        self._dut.unchanged()
        self._dut.heat()
        watch, capture, replay = self._watcher(sequence), self._captured(sequence), self._replayed(sequence)
        drive = self._dut.watched
        if drive:
            drive.begin()
        keep_live = partial(self._writer.keep_live, virtual=not self._dut.host_time)
        look = _both(drive, self._dut.look, watch)
        with self._dut.watch_host() as host:
            records = self._dut.stimulus.run(sequence.steps, look, capture, replay, keep_live)
        records = drive.finished(records) if drive else records
        self._disclose()
        self._times.sequence_ended(sequence, records)
        self._writer.stepped(
            sequence, records, host=host.record if host else None, drive=drive.record if drive else None
        )
        for step in stalled_steps(records):
            self._writer.note("stall", sequence=sequence.name, step=step.label, stall_ns=step.stall_ns_max)
        check_sequence(records, self._dut.identity.path)
        self._dut.unchanged()
        self._keep_watched(sequence, records, host.record if host else None, drive.record if drive else None)
        self._report_phase_end(sequence, records)
        if sequence.role == "prepare":
            self.check_data(sequence.name)
        return records

    def check_data(self, after: str = "") -> None:
        """Read back what was written. Raises WrongDataError where the drive returns something else.

        after : sequence before; empty at the end of the test.
        """
        written = self._dut.written
        record = None if written is None else written.between(after) if after else written.end()
        if record is not None:
            self._writer.note("read_back", **encode(record))
            if reason := wrong_data(record):
                raise WrongDataError(self._dut.identity.path, text(reason), WRONG_REMEDY)

    def _keep_watched(
        self,
        sequence: StepSequence,
        records: Sequence[StepRecord],
        host: HostRecord | None,
        drive: DriveRecord | None,
    ) -> None:
        """Keep for observers what was seen during a sequence; nothing is queried for it."""
        if not host and not drive:
            return
        before = self._watched or Watched(after="")
        stalls = None if host is None else (before.host_stalls or 0) + len(host.stalls)
        self._watched = Watched(
            after=sequence.name,
            temperature_c=drive.after.temperature_c if drive else None,
            host_stalls=stalls,
            host_stalled_ns=before.host_stalled_ns + (host.stalled_ns if host else 0),
            drive_events=before.drive_events + sum(len(record.drive_events) for record in records),
        )

    def _report_phase_end(self, sequence: StepSequence, records: Sequence[StepRecord]) -> None:
        """Report the end of a sequence that gets no verdict; a verdict reports the end of rounds and samples."""
        whole = extent(sequence.steps)
        end = PhaseEnd(
            name=sequence.name,
            span_ns=sum(
                record.span_ns for record, asked in zip(records, sequence.steps, strict=False) if not asked.beside
            ),
            steps=tuple(records),
            # Of steps that time ends as well, the amount is not that of the span.
            amount_bytes=0 if whole.time_ns else whole.amount_bytes,
        )
        if sequence.stage not in {"round", "sample"}:
            self._report(sequence.stage, name=sequence.name, index=sequence.index, phase_end=end)

    def report_ending(self, ending: Ending) -> None:
        """Report why the test ended."""
        self._report("end", ending=ending, verdict=self._verdict)

    def _captured(self, sequence: StepSequence) -> Capture | None:
        """Where the completions of a sequence are kept: of what is measured on request, of others where they say so."""
        if not sequence.keeps_ios and (self._capture == "none" or sequence.role == "prepare"):
            return None
        path = self._writer.trace_path(self._planned.settings.test, sequence.stage, sequence.index)
        return Capture(path=path, addresses=self._capture == "addresses")

    def _replayed(self, sequence: StepSequence) -> Path | None:
        """The file of the I/Os that a sequence issues again, which is written now."""
        if sequence.replay is None:
            return None
        path = self._writer.replay_path()
        sequence.replay(path)
        return path

    def _watcher(self, sequence: StepSequence) -> Watcher:
        pace = Pace()

        def watch(step_index: int, io_count: int, latency_ns_sum: int, elapsed_ns: int) -> None:
            rate, latency_ms = pace.look(step_index, io_count, latency_ns_sum, elapsed_ns)
            self._times.looked(sequence, step_index, io_count, elapsed_ns)
            self._report(
                sequence.stage,
                name=sequence.name,
                index=sequence.index,
                step=sequence.steps[step_index].label,
                step_number=step_index + 1,
                step_count=len(sequence.steps),
                iops=rate,
                latency_ms=latency_ms,
                device_ns=elapsed_ns,
            )

        return watch

    def _disclose(self) -> None:
        """Note how the I/Os are carried out whenever it changes."""
        engine = {**self._dut.queue, **self._dut.stimulus.disclosure()}
        if engine != self._engine:
            self._writer.note("engine", **engine)
            self._engine = engine

    def _report(self, phase: str, **facts: Any) -> None:
        times = self._times
        known = {
            "whole": times.whole,
            "done": times.done,
            "share": times.done.share_of(times.whole),
            "unit_elapsed_ns": times.unit_elapsed_ns,
            "left": times.unit_left(),
        }
        run_left = times.run_left()
        progress = Progress(
            folder=self._writer.folder,
            test=self._planned.settings.test,
            number=times.number,
            count=times.count,
            phase=phase,
            virtual=not self._dut.host_time,
            test_left=times.test_left(),
            run_left=run_left,
            run_shares=times.run_shares(run_left),
            elapsed_ns=times.elapsed_ns,
            watched=self._watched,
            **(known | facts),
        )
        self._show(progress)
