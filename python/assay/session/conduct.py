"""Leads one test through its phases: purge, precondition, rounds or samples, histogram."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from assay.bench import change_told, check_program
from assay.device.purge import PurgeWatch
from assay.errors import AssayError, DeviceFailureError
from assay.procedures.demand import (
    chosen_points,
    demand_round_program,
    point_pre_write_program,
    point_program,
)
from assay.procedures.hir import wait_programs
from assay.procedures.loop import histogram_program, loop_range, preconditioning_program, round_program
from assay.procedures.studies import variant_programs
from assay.procedures.wsat import sample_program, saturation_histogram_program
from assay.procedures.xsr import group_programs
from assay.records import (
    CrossStimulusSettings,
    DemandSettings,
    IdleRecoverySettings,
    LoopSettings,
    SaturationSettings,
    StudySettings,
    StudyStep,
)
from assay.rounds import until_demand_steady, until_saturated, until_steady
from assay.session.progress import Pace, Progress
from assay.stimulus import Capture
from assay.window import NO_COMPLETIONS, stalled_steps, void_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.bench import Bench
    from assay.device.fault_watch import FaultWatch
    from assay.device.watch import DriveWatch
    from assay.procedures.planned import PlannedTest
    from assay.records import AnySettings, CacheState, Phase, StepRecord, StepSpec
    from assay.rounds import Judged
    from assay.store.write import RunWriter

    Watcher = Callable[[int, int, int, int], None]


def conduct(
    planned: PlannedTest,
    bench: Bench,
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
    conductor = _Conductor(planned, bench, writer, show, capture)
    writer.test_started(planned.settings)
    try:
        with change_told(bench.unchanged):
            writer.test_condition(bench.condition())
            conductor.purge()
            return _conduct(conductor, planned.settings, seed)
    except KeyboardInterrupt:
        writer.note("test_ended", reason="interrupted")
        raise
    except AssayError as error:
        writer.note("test_ended", reason=error.slug)
        raise


def _conduct(conductor: _Conductor, settings: AnySettings, seed: int) -> bool:
    match settings:
        case LoopSettings():
            return _conduct_loop(conductor, settings, seed)
        case SaturationSettings():
            return _conduct_saturation(conductor, settings)
        case IdleRecoverySettings():
            return _conduct_idle_recovery(conductor, settings)
        case CrossStimulusSettings():
            return _conduct_cross_stimulus(conductor, settings)
        case StudySettings():
            return _conduct_study(conductor, settings, seed)
        case DemandSettings():
            return _conduct_demand(conductor, settings)


def _conduct_loop(conductor: _Conductor, settings: LoopSettings, seed: int) -> bool:
    identity = conductor.bench.identity
    conductor.run("precondition", preconditioning_program(settings, identity))
    active_range = loop_range(settings, identity, seed)
    cells = round_program(settings, active_range)
    last = conductor.judge("round", until_steady(settings, lambda index: conductor.run("round", cells, index)))
    if settings.histogram_ns and not last.silent:
        conductor.run_again_if_void("histogram", histogram_program(settings, active_range))
    conductor.end(last.ended)
    return last.ended == "steady"


def _conduct_saturation(conductor: _Conductor, settings: SaturationSettings) -> bool:
    last = _saturate(conductor, settings)
    if settings.histogram_ns and not last.silent:
        conductor.run_again_if_void("histogram", saturation_histogram_program(settings))
    conductor.end(last.ended)
    return True


def _conduct_idle_recovery(conductor: _Conductor, settings: IdleRecoverySettings) -> bool:
    prepared = _saturate(conductor, settings.preconditioning).ended
    if prepared == NO_COMPLETIONS:
        conductor.end(prepared)
        return False
    steady = prepared == "steady"
    for index, idle_ns in enumerate(settings.idles_ns, 1):
        for program in wait_programs(settings, idle_ns):
            conductor.run_once("segment", program, index)
    conductor.end("steady" if steady else "round-limit")
    return steady


def _conduct_cross_stimulus(conductor: _Conductor, settings: CrossStimulusSettings) -> bool:
    for index, group in enumerate(settings.groups, 1):
        for program in group_programs(settings, group):
            conductor.run_once("group", program, index)
    conductor.end("time")
    return True


def _conduct_study(conductor: _Conductor, settings: StudySettings, seed: int) -> bool:
    with _write_cache_put_back(conductor, settings):
        for index, variant in enumerate(settings.variants, 1):
            # The first is purged as every test is.
            if variant.purge and index > 1:
                conductor.purge()
            if variant.write_cache is not None:
                conductor.set_write_cache(variant.write_cache)
            for part in variant_programs(variant, conductor.bench.identity.capacity_bytes, seed):
                if isinstance(part, StudyStep):
                    conductor.trim(part.from_bytes, part.from_bytes + part.length_bytes)
                else:
                    conductor.run_once(*part, index)
    conductor.end("time")
    return True


@contextmanager
def _write_cache_put_back(conductor: _Conductor, settings: StudySettings) -> Iterator[None]:
    """Whatever happens, the write cache is what it was before a study that sets it."""
    if all(variant.write_cache is None for variant in settings.variants):
        yield
        return
    former = conductor.bench.identity.write_cache
    try:
        yield
    except BaseException:
        # A drive that failed may not take it any more; what it failed of is what is told.
        with suppress(AssayError):
            conductor.set_write_cache(former)
        raise
    conductor.set_write_cache(former)


def _conduct_demand(conductor: _Conductor, settings: DemandSettings) -> bool:
    before = _saturate(conductor, settings.preconditioning).ended
    if before == NO_COMPLETIONS:
        conductor.end(before)
        return False
    program, rounds = demand_round_program(settings), []  # type: list[StepSpec], list[Sequence[StepRecord]]

    def run_round(index: int) -> Sequence[StepRecord]:
        steps = conductor.run("round", program, index)
        if void_reason(steps, settings) is None:
            rounds.append(steps)
        return steps

    last = conductor.judge("round", until_demand_steady(settings, run_round))
    if last.silent:
        conductor.end(last.ended)
        return False
    _run_points(conductor, settings, rounds)
    prepared = before == "steady"
    conductor.end("round-limit" if last.ended == "steady" and not prepared else last.ended)
    return prepared and last.ended == "steady"


def _run_points(conductor: _Conductor, settings: DemandSettings, rounds: Sequence[Sequence[StepRecord]]) -> None:
    for place, point in enumerate(chosen_points(settings, rounds), 1):
        if before := point_pre_write_program(settings):
            conductor.run_once("pre-write", before, place)
        conductor.run_once("point", point_program(settings, point), place)


def _both(drive: DriveWatch | FaultWatch | None, watch: Watcher) -> Watcher:
    """Look at the drive whenever the stimulus is looked at, so that what befalls it is known to the step."""
    if drive is None:
        return watch

    def look(step_index: int, io_count: int, latency_ns_sum: int, elapsed_ns: int) -> None:
        drive.look(step_index)
        watch(step_index, io_count, latency_ns_sum, elapsed_ns)

    return look


def _saturate(conductor: _Conductor, settings: SaturationSettings) -> Judged:
    def run_samples(index: int, count: int) -> Sequence[StepRecord]:
        return conductor.run("sample", sample_program(settings, count), index)

    return conductor.judge("sample", until_saturated(settings, run_samples))


class _Conductor:
    """Runs the programs of one test on the bench, writes them down and shows how far it is."""

    def __init__(
        self, planned: PlannedTest, bench: Bench, writer: RunWriter, show: Callable[[Progress], None], capture: str
    ) -> None:
        self.bench = bench
        self._planned, self._writer, self._show = planned, writer, show
        self._capture = capture
        self._engine: dict[str, str] = {}
        self._done_ns = 0

    def purge(self) -> None:
        self._tell("purge")
        self._writer.purged(self.bench.purge(PurgeWatch(show=self._show_purge, keep=self._keep)))

    def _show_purge(self, done: float | None, elapsed_ns: int) -> None:
        step = "" if done is None else f"{int(done * 10) * 10} %"
        expected_ns = int(elapsed_ns / done) if done else 0
        self._tell("purge", step=step, unit_done_ns=elapsed_ns, unit_ns=expected_ns)

    def _keep(self, advice: str) -> None:
        self._writer.keep_advice(advice)
        self._tell("purge", advice=advice)

    def trim(self, from_bytes: int, to_bytes: int) -> None:
        """Give a range back to the drive."""
        self.bench.trim(from_bytes, to_bytes)
        self._writer.note("trimmed", from_bytes=from_bytes, to_bytes=to_bytes)

    def set_write_cache(self, state: CacheState) -> None:
        """Set the drive's write cache between programs."""
        self.bench.set_write_cache(state)
        self._writer.note("write_cache_set", state=state)

    def judge(self, phase: Phase, driver: Iterator[Judged]) -> Judged:
        """Write down every verdict; the last round or program of samples.

        Raises DeviceFailureError where more of them are void than the test allows.
        """
        for judged in driver:
            if judged.window:
                self._writer.judged(judged.window)
            self._tell(phase, index=judged.index, judged=judged)
            last = judged
        if last.ended == "stalled":
            raise self._stalled(f"the last void {phase}: {last.void}")
        return last

    def run_again_if_void(self, phase: Phase, program: list[StepSpec]) -> None:
        """Run a program until it is not void, as often as the test allows. Raises DeviceFailureError."""
        settings = self._planned.settings
        for attempt in range(settings.void_limit + 1):
            void = void_reason(self.run(phase, program, attempt), settings)
            if void is None:
                return
        raise self._stalled(f"the last void {phase}: {void}")

    def run_once(self, phase: Phase, program: list[StepSpec], index: int) -> None:
        """Run a program of a sequence that cannot be taken up again behind a stall. Raises DeviceFailureError."""
        if void := void_reason(self.run(phase, program, index), self._planned.settings):
            raise self._stalled(f"{void}; this test cannot go on behind a void {phase}")

    def _stalled(self, reason: str) -> DeviceFailureError:
        remedy = "check the drive and the kernel log, or raise --stall-limit"
        return DeviceFailureError(self.bench.identity.path, f"the drive stalled or was reset: {reason}", remedy)

    def run(self, phase: Phase, program: list[StepSpec], index: int = 0) -> list[StepRecord]:
        """Run a program, make its record durable, and stop where it failed or the drive is another than before."""
        self._tell(phase, index=index)
        self.bench.unchanged()
        self.bench.heat()
        watch, capture = self._watcher(phase, program, index), self._captured(phase, index)
        drive = self.bench.watched
        if drive:
            drive.begin()
        with self.bench.watch_host() as host:
            records = self.bench.stimulus.run(program, _both(drive, watch), capture)
        records = drive.finished(records) if drive else records
        self._disclose()
        if phase != "precondition":
            self._done_ns += sum(record.span_ns for record in records)
        self._writer.stepped(
            records,
            phase=phase,
            index=index,
            host=host.record if host else None,
            drive=drive.record if drive else None,
        )
        for step in stalled_steps(records):
            self._writer.note("stall", phase=phase, index=index, step=step.label, stall_ns=step.stall_ns_max)
        check_program(records, self.bench.identity.path)
        self.bench.unchanged()
        return records

    def _captured(self, phase: Phase, index: int) -> Capture | None:
        """Where the completions of a program are kept: all that is measured on wish, operating points always."""
        if phase == "precondition" or (self._capture == "none" and phase != "point"):
            return None
        path = self._writer.trace_path(self._planned.settings.test, phase, index)
        return Capture(path=path, addresses=self._capture == "addresses")

    def end(self, reason: str | None) -> None:
        """The test has run to its end: what its drive has become, and why it ended."""
        self._writer.test_condition(self.bench.condition())
        self._writer.note("test_ended", reason=reason)

    def _watcher(self, phase: Phase, program: list[StepSpec], index: int) -> Watcher:
        pace, unit_ns = Pace(), sum(step.stop.time_ns or 0 for step in program)

        def watch(step_index: int, io_count: int, latency_ns_sum: int, elapsed_ns: int) -> None:
            rate, latency_ms = pace.look(io_count, latency_ns_sum, elapsed_ns)
            timed_ns = elapsed_ns if unit_ns else 0
            self._tell(
                phase,
                index=index,
                step=program[step_index].label,
                iops=rate,
                latency_ms=latency_ms,
                unit_done_ns=timed_ns,
                unit_ns=unit_ns,
                done_ns=self._done_ns + timed_ns,
            )

        return watch

    def _disclose(self) -> None:
        """Note how the I/Os are carried out whenever it changes."""
        engine = {**self.bench.queue, **self.bench.stimulus.disclosure()}
        if engine != self._engine:
            self._writer.note("engine", **engine)
            self._engine = engine

    def _tell(self, phase: str, **facts: Any) -> None:
        planned = self._planned
        facts.setdefault("done_ns", self._done_ns)
        test, earliest_ns, latest_ns = planned.settings.test, planned.earliest_ns, planned.latest_ns
        self._show(Progress(test=test, phase=phase, earliest_ns=earliest_ns, latest_ns=latest_ns, **facts))
