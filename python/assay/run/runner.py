"""Runs one test: takes what it asks for next, carries it out, makes it durable, and tells it what came of it."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from assay.dut.dut import change_told, check_sequence
from assay.dut.real.purge import PurgeWatch
from assay.engine.records import Purge, SetCache, StepSequence, Trim
from assay.engine.stimulus import Capture
from assay.errors import AssayError, DeviceFailureError
from assay.procedures.procedure import Context
from assay.results import stalled_steps, void_reason
from assay.run.progress import Pace, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.dut.dut import Dut
    from assay.dut.real.watch import DriveWatch
    from assay.dut.simulated.fault_watch import FaultWatch
    from assay.engine.records import CacheState, Ending, StepRecord
    from assay.procedures.procedure import Course, PlannedTest
    from assay.procedures.until import Action, RoundOutcome
    from assay.run.store.write import RunWriter

    Watcher = Callable[[int, int, int, int], None]


def run_test(
    planned: PlannedTest,
    dut: Dut,
    writer: RunWriter,
    *,
    seed: int,
    show: Callable[[Progress], None],
    capture: str = "none",
) -> bool:
    """Run one test from purge to end and write it down.

    capture : ``none``, or ``times`` or ``addresses`` of every completion of what is measured.

    Returns False where steady state was required and not reached; a write saturation test requires none.
    Raises KeyboardInterrupt, DeviceFailureError and StoreError; what was measured until then is written.
    """
    runner = _Runner(planned, dut, writer, show, capture)
    writer.test_started(planned.settings)
    try:
        with change_told(dut.unchanged), runner.write_cache_put_back():
            writer.test_condition(dut.condition())
            ending = runner.follow(planned.run(planned.settings, Context(drive=dut.identity, seed=seed)))
        writer.test_condition(dut.condition())
        writer.note("test_ended", reason=ending.reason, **({"detail": ending.detail} if ending.detail else {}))
    except KeyboardInterrupt:
        writer.note("test_ended", reason="interrupted")
        raise
    except AssayError as error:
        writer.note("test_ended", reason=error.slug)
        raise
    return ending.reached


def _both(drive: DriveWatch | FaultWatch | None, watch: Watcher) -> Watcher:
    """Look at the drive whenever the stimulus is looked at, so that what befalls it is known to the step."""
    if drive is None:
        return watch

    def look(step_index: int, io_count: int, latency_ns_sum: int, elapsed_ns: int) -> None:
        drive.look(step_index)
        watch(step_index, io_count, latency_ns_sum, elapsed_ns)

    return look


class _Runner:
    """Carries out what one test asks for, writes it down and shows how far it is."""

    def __init__(
        self, planned: PlannedTest, dut: Dut, writer: RunWriter, show: Callable[[Progress], None], capture: str
    ) -> None:
        self._dut = dut
        self._planned, self._writer, self._show = planned, writer, show
        self._capture = capture
        self._engine: dict[str, str] = {}
        self._done_ns = 0
        self._cache_before: CacheState | None = None

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
                self._trim(action)
            case SetCache():
                self._set_write_cache(action.state)
            case _:
                self._judged(action)
        return None

    def purge(self) -> None:
        self._tell("purge")
        self._writer.purged(self._dut.purge(PurgeWatch(show=self._show_purge, keep=self._keep)))

    def _show_purge(self, done: float | None, elapsed_ns: int) -> None:
        step = "" if done is None else f"{int(done * 10) * 10} %"
        expected_ns = int(elapsed_ns / done) if done else 0
        self._tell("purge", step=step, unit_done_ns=elapsed_ns, unit_ns=expected_ns)

    def _keep(self, advice: str) -> None:
        self._writer.keep_advice(advice)
        self._tell("purge", advice=advice)

    def _trim(self, trim: Trim) -> None:
        self._dut.trim(trim.from_bytes, trim.to_bytes)
        self._writer.note("trimmed", from_bytes=trim.from_bytes, to_bytes=trim.to_bytes)

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
        self._tell(judged.stage, index=judged.index, judged=judged)
        if judged.ended == "stalled":
            raise self._stalled(f"the last void {judged.stage}: {judged.void}")

    def _run_allowed(self, sequence: StepSequence) -> list[StepRecord]:
        """Run a sequence, and again where it is void and asks for that. Raises DeviceFailureError where it gives up."""
        settings = self._planned.settings
        for _ in range(settings.void_limit + 1):
            records = self._run(sequence)
            void = void_reason(records, settings)
            if void is None or sequence.on_void in {"accept", "leave-out"}:
                return records
            if sequence.on_void == "stop":
                raise self._stalled(f"{void}; this test cannot go on behind a void {sequence.name}")
        raise self._stalled(f"the last void {sequence.name}: {void}")

    def _stalled(self, reason: str) -> DeviceFailureError:
        remedy = "check the drive and the kernel log, or raise --stall-limit"
        return DeviceFailureError(self._dut.identity.path, f"the drive stalled or was reset: {reason}", remedy)

    def _run(self, sequence: StepSequence) -> list[StepRecord]:
        """Run a sequence, make its record durable, and stop where it failed or the drive is another than before."""
        self._tell(sequence.stage, index=sequence.index)
        self._dut.unchanged()
        self._dut.heat()
        watch, capture = self._watcher(sequence), self._captured(sequence)
        drive = self._dut.watched
        if drive:
            drive.begin()
        with self._dut.watch_host() as host:
            records = self._dut.stimulus.run(sequence.steps, _both(drive, watch), capture)
        records = drive.finished(records) if drive else records
        self._disclose()
        if sequence.role == "measure":
            self._done_ns += sum(record.span_ns for record in records)
        self._writer.stepped(
            sequence, records, host=host.record if host else None, drive=drive.record if drive else None
        )
        for step in stalled_steps(records):
            self._writer.note("stall", sequence=sequence.name, step=step.label, stall_ns=step.stall_ns_max)
        check_sequence(records, self._dut.identity.path)
        self._dut.unchanged()
        return records

    def _captured(self, sequence: StepSequence) -> Capture | None:
        """Where the completions of a sequence are kept: of what is measured on request, of others where they say so."""
        if not sequence.keeps_ios and (self._capture == "none" or sequence.role == "prepare"):
            return None
        path = self._writer.trace_path(self._planned.settings.test, sequence.stage, sequence.index)
        return Capture(path=path, addresses=self._capture == "addresses")

    def _watcher(self, sequence: StepSequence) -> Watcher:
        pace, unit_ns = Pace(), sum(step.stop.time_ns or 0 for step in sequence.steps)

        def watch(step_index: int, io_count: int, latency_ns_sum: int, elapsed_ns: int) -> None:
            rate, latency_ms = pace.look(io_count, latency_ns_sum, elapsed_ns)
            timed_ns = elapsed_ns if unit_ns else 0
            self._tell(
                sequence.stage,
                index=sequence.index,
                step=sequence.steps[step_index].label,
                iops=rate,
                latency_ms=latency_ms,
                unit_done_ns=timed_ns,
                unit_ns=unit_ns,
                done_ns=self._done_ns + timed_ns,
            )

        return watch

    def _disclose(self) -> None:
        """Note how the I/Os are carried out whenever it changes."""
        engine = {**self._dut.queue, **self._dut.stimulus.disclosure()}
        if engine != self._engine:
            self._writer.note("engine", **engine)
            self._engine = engine

    def _tell(self, phase: str, **facts: Any) -> None:
        planned = self._planned
        facts.setdefault("done_ns", self._done_ns)
        test, earliest_ns, latest_ns = planned.settings.test, planned.earliest_ns, planned.latest_ns
        self._show(Progress(test=test, phase=phase, earliest_ns=earliest_ns, latest_ns=latest_ns, **facts))
