"""One run from start to end: gate, purge, precondition, rounds, verdict, run folder."""

from __future__ import annotations

import secrets
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.bench import Answers, Bench, check_program, find_drive, open_bench
from assay.device.platform import describe_platform
from assay.errors import EXIT_NOT_STEADY, EXIT_OK, AssayError, DeviceFailureError, InterruptedRunError
from assay.procedures import plan_test
from assay.procedures.loop import PlannedTest, loop_range, preconditioning_program, round_program
from assay.profile import load_profile
from assay.rounds import until_steady
from assay.store.write import RunWriter, new_folder, run_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from assay.plan import Plan
    from assay.profile import Profile
    from assay.records import DriveIdentity, StepRecord, StepSpec
    from assay.rounds import JudgedRound


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run has come. The doors show it; nothing is decided from it.

    phase : ``purge``, ``precondition`` or ``round``. round_index : from 1, 0 outside rounds.
    done_ns, planned_ns : device time of the test loop so far and to its earliest end (five rounds).
    judged : set once per finished round.
    """

    test: str
    phase: str
    step: str = ""
    round_index: int = 0
    io_count: int = 0
    done_ns: int = 0
    planned_ns: int = 0
    judged: JudgedRound | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finished run. exit_code : 0, or 7 where a required steady state was not reached."""

    folder: Path
    exit_code: int


def plan_tests(plan: Plan, drive: DriveIdentity) -> list[PlannedTest]:
    """What the plan's tests will do on this drive, without touching it.

    Raises TooSmallError and ValueRangeError where they cannot run.
    """
    return _plan_tests(load_profile(plan.edition), plan, drive)


def _plan_tests(profile: Profile, plan: Plan, drive: DriveIdentity) -> list[PlannedTest]:
    return [planned for name in plan.tests for planned in plan_test(name, profile, plan, drive)]


def run_plan(plan: Plan, *, out: Path | None, answers: Answers, show: Callable[[Progress], None]) -> Outcome:
    """Run a plan and write its run folder.

    out : the run folder, new or empty; None makes one below ``runs``.
    answers : confirmation and acknowledgements for a real drive. show : called with the progress.
    Everything is checked before the first destructive byte.
    Raises AssayError; what was measured until then is in the folder.
    """
    drive, profile = find_drive(plan), load_profile(plan.edition)
    tests = _plan_tests(profile, plan, drive)
    seed = secrets.randbits(32) if plan.seed is None else plan.seed
    with ExitStack() as stack:
        bench = stack.enter_context(open_bench(plan, drive, tests, answers=answers, seed=seed))
        folder = new_folder(out, f"{_slug(drive)}-{'-'.join(plan.tests)}")
        writer = stack.enter_context(RunWriter(folder, _document(plan, profile, bench, tests, seed)))
        with _failures_noted(writer):
            reached = [_Test(planned, bench, writer, seed, show).run() for planned in tests]
            code = EXIT_OK if all(reached) else EXIT_NOT_STEADY
            writer.note("run_ended", exit_code=code)
            writer.wait()
    return Outcome(folder=folder, exit_code=code)


class _Test:
    """One test on its way through purge, preconditioning and rounds."""

    def __init__(
        self, planned: PlannedTest, bench: Bench, writer: RunWriter, seed: int, show: Callable[[Progress], None]
    ) -> None:
        self._planned = planned
        self._settings = planned.settings
        self._bench = bench
        self._writer = writer
        self._range = loop_range(planned.settings, bench.identity, seed)
        self._show = show
        self._engine: dict[str, str] = {}

    def run(self) -> bool:
        """Returns whether steady state was reached."""
        self._writer.test_started(self._settings)
        self._show(self._progress("purge"))
        self._writer.purged(self._bench.purge())
        self._precondition()
        last = None
        for judged in until_steady(self._settings, self._run_round):
            if judged.window:
                self._writer.judged(judged.window)
            self._show(self._progress("round", round_index=judged.round.index, judged=judged))
            last = judged
        return self._end(last)

    def _precondition(self) -> None:
        self._show(self._progress("precondition"))
        program = preconditioning_program(self._settings, self._bench.identity)
        records = self._run_program(program, self._progress("precondition"))
        self._writer.stepped(records, round_index=None)
        self._check(records)

    def _run_round(self, index: int) -> list[StepRecord]:
        program = round_program(self._settings, self._range)
        records = self._run_program(program, self._progress("round", round_index=index))
        self._writer.stepped(records, round_index=index)
        self._check(records)
        return records

    def _run_program(self, program: list[StepSpec], base: Progress) -> list[StepRecord]:
        done_ns = max(base.round_index - 1, 0) * self._planned.loop_ns

        def watch(step_index: int, io_count: int, elapsed_ns: int) -> None:
            label = program[step_index].label
            spent_ns = done_ns + (elapsed_ns if base.round_index else 0)
            self._show(
                self._progress(
                    base.phase, round_index=base.round_index, step=label, io_count=io_count, done_ns=spent_ns
                )
            )

        records = self._bench.stimulus.run(program, watch)
        self._disclose()
        return records

    def _disclose(self) -> None:
        """Note how the I/Os are carried out whenever it changes."""
        engine = {**self._bench.queue, **self._bench.stimulus.disclosure()}
        if engine != self._engine:
            self._writer.note("engine", **engine)
            self._engine = engine

    def _check(self, records: list[StepRecord]) -> None:
        """Stop on an interruption, or on a drive that fails I/Os, stops answering or is another one."""
        try:
            check_program(records, self._bench.identity.path)
        except DeviceFailureError:
            self._bench.verify()
            raise

    def _end(self, last: JudgedRound | None) -> bool:
        reached = bool(last and last.window and last.window.reached)
        self._writer.note("test_ended", reason="steady" if reached else "round-limit")
        return reached

    def _progress(self, phase: str, **facts: Any) -> Progress:
        planned_ns = 5 * self._planned.loop_ns
        return Progress(test=self._settings.test, phase=phase, planned_ns=planned_ns, **facts)


@contextmanager
def _failures_noted(writer: RunWriter) -> Iterator[None]:
    """Write down why a run ended early, then let the reason through."""
    try:
        yield
    except KeyboardInterrupt:
        _note_end(writer, "interrupted", InterruptedRunError.exit_code)
        raise InterruptedRunError(
            "run", f"stopped; what was measured is in {writer.folder}", f"see it with: assay report {writer.folder}"
        ) from None
    except AssayError as error:
        _note_end(writer, error.slug, error.exit_code, message=str(error))
        remedy = f"{error.remedy}; what was measured: assay report {writer.folder}"
        raise type(error)(error.thing, error.reason, remedy) from error


def _note_end(writer: RunWriter, reason: str, exit_code: int, **facts: Any) -> None:
    writer.note("test_ended", reason=reason)
    writer.note("run_ended", exit_code=exit_code, **facts)


def _document(plan: Plan, profile: Profile, bench: Bench, tests: list[PlannedTest], seed: int) -> dict[str, Any]:
    deviations = [line for test in tests for line in test.deviations]
    return run_document(
        plan={**plan.model_dump(mode="json", by_alias=True), "seed": seed},
        profile=profile.model_dump(mode="json", by_alias=True, exclude_none=True),
        description={key: text for key, text in plan.report.model_dump().items() if text},
        identity=bench.identity,
        platform=describe_platform(),
        deviations=list(dict.fromkeys(deviations)),
        started_wall_ns=time.time_ns(),
        seed=seed,
    )


def _slug(drive: DriveIdentity) -> str:
    """A file name from what the drive is called; drives' strings are hostile."""
    name = drive.path.partition("?")[0].rpartition("/")[2].removeprefix("sim:")
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)[:40] or "drive"
