"""Goes on with a run that was cut short: at its next test, behind a fresh purge, on the same drive by the same plan."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.dut.dut import find_drive, named_drive, open_dut
from assay.dut.foreseen import refuse_run
from assay.dut.real.platform import describe_platform
from assay.engine.codec import encode
from assay.errors import DeviceFailureError, DriveChangedError, StoreError, UsageError, WrongDataError, joined
from assay.procedures.editions import load_edition
from assay.results import missed_steady_state
from assay.run.forecast import disk_bytes, forecast
from assay.run.plan_file import Plan
from assay.run.planning import plan_suite
from assay.run.run import carry_out
from assay.run.store.document import read_document
from assay.run.store.read import read_with_journal
from assay.run.store.resumed import RESUMED
from assay.run.store.write import RunWriter, refuse_full
from assay.words.endings import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from assay.dut.dut import Answers
    from assay.engine.records import DriveIdentity, Platform, StoredRun, StoredTest
    from assay.run.planning import PlannedRun
    from assay.run.progress import Progress
    from assay.run.run import Outcome
    from assay.run.store.journal import Entries
    from assay.spec.edition import Edition

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
    most, seed = expected.written_bytes_max, _seed(cut)
    refuse_run(plan, drive, rest.tests, answers, written_bytes_max=most, kept=(folder,))
    refuse_full(folder, disk_bytes(rest.tests))
    with ExitStack() as stack:
        answers = stack.enter_context(named_drive(drive, answers))
        dut = stack.enter_context(
            open_dut(plan, drive, rest.tests, answers=answers, seed=seed, written_bytes_max=most, kept=(folder,))
        )
        planned = plan_suite(edition, plan, dut.identity)
        _refuse_others(cut, [*_other_settings(cut, planned)])
        writer = stack.enter_context(RunWriter(folder, None, cut.journal))
        changed = list(_changed(cut.run.platform, platform))
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


def _seed(cut: _Cut) -> int:
    seed = cut.run.plan.get("seed")
    if not isinstance(seed, int):
        raise StoreError(
            str(cut.folder / "run.json"), "plan.seed: is no whole number", "the run was changed or damaged"
        )
    return seed


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


def _other_settings(cut: _Cut, planned: PlannedRun) -> Iterator[tuple[str, str, str]]:
    """Settings of the tests that ran, where this drive and version would give others."""
    for test, again in zip(cut.done, planned.tests, strict=False):
        yield from _unlike(f"settings of {test.settings.test}", encode(test.settings), encode(again.settings))


def _changed(then: Platform, now: Platform) -> Iterator[str]:
    """What of the test system may be another, and is printed. Worked: ``kernel: 6.1 before, 6.2 after``."""
    for what, before, after in _unlike("", _fields(encode(then), _SYSTEM), _fields(encode(now), _SYSTEM)):
        yield f"{what.removeprefix(': ')}: {before} before, {after} after"


def _fields(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: record.get(name) for name in names}


def _unlike(what: str, then: Any, now: Any) -> Iterator[tuple[str, str, str]]:
    """Every value of two nested tables that differs."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            separator = "." if "." in what or ": " in what else ": "
            yield from _unlike(f"{what}{separator}{key}", then.get(key), now.get(key))
    elif _plain(then) != _plain(now):
        yield what, str(then), str(now)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
