"""Runs a plan, or resumes a run that was cut short: gate, drive, tests in turn, run folder, outcome."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.dut.dut import find_drive, named_drive, open_dut
from assay.dut.foreseen import refuse_run
from assay.dut.real.platform import describe_platform
from assay.engine.codec import encode
from assay.errors import (
    EXIT_NOT_STEADY,
    EXIT_OK,
    EXIT_WITHHELD,
    EXITS_BY_STRENGTH,
    AssayError,
    DeviceFailureError,
    DriveChangedError,
    InterruptedRunError,
    StoreError,
    UsageError,
    WrongDataError,
    joined,
)
from assay.host.calibration import calibrate_host
from assay.host.certificate import certificate_now
from assay.procedures.editions import load_edition
from assay.results.ended import missed_steady_state
from assay.results.host_part import is_calm
from assay.run.ending import EndedTest, ended_test
from assay.run.plan_file import Plan
from assay.run.planning import disk_bytes, forecast, plan_suite, refuse_planned
from assay.run.progress import Progress, RunTimes
from assay.run.runner import run_test
from assay.run.store.document import RUN_SCHEMA, RunDocument, read_document
from assay.run.store.journal import RESUMED
from assay.run.store.progress_file import keeping
from assay.run.store.read import read_run, read_with_journal
from assay.run.store.write import RUNS, RunWriter, new_folder, refuse_full
from assay.words.outcomes import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.dut.dut import Answers, Dut
    from assay.engine.records import DriveIdentity, Platform, SkippedTest, StoredRun, StoredTest
    from assay.run.planning import PlannedRun
    from assay.run.store.journal import Entries
    from assay.spec.edition import Edition


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finished run. exit_code : 0, or 7 where a required steady state was not reached. skipped : reported as N/A.

    journal_hash : SHA-256 of the journal's last line, which holds the whole run.
    """

    folder: Path
    tests: tuple[EndedTest, ...]
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
            plan, dut, writer, planned, seed=seed, show=show, begin=lambda: writer.record("condition", dut.condition())
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
        writer.record("condition", dut.condition())
        writer.wait()
        # By what is stored of them, as their report will say.
        stored = zip(read_run(writer.folder).tests, reached, strict=True)
        tests = tuple(ended_test(test, reached=well) for test, well in stored)
        outcome = Outcome(folder=writer.folder, tests=tests, skipped=planned.skipped)
        writer.note("run_ended", exit_code=outcome.exit_code)
        writer.wait()
    return outcome


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
    """``run.json``: everything that is known before the first I/O."""
    platform, started_wall_ns = describe_platform(), time.time_ns()
    certificate = certificate_now(platform, started_wall_ns) if dut.host_time else None
    if certificate and not is_calm(certificate.calibration):
        # A host that was not calibrated while it was quiet is calibrated now.
        demands = [demand for test in planned.tests for demand in test.settings.demands]
        certificate = replace(certificate, calibration=calibrate_host(demands, cpus=dut.stimulus.cpus))
    document = RunDocument(
        schema=RUN_SCHEMA,
        run_id=f"{started_wall_ns:x}-{os.urandom(4).hex()}",
        plan={**plan.model_dump(mode="json", by_alias=True), "seed": seed},
        edition=edition.model_dump(mode="json", by_alias=True, exclude_none=True),
        description=plan.report.stored,
        identity=dut.identity,
        platform=platform,
        certificate=certificate,
        deviations=planned.deviations,
        skipped=planned.skipped,
        started_wall_ns=started_wall_ns,
        seed=seed,
    )
    content: dict[str, Any] = encode(document)
    return content


def drive_slug(path: str) -> str:
    """A file name from what a drive is called; such strings are hostile. Worked: ``/dev/sdb`` -> ``"sdb"``."""
    name = path.partition("?")[0].rpartition("/")[2].removeprefix("sim:")
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)[:40] or "drive"


_DRIVE = (
    "id",
    "kind",
    "capacity_bytes",
    "logical_block_bytes",
    "physical_block_bytes",
    "model_number",
    "serial",
    "firmware",
    "wwn",
    "eui",
    "nguid",
    "namespace_id",
    "file_id",
    "faults",
    "faults_sha256",
)
_TOOL = ("tool", "tool_version", "build", "host_id")
_SYSTEM = ("system", "motherboard", "cpu", "memory_bytes", "operating_system", "kernel", "clock_source")
_REMEDY = "resume with what the run began with, or begin a new run"
_SHOWN_MAX = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A run that was cut short. done : its tests that ran to their end."""

    folder: Path
    run: StoredRun
    journal: Entries
    done: tuple[StoredTest, ...]


def resumed_plan(folder: Path) -> Plan:
    """The plan of the run in a folder. Raises StoreError."""
    _, document = read_document(folder)
    try:
        return Plan.model_validate(document.plan).resolved()
    except ValidationError as error:
        raise StoreError(str(folder / "run.json"), f"plan: {error.errors()[0]['msg']}", _REMEDY) from None


def resume_run(folder: Path, plan: Plan, *, answers: Answers, show: Callable[[Progress], None]) -> Outcome:
    """Run the tests of a cut-short run that have not run to their end, each from its start.

    plan : as the run's own. answers, show : as of ``run_plan``.
    What was measured before stays as it is; a test that was cut short stays in the journal and is in no result.
    Raises UsageError naming each thing that differs from the run's beginning, or that nothing is left to run;
    FolderBusyError while the run goes on; and as ``run_plan``.
    """
    cut, platform = _cut(folder), describe_platform()
    drive, edition = find_drive(plan, answers, (folder,)), load_edition(plan.edition_name)
    _refuse_others(cut, [*differences(cut.run, plan, drive, edition, platform)])
    rest = _rest(cut, plan_suite(edition, plan, drive))
    expected = forecast(plan, drive, rest.tests)
    most, seed = expected.written_bytes_max, cut.run.plan.get("seed")
    if not isinstance(seed, int):
        reason, remedy = "plan.seed: is no whole number", "the run was changed or damaged"
        raise StoreError(str(folder / "run.json"), reason, remedy)
    refuse_run(plan, drive, rest.tests, answers, written_bytes_max=most, kept=(folder,))
    refuse_full(folder, disk_bytes(rest.tests))
    with ExitStack() as stack:
        answers = stack.enter_context(named_drive(drive, answers))
        dut = stack.enter_context(
            open_dut(plan, drive, rest.tests, answers=answers, seed=seed, written_bytes_max=most, kept=(folder,))
        )
        planned = plan_suite(edition, plan, dut.identity)
        # This drive and version may give other settings of the tests that ran.
        pairs = [
            (test, encode(test.settings), encode(again.settings))
            for test, again in zip(cut.done, planned.tests, strict=False)
        ]
        others = (_unlike(f"settings of {test.settings.test}", then, now) for test, then, now in pairs)
        _refuse_others(cut, [*chain.from_iterable(others)])
        writer = stack.enter_context(RunWriter(folder, None, cut.journal))
        # These may change; the report prints them.
        systems = (_fields(encode(system), _SYSTEM) for system in (cut.run.platform, platform))
        changed = [
            f"{what.removeprefix(': ')}: {before} before, {after} after"
            for what, before, after in _unlike("", *systems)
        ]
        outcome = carry_out(
            plan,
            dut,
            writer,
            _rest(cut, planned),
            seed=seed,
            show=show,
            begin=lambda: writer.note(RESUMED, torn_bytes=cut.journal.torn_bytes, changed=changed),
            done=[not missed_steady_state(test) for test in cut.done],
        )
    return replace(outcome, journal_hash=writer.digest)


def differences(
    run: StoredRun, plan: Plan, drive: DriveIdentity, edition: Edition, platform: Platform
) -> Iterator[tuple[str, str, str]]:
    """Everything that is another than when a run began: what, then, now. Nothing of it may be.

    Worked: the firmware was updated -> ``("drive: firmware", "1.0", "1.1")``.
    """
    now = plan.model_dump(mode="json", by_alias=True)
    if plan.seed is None:
        now["seed"] = run.plan.get("seed")
    yield from _unlike("plan", run.plan, now)
    if plan.edition_name == run.plan.get("edition"):
        # Another edition is named already.
        yield from _unlike("edition", run.edition, edition.model_dump(mode="json", by_alias=True, exclude_none=True))
    yield from _unlike("drive", _fields(encode(run.identity), _DRIVE), _fields(encode(drive), _DRIVE))
    yield from _unlike("tool", _fields(encode(run.platform), _TOOL), _fields(encode(platform), _TOOL))


def _cut(folder: Path) -> _Cut:
    """A run as far as it goes. Raises UsageError where the drive failed in it."""
    run, journal = read_with_journal(folder)
    done = tuple(test for test in run.tests if not is_cut_short(test.ended))
    slugs = {DeviceFailureError.slug, DriveChangedError.slug, WrongDataError.slug}
    failed = [test for test in run.tests if test.ended in slugs]
    if failed:
        reason = f"the drive failed in {failed[-1].settings.test}, which is the result of this run"
        raise UsageError(str(folder), reason, "begin a new run once the drive was looked at")
    return _Cut(folder=folder, run=run, journal=journal, done=done)


def _rest(cut: _Cut, planned: PlannedRun) -> PlannedRun:
    """The tests that are left. Raises UsageError where none is."""
    rest = planned.tests[len(cut.done) :]
    if not rest:
        reason = "every test of it ran to its end, nothing is left to run"
        raise UsageError(str(cut.folder), reason, f"see it with: assay show {cut.folder}")
    return replace(planned, tests=rest)


def _refuse_others(cut: _Cut, found: list[tuple[str, str, str]]) -> None:
    """Raise UsageError with a line for everything that differs."""
    errors = [
        UsageError(f"{cut.folder}: {what}", f"was {_shown(then)} when the run began, is {_shown(now)} now", _REMEDY)
        for what, then, now in found
    ]
    if errors:
        raise joined(errors)


def _fields(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: record.get(name) for name in names}


def _unlike(what: str, then: Any, now: Any) -> Iterator[tuple[str, str, str]]:
    """Every value of two nested tables that differs."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            separator = "." if "." in what or ": " in what else ": "
            yield from _unlike(f"{what}{separator}{key}", then.get(key), now.get(key))
    elif (list(then) if isinstance(then, tuple) else then) != (list(now) if isinstance(now, tuple) else now):
        yield what, str(then), str(now)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
