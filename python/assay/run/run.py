"""Runs a plan: the gate, the drive, the tests one after the other, the run folder, and how it ended."""

from __future__ import annotations

import secrets
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.dut.dut import expected_drive, find_drive, named_drive, open_dut
from assay.dut.foreseen import refuse_run
from assay.dut.real.platform import describe_platform
from assay.errors import (
    EXIT_NOT_STEADY,
    EXIT_OK,
    EXIT_WITHHELD,
    EXITS_BY_STRENGTH,
    AssayError,
    InterruptedRunError,
)
from assay.host.calibration import calibrate_host
from assay.host.certificate import certificate_now
from assay.procedures.editions import load_edition
from assay.results import withheld_reason
from assay.results.calm import is_calm
from assay.run.forecast import disk_bytes, forecast
from assay.run.keep_progress import keeping
from assay.run.planning import plan_suite
from assay.run.progress import Progress
from assay.run.runner import run_test
from assay.run.store.read import read_run
from assay.run.store.write import RUNS, RunWriter, new_folder, refuse_folder, run_document
from assay.run.time_left import RunTimes
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from assay.dut.dut import Answers, Dut
    from assay.engine.records import DriveIdentity, HostCertificate, SkippedTest
    from assay.run.forecast import Forecast
    from assay.run.plan_file import Plan
    from assay.run.planning import PlannedRun
    from assay.spec.edition import Edition


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """How one test of a run ended.

    ended : as stored. reached : whether it is steady where the specification requires it. withheld : why its results
    are in no report, None where they are.
    """

    test: str
    ended: str | None
    reached: bool
    withheld: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finished run. exit_code : 0, or 7 where a required steady state was not reached. skipped : reported as N/A.

    journal_hash : SHA-256 of the journal's last line, which holds the whole run.
    """

    folder: Path
    tests: tuple[TestOutcome, ...]
    skipped: tuple[SkippedTest, ...] = ()
    journal_hash: str = ""

    @property
    def exit_codes(self) -> tuple[int, ...]:
        """Every code that applies, strongest first: 5 for withheld results, 7 without a required steady state.

        Worked: one test withheld, another not steady -> ``(5, 7)``; all well -> ``()``.
        """
        codes = {EXIT_WITHHELD for test in self.tests if test.withheld}
        codes |= {EXIT_NOT_STEADY for test in self.tests if not test.reached}
        return tuple(code for code in EXITS_BY_STRENGTH if code in codes)

    @property
    def exit_code(self) -> int:
        """The strongest of them, 0 where all is well."""
        return next(iter(self.exit_codes), EXIT_OK)


def plan_run(plan: Plan, drive: DriveIdentity) -> PlannedRun:
    """What the plan's tests will do on this drive, without touching it.

    Raises TooSmallError and ValueRangeError where none of them can run.
    """
    edition = load_edition(plan.edition_name)
    return plan_suite(edition, plan, expected_drive(plan, drive, edition.write_cache.value))


def refuse_planned(
    plan: Plan,
    drive: DriveIdentity,
    planned: PlannedRun,
    expected: Forecast,
    *,
    out: Path | None,
    answers: Answers,
    below: Path,
) -> None:
    """Raise what a run would be refused for before its first byte, as far as it can be known by now.

    A run asks this first, so that ``assay plan`` says the same in the same words. Raises AssayError.
    """
    most, kept = expected.written_bytes_max, (out or below,)
    refuse_run(plan, drive, planned.tests, answers, written_bytes_max=most, kept=kept)
    refuse_folder(out, expected.disk_bytes, below)


def run_plan(
    plan: Plan, *, out: Path | None, answers: Answers, show: Callable[[Progress], None], below: Path = RUNS
) -> Outcome:
    """Run a plan and write its run folder.

    out : the run folder, new or empty; None makes one in the folder ``below``.
    answers : confirmation and acknowledgements for a real drive. show : called with the progress.
    Everything is checked before the first destructive byte.
    Raises AssayError; what was measured until then is in the folder.
    """
    drive, edition = find_drive(plan), load_edition(plan.edition_name)
    with ExitStack() as stack:
        answers = stack.enter_context(named_drive(drive, answers))
        planned = plan_suite(edition, plan, drive)
        expected = forecast(plan, drive, planned.tests)
        refuse_planned(plan, drive, planned, expected, out=out, answers=answers, below=below)
        seed = secrets.randbits(32) if plan.seed is None else plan.seed
        dut = stack.enter_context(
            open_dut(
                plan,
                drive,
                planned.tests,
                answers=answers,
                seed=seed,
                written_bytes_max=expected.written_bytes_max,
                kept=(out or below,),
            )
        )
        # Whether its write cache lets itself be set is only known now.
        planned = plan_suite(edition, plan, dut.identity)
        folder = new_folder(
            out,
            f"{drive_slug(drive.path)}-{'-'.join((*plan.tests, *plan.studies))[:100]}",
            disk_bytes(planned.tests),
            below,
        )
        writer = stack.enter_context(RunWriter(folder, _document(plan, edition, dut, planned, seed)))
        outcome = carry_out(
            plan, dut, writer, planned, seed=seed, show=show, begin=lambda: writer.condition(dut.condition())
        )
    return replace(outcome, journal_hash=writer.digest)


def carry_out(
    plan: Plan,
    dut: Dut,
    writer: RunWriter,
    planned: PlannedRun,
    *,
    seed: int,
    show: Callable[[Progress], None],
    begin: Callable[[], None],
    done: Sequence[bool] = (),
) -> Outcome:
    """Run tests one after the other on a drive that is held, and write down how the run ended.

    begin : writes what stands before the first. done : of tests that are in the folder already, whether each reached
    what it had to.
    """
    with _failures_noted(writer):
        begin()
        times = RunTimes(planned.tests, real=dut.host_time, before=len(done))
        show = keeping(writer, show, drive=dut.identity)
        show(Progress(folder=writer.folder, virtual=not dut.host_time))
        reached = [
            *done,
            *(
                run_test(test, dut, writer, seed=seed, show=show, capture=plan.capture, times=times)
                for test in planned.tests
            ),
        ]
        writer.condition(dut.condition())
        writer.wait()
        outcome = Outcome(folder=writer.folder, tests=_outcomes(writer.folder, reached), skipped=planned.skipped)
        writer.note("run_ended", exit_code=outcome.exit_code)
        writer.wait()
    return outcome


def _outcomes(folder: Path, reached: Sequence[bool]) -> tuple[TestOutcome, ...]:
    """How the tests ended, by what is stored of them, as their report will say."""
    return tuple(
        TestOutcome(
            test=test.settings.test, ended=test.ended, reached=well, withheld=text_or_none(withheld_reason(test))
        )
        for test, well in zip(read_run(folder).tests, reached, strict=True)
    )


@contextmanager
def _failures_noted(writer: RunWriter) -> Iterator[None]:
    """Write down why a run ended early, then let the reason through."""
    try:
        yield
    except KeyboardInterrupt:
        writer.note("run_ended", exit_code=InterruptedRunError.exit_code)
        raise InterruptedRunError(
            "run",
            f"stopped; what was measured is in {writer.folder}",
            f"see it with: assay show {writer.folder}; go on with it: assay run --resume {writer.folder}",
        ) from None
    except AssayError as error:
        writer.note("run_ended", exit_code=error.exit_code, message=str(error))
        remedy = f"{error.remedy}; see what was measured until then with: assay show {writer.folder}"
        raise type(error)(error.thing, error.reason, remedy) from error


def _document(plan: Plan, edition: Edition, dut: Dut, planned: PlannedRun, seed: int) -> dict[str, Any]:
    platform, started_wall_ns = describe_platform(), time.time_ns()
    return run_document(
        plan={**plan.model_dump(mode="json", by_alias=True), "seed": seed},
        edition=edition.model_dump(mode="json", by_alias=True, exclude_none=True),
        description=plan.report.stored,
        identity=dut.identity,
        platform=platform,
        certificate=_certificate(certificate_now(platform, started_wall_ns), dut, planned) if dut.host_time else None,
        deviations=planned.deviations,
        skipped=planned.skipped,
        started_wall_ns=started_wall_ns,
        seed=seed,
    )


def _certificate(known: HostCertificate, dut: Dut, planned: PlannedRun) -> HostCertificate:
    """What is known of the host; one that was not calibrated while it was quiet is calibrated now."""
    if is_calm(known.calibration):
        return known
    demands = [demand for test in planned.tests for demand in test.settings.demands]
    return replace(known, calibration=calibrate_host(demands, cpus=dut.stimulus.cpus))


def drive_slug(path: str) -> str:
    """A file name from what a drive is called; such strings are hostile. Worked: ``/dev/sdb`` -> ``"sdb"``."""
    name = path.partition("?")[0].rpartition("/")[2].removeprefix("sim:")
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)[:40] or "drive"
