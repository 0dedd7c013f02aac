"""One plan on several drives, one after the other, each into a run folder of its own.

Source: Calypso Blind Survey 2010, test plan of levels I and II: the same tests on every drive of a pool.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.dut.dut import find_drive
from assay.errors import AssayError, ConfirmationError, InterruptedRunError, StoreError, UsageError, joined
from assay.procedures.registry import SURVEY
from assay.run.plan_file import load_plan
from assay.run.planning import forecast, plan_run, refuse_planned
from assay.run.run import drive_slug, run_plan
from assay.run.store import RUN_DOCUMENT
from assay.run.store.read import read_run
from assay.spec.toml_file import read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from assay.dut.dut import Answers
    from assay.engine.records import DriveIdentity
    from assay.run.plan_file import Plan
    from assay.run.progress import Progress

DRIVES = "drives"
"""The key of a plan file that lists the drives of a survey."""

DRIVES_MIN, DRIVES_MAX = 2, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One drive of a survey. number : its place, from 1. folder : of its run. measured : that is there and complete."""

    number: int
    plan: Plan
    drive: DriveIdentity
    folder: Path
    measured: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOutcome:
    """How the run of a sample ended. error : None where it ran; else why it did not, or not to its end."""

    sample: Sample
    exit_code: int
    error: AssayError | None = None


def survey_samples(
    path: Path, drives: Sequence[str], overrides: Mapping[str, Any], out: Path, *, completed: Callable[[Plan], Plan]
) -> tuple[Sample, ...]:
    """The samples of a survey, found and planned; nothing is touched.

    drives : those of the command line; the list ``drives`` of the file where there are none. overrides : as of
    ``load_plan``; the suite is ``blind-survey`` where neither they nor the file name tests. out : the folder of the run
    folders, which are named by number and drive. completed : adds to a plan what the user's settings say.
    A folder that holds a complete run of the same plan on the same drive is kept, so that a survey can go on.
    Raises UsageError for fewer than two drives, more than 50, or one that is named twice; AssayError as a run would.
    """
    table, _ = read_toml(path)
    listed = drives or table.get(DRIVES, ())
    if not isinstance(listed, list | tuple) or not all(isinstance(drive, str) and drive for drive in listed):
        raise UsageError(f"{path}: {DRIVES}", "is no list of drives", 'write: drives = ["/dev/sdb", "/dev/sdc"]')
    chosen = dict(overrides)
    if not (table.keys() | chosen.keys()) & {"suite", "tests", "studies"}:
        chosen["suite"] = SURVEY
    if not DRIVES_MIN <= len(listed) <= DRIVES_MAX:
        reason = f"has {len(listed)} drives; a survey has {DRIVES_MIN} to {DRIVES_MAX}"
        raise UsageError(str(path), reason, 'name them after the plan, or in it: drives = ["/dev/sdb", "/dev/sdc"]')
    plans = [completed(load_plan(path, {**chosen, "drive": drive}, left_out=(DRIVES,))) for drive in listed]
    samples = [_sample(number, plan, out) for number, plan in enumerate(plans, 1)]
    seen: dict[str, Sample] = {}
    for sample in samples:
        first = seen.setdefault(sample.drive.id, sample)
        if first is not sample:
            names = f"{first.plan.drive} and {sample.plan.drive}"
            remedy = "name each drive once, and simulated drives with a seed each: sim:NAME?seed=2"
            raise UsageError(names, "are the same drive", remedy)
    return tuple(samples)


def refuse_survey(samples: Sequence[Sample], answers: Mapping[int, Answers]) -> None:
    """Raise all that the runs of a survey would be refused for before their first byte.

    answers : of each sample by its number. Raises AssayError, several as one.
    """
    errors = [error for sample in samples if not sample.measured and (error := _refusal(sample, answers))]
    if errors:
        raise errors[0] if len(errors) == 1 else joined(errors)


def run_sample(sample: Sample, answers: Answers, show: Callable[[Progress], None]) -> SampleOutcome:
    """Run one sample, unless it is measured already, and say how it ended.

    An error of its own is part of that, so that it costs no other sample. Raises InterruptedRunError.
    """
    if sample.measured:
        return SampleOutcome(sample=sample, exit_code=0)
    try:
        done = run_plan(sample.plan, out=sample.folder, answers=answers, show=show)
    except InterruptedRunError:
        raise
    except AssayError as error:
        return SampleOutcome(sample=sample, exit_code=error.exit_code, error=error)
    return SampleOutcome(sample=sample, exit_code=done.exit_code)


def answers_of(samples: Sequence[Sample], confirmed: Sequence[str], common: Answers) -> dict[int, Answers]:
    """The answers to the gate for each sample: its own confirmation among those given, and what holds for all.

    Raises UsageError for a confirmation that is of none of them.
    """
    known = {sample.drive.id for sample in samples}
    for one in confirmed:
        if one not in known:
            raise UsageError("--yes-destroy", f"{one!r} is no drive of the survey", "see them with: assay drives")
    return {
        sample.number: replace(common, confirmation=sample.drive.id if sample.drive.id in confirmed else None)
        for sample in samples
    }


def _sample(number: int, plan: Plan, out: Path) -> Sample:
    name = plan.drive.partition("?")[0].removesuffix(".toml")
    drive, folder = find_drive(plan), out / f"{number:02}-{drive_slug(name)}"
    return Sample(number=number, plan=plan, drive=drive, folder=folder, measured=_is_measured(folder, plan, drive))


def _is_measured(folder: Path, plan: Plan, drive: DriveIdentity) -> bool:
    """Whether a folder holds a complete run of this plan on this drive. Raises StoreError where it holds another."""
    if not (folder / RUN_DOCUMENT).exists():
        return False
    run = read_run(folder)
    asked = plan.model_dump(mode="json", by_alias=True)
    differing = sorted(key for key, value in asked.items() if key != "seed" and run.plan.get(key) != value)
    if plan.seed is not None and run.plan.get("seed") != plan.seed:
        differing.append("seed")
    if run.identity.id != drive.id:
        differing.append("drive")
    if differing:
        reason = f"holds a run that differs in {', '.join(dict.fromkeys(differing))}"
        raise StoreError(str(folder), reason, "name another folder with --out")
    if run.journal is None or not run.journal.complete:
        raise StoreError(str(folder), "holds a run that did not end", f"move it away: mv {folder} {folder}-cut")
    return True


def _refusal(sample: Sample, answers: Mapping[int, Answers]) -> AssayError | None:
    given = answers[sample.number]
    try:
        planned = plan_run(sample.plan, sample.drive)
        expected = forecast(sample.plan, sample.drive, planned.tests)
        refuse_planned(
            sample.plan,
            sample.drive,
            planned,
            expected,
            out=sample.folder,
            answers=given,
            below=sample.folder.parent,
        )
        if sample.drive.kind != "simulated" and given.confirmation is None:
            remedy = f"all data on it will be lost; confirm it with: --yes-destroy {sample.drive.id}"
            return ConfirmationError(sample.plan.drive, "was not confirmed", remedy)
    except AssayError as error:
        return error
    return None
