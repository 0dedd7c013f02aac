"""``assay run``: run a plan on a drive and write its report."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.config import output_folder
from assay.cli.options import (
    gate_options,
    make_plan,
    plan_options,
    refuse_writes_limit,
    run_folder_option,
    yes_destroy_option,
)
from assay.cli.progress import RunDisplay
from assay.errors import EXIT_NOT_MET, EXIT_OK, AssayError, InterruptedRunError, UsageError, joined, strongest_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.cli.progress import Verbosity
    from assay.dut.dut import Answers
    from assay.engine.records import StoredRun
    from assay.report.limits import ShownLimits
    from assay.run.plan_file import Plan
    from assay.run.run import Outcome

_CONSENTS = ("yes_destroy", "signatures", "acknowledged", "drive_writes_max", "all_namespaces")


@click.command(
    cls=HelpedCommand,
    examples=(
        "run sim:client-2011?capacity=32GB --suite client --test iops",
        "run /dev/nvme0n1 --suite enterprise --out runs/p1",
    ),
)
@plan_options
@gate_options
@yes_destroy_option
@run_folder_option
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Interrupted run to resume, on the same drive. Default: a new run.",
)
@click.option("--name", metavar="TEXT", help="Name of the run, to find it by. Default: the plan's, or none.")
@click.option(
    "--tag", "tags", multiple=True, metavar="TEXT", help="Word to find the run by; repeat. Default: the plan's."
)
@click.option("--no-report", is_flag=True, help="Write no report; assay report RUN writes it later.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON, as assay show --json does.")
@click.option("-q", "--quiet", is_flag=True, help="Show only errors; run.log has everything.")
@click.option("-v", "--verbose", is_flag=True, help="Print each cell when its round has ended.")
@click.option(
    "--on-end",
    metavar="COMMAND",
    help="Shell command at the end or failure, with ASSAY_RUN, ASSAY_EXIT_CODE, "
    "ASSAY_OUTCOME. Default: nothing is run.",
)
def run(
    *,
    out: Path | None,
    resume: Path | None,
    no_report: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    on_end: str | None,
    **options: Any,
) -> int:
    """Run a suite on DRIVE, or PLAN.toml, write the run folder and its report, and show the results.

    A run that writes destroys ALL DATA on a real drive and asks for its identity; --read-only keeps the data.
    Exit codes: 0 ok; 2 usage; 3 refused;
    4 the drive failed or changed during the test; 5 results withheld, or a folder was tampered with; 6 a folder
    cannot be read or written; 7 steady state not reached; 8 limits of the plan not met; 130 interrupted.
    """
    if quiet and verbose:
        raise UsageError("--quiet", "contradicts --verbose", "give only --quiet or --verbose")
    verbosity: Verbosity = "quiet" if quiet or (as_json and not verbose) else "verbose" if verbose else "normal"
    if resume is None and not options["targets"]:
        raise click.MissingParameter(param=_parameter("targets"))
    given = {name: options.pop(name) for name in _CONSENTS}
    plan = make_plan(**options) if resume is None else _plan_again(resume, out, options)
    refuse_writes_limit(plan, given["drive_writes_max"])
    for notice in () if quiet else _notices(plan):
        click.echo(notice, err=True)
    from assay.cli.alerts import at_end  # noqa: PLC0415
    from assay.run.ending import RunResult  # noqa: PLC0415

    display = RunDisplay(verbosity)
    with at_end(on_end, display, plan.drive) as end:
        with _answers(plan, resume or out, **given) as answers, display:
            outcome = _run(plan, out, answers, display) if resume is None else _resume(resume, plan, answers, display)
            without = ", before its limits are judged" if plan.limits else ""
            display.say(f"run ended: exit code {outcome.exit_code}{without}")
            stored = cache(partial(_stored, outcome.folder))
            paths = [] if no_report else _rendered(stored, outcome.folder, display)
        judged = _judged(stored, outcome.folder) if plan.limits else None
        end.result = RunResult(exit_codes=_exit_codes(outcome, judged))
        if not quiet or as_json:
            _tell(stored(), outcome.folder, paths, as_json=as_json)
        if judged and not quiet:
            _tell_limits(judged, as_json=as_json)
    return end.result.exit_code


# With --resume the drive and the plan are those of the run.
def _parameter(name: str) -> click.Parameter:
    return next(option for option in run.params if option.name == name)


_parameter("targets").required = False


def _plan_again(folder: Path, out: Path | None, options: dict[str, Any]) -> Plan:
    """The plan to go on with: that of the run, or the one that is named, which must be the same."""
    from assay.run.run import resumed_plan  # noqa: PLC0415

    if out is not None:
        raise UsageError("--out", "contradicts --resume, which continues in the folder of the run", "leave it out")
    if options["targets"]:
        return make_plan(**options)
    given = [name for name, value in options.items() if value not in (None, False, ())]
    if given:
        names = {name: _parameter(name).opts[0] for name in given}
        reason = "cannot change the plan of a resumed run"
        raise joined([UsageError(names[name], reason, "leave it out") for name in given])
    return resumed_plan(folder)


def _resume(folder: Path, plan: Plan, answers: Answers, display: RunDisplay) -> Outcome:
    from assay.run.run import resume_run  # noqa: PLC0415

    return resume_run(folder, plan, answers=answers, show=display.show)


def _notices(plan: Plan) -> tuple[str, ...]:
    """What everybody must know of a run of this edition."""
    from assay.procedures.editions import load_edition  # noqa: PLC0415

    notices = load_edition(plan.edition_name).notices or ()
    return tuple(notice.upper() if not index else notice for index, notice in enumerate(notices))


@contextmanager
def _answers(
    plan: Plan, out: Path | None, yes_destroy: str | None, signatures: tuple[str, ...], **limits: Any
) -> Iterator[Answers]:
    """What the user confirms and acknowledges. The drive that is shown is named by a descriptor until the run ends."""
    from assay.dut.dut import Answers, find_drive, named_drive  # noqa: PLC0415
    from assay.run.foreseen import describe, unrefused  # noqa: PLC0415

    answers = Answers(confirmation=yes_destroy, signatures=frozenset(signatures), **limits)
    if yes_destroy is not None or not sys.stdin.isatty():
        yield answers
        return
    drive = find_drive(plan, answers, (out,) if out else ())
    with named_drive(drive, answers) as named:
        if drive.kind != "simulated" and not drive.refusals and not plan.read_only:
            click.echo(describe(unrefused(plan, drive, answers)))
            # An empty answer is one, and refused like any other that is not the identity.
            question = f"Type the identity of the drive ({drive.id}) to destroy its data"
            typed = click.prompt(question, default="", show_default=False)
            yield replace(named, confirmation=typed, shown_file_id=drive.file_id)
        else:
            yield named


def _run(plan: Plan, out: Path | None, answers: Answers, display: RunDisplay) -> Outcome:
    from assay.run.run import run_plan  # noqa: PLC0415

    try:
        return run_plan(plan, out=out, answers=answers, show=display.show, below=output_folder())
    except InterruptedRunError as error:
        remedy = f"{error.remedy}; run it again with: {_again(sys.argv[1:])}"
        raise InterruptedRunError(error.thing, error.reason, remedy) from None


def _again(arguments: list[str]) -> str:
    """The command without its run folder, which is no longer empty, and without consent, which is given anew.

    Worked: ``run /dev/x --out a --yes-destroy=b`` -> ``assay run /dev/x``.
    """
    dropped = {
        index + offset
        for index, text in enumerate(arguments)
        if text.partition("=")[0] in {"--out", "--yes-destroy"}
        for offset in ((0,) if "=" in text else (0, 1))
    }
    return shlex.join(["assay", *(text for index, text in enumerate(arguments) if index not in dropped)])


def _stored(folder: Path) -> StoredRun:
    """The run as it was stored, checked by this host; what stops that check fails no run."""
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.cli.stored_runs import with_level  # noqa: PLC0415

    result = stored_run(folder)
    try:
        return with_level(result, folder)
    except AssayError:
        return result


def _rendered(stored: Callable[[], StoredRun], folder: Path, display: RunDisplay) -> list[Path]:
    from assay.archive.rendering import render_stored  # noqa: PLC0415
    from assay.report import FORMATS  # noqa: PLC0415

    try:
        return render_stored(stored(), folder, FORMATS, shown=display.rendering)
    except KeyboardInterrupt:
        reason = f"stopped while its report was written; the run in {folder} is complete"
        raise InterruptedRunError("run", reason, f"write it with: assay report {folder}") from None


def _judged(stored: Callable[[], StoredRun], folder: Path) -> ShownLimits | AssayError:
    """The run held against the limits of its plan; the error where one names what its tests do not have."""
    from assay.cli.limits import judged_limits  # noqa: PLC0415
    from assay.report import records_of_tests  # noqa: PLC0415

    try:
        return judged_limits(stored(), records_of_tests(stored()), folder, None)
    except AssayError as error:
        return error


def _exit_codes(outcome: Outcome, judged: ShownLimits | AssayError | None) -> tuple[int, ...]:
    """The exit codes of a run with limits, strongest first. What cannot be judged is not met."""
    code = EXIT_NOT_MET if isinstance(judged, AssayError) else judged.exit_code if judged else EXIT_OK
    return strongest_first({*outcome.exit_codes, code})


def _tell_limits(judged: ShownLimits | AssayError, *, as_json: bool) -> None:
    """Say on standard error what the results do not: why limits cannot be judged, and how they came out of JSON."""
    from assay.report.limits import summary  # noqa: PLC0415

    if isinstance(judged, AssayError):
        click.echo(f"assay: limits cannot be judged: {judged}", err=True)
    elif as_json:
        click.echo(f"assay: {summary(judged)}; see: assay limits {judged.run}", err=True)


def _tell(stored: StoredRun, folder: Path, paths: list[Path], *, as_json: bool) -> None:
    """Show the results as ``assay show`` does. paths : the files of the report."""
    from assay.cli.show import tell_run  # noqa: PLC0415

    if not as_json:
        click.echo()
    tell_run(stored, folder, paths, as_json=as_json)
