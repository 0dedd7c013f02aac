"""``assay run``: run a plan on a drive and write its report."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import make_plan, plan_options, yes_destroy_option
from assay.cli.plan import describe
from assay.cli.progress import display
from assay.errors import InterruptedRunError

if TYPE_CHECKING:
    from assay.dut.dut import Answers
    from assay.run.plan_file import Plan
    from assay.run.progress import Progress
    from assay.run.run import Outcome


@click.command()
@plan_options
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Run folder, new or empty.")
@yes_destroy_option
@click.option("--destroy-signature", "signatures", multiple=True, metavar="TYPE", help="Acknowledge what is on it.")
@click.option(
    "--max-drive-writes",
    "drive_writes_max",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="Refuse where more is known to be written, in capacities of the drive.",
)
@click.option(
    "--all-namespaces",
    type=click.IntRange(min=1),
    metavar="COUNT",
    help="Number of namespaces of the drive's controller, if a purge may destroy all of them.",
)
@click.option("--no-report", is_flag=True, help="Write no report; assay report RUN writes it at any time.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def run(out: Path | None, no_report: bool, as_json: bool, **options: Any) -> int:
    """Run a suite on DRIVE, or PLAN.toml, and write the run folder and its report.

    A real drive loses ALL DATA; it must be confirmed with its identity. Exit codes: 0 ok, 2 usage, 3 refused,
    4 device error, 5 results withheld, or a folder that was tampered with, 6 a folder that cannot be read or written,
    7 steady state not reached, 130 interrupted.
    """
    given = {name: options.pop(name) for name in ("yes_destroy", "signatures", "drive_writes_max", "all_namespaces")}
    plan = make_plan(**options)
    answers = _answers(plan, out, **given)
    outcome = _run(plan, out, answers, quiet=as_json)
    return _tell(outcome, [] if no_report else _rendered(outcome.folder), as_json=as_json)


def _answers(
    plan: Plan, out: Path | None, yes_destroy: str | None, signatures: tuple[str, ...], **limits: Any
) -> Answers:
    from assay.dut.dut import Answers, find_drive  # noqa: PLC0415
    from assay.run.run import plan_run  # noqa: PLC0415

    acknowledged, shown = frozenset(signatures), None
    if yes_destroy is None and sys.stdin.isatty():
        drive = find_drive(plan, acknowledged, (out,) if out else ())
        if drive.kind != "simulated" and not drive.refusals:
            click.echo(describe(drive, plan_run(plan, drive), plan.edition_name))
            # An empty answer is one, and refused like any other that is not the identity.
            question = f"Type the identity of the drive ({drive.id}) to destroy its data"
            yes_destroy = click.prompt(question, default="", show_default=False)
            shown = drive.file_id
    return Answers(confirmation=yes_destroy, signatures=acknowledged, shown_file_id=shown, **limits)


def _run(plan: Plan, out: Path | None, answers: Answers, *, quiet: bool) -> Outcome:
    from assay.run.run import run_plan  # noqa: PLC0415

    try:
        if quiet:
            return run_plan(plan, out=out, answers=answers, show=_advise)
        with display() as shown:
            return run_plan(plan, out=out, answers=answers, show=shown.show)
    except InterruptedRunError as error:
        remedy = f"{error.remedy}; run it again with: {_again(sys.argv[1:])}"
        raise InterruptedRunError(error.thing, error.reason, remedy) from None


def _advise(progress: Progress) -> None:
    """Show only what must not be missed."""
    if progress.advice:
        click.echo(progress.advice, err=True)


def _again(arguments: list[str]) -> str:
    """The command without its run folder, which is no longer empty, and without consent, which is given anew.

    Worked: ``run /dev/x --out a --yes-destroy=b`` -> ``assay run /dev/x``.
    """
    dropped = {
        place + offset
        for place, text in enumerate(arguments)
        if text.partition("=")[0] in {"--out", "--yes-destroy"}
        for offset in ((0,) if "=" in text else (0, 1))
    }
    return shlex.join(["assay", *(text for place, text in enumerate(arguments) if place not in dropped)])


def _rendered(folder: Path) -> list[Path]:
    from assay.report import FORMATS  # noqa: PLC0415
    from assay.run.reporting import render_run  # noqa: PLC0415

    try:
        return render_run(folder, FORMATS)
    except KeyboardInterrupt:
        reason = f"stopped while its report was written; the run in {folder} is complete"
        raise InterruptedRunError("run", reason, f"write it with: assay report {folder}") from None


def _tell(outcome: Outcome, paths: list[Path], *, as_json: bool) -> int:
    if as_json:
        facts = {
            "run": str(outcome.folder),
            "exit_code": outcome.exit_code,
            "journal_hash": outcome.journal_hash,
            "exit_codes": list(outcome.exit_codes),
            "tests": [asdict(test) for test in outcome.tests],
            "skipped": {test.test: test.reason for test in outcome.skipped},
            "report": [str(path) for path in paths],
        }
        click.echo(json.dumps(facts, indent=2))
        return outcome.exit_code
    for one in outcome.tests:
        if one.withheld:
            click.echo(f"RESULTS WITHHELD: {one.test}: {one.withheld}")
        if not one.reached:
            click.echo(f"STEADY STATE NOT REACHED: {one.test}")
    if outcome.exit_codes:
        click.echo("Every page of the report says so.")
    for test in outcome.skipped:
        click.echo(f"N/A: {test.test}: {test.reason}")
    click.echo(f"Run folder: {outcome.folder}")
    click.echo(f"Final hash: {outcome.journal_hash}")
    if not paths:
        click.echo(f"Report: not written; write it with: assay report {outcome.folder}")
        return outcome.exit_code
    click.echo(f"Tables: {sum(path.suffix == '.csv' for path in paths)} CSV files beside the report")
    for path in reversed(paths):
        if path.suffix != ".csv":
            click.echo(f"Report: {path.resolve()}")
    return outcome.exit_code
