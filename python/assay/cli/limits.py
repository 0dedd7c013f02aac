"""``assay limits``: whether a stored run meets limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from assay.cli.commands import HelpedCommand, run_argument, same_as_json_option
from assay.cli.table import numeric, print_heading, print_table
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.engine.records import StoredRun
    from assay.report.limits import ShownLimits
    from assay.summary.pages.test_record import TestRecord

Undecided = Literal["pass", "fail"]


@click.command(cls=HelpedCommand, examples=("limits runs/p1 limits.toml", "limits runs/p1 --out limits"))
@run_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@same_as_json_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for report.pdf, report.html and limits.json. Default: none.",
)
@click.option(
    "--undecided",
    type=click.Choice(["pass", "fail"]),
    default="fail",
    help="Verdict of a limit that cannot be decided. Default: fail.",
)
def limits(run_folder: Path, file: Path | None, *, as_json: bool, out: Path | None, undecided: Undecided) -> int:
    """Check RUN against the limits in FILE (default: those of its plan) and the claims of its data sheet.

    FILE is a file of limits or a plan with limits; docs/guide/limits.md describes the format.

    Exit codes: 0 all met; 2 a limit is wrong; 5 a folder was tampered with; 6 a folder cannot be read; 8
    a limit is not met, or cannot be decided.
    """
    from assay.archive.rendering import dated, stored_run  # noqa: PLC0415
    from assay.cli.stored_runs import say_unfinished  # noqa: PLC0415
    from assay.report import records_of_tests  # noqa: PLC0415

    run = stored_run(run_folder)
    say_unfinished(run_folder, run)
    tests = records_of_tests(run)
    result = judged_limits(run, tests, run_folder, file, undecided)
    if not result.limits:
        raise UsageError(str(run_folder), "states no limits and no claims in its plan", "name a file of limits")
    paths = [] if out is None else _written(dated(run, run_folder, out), tests, result, out)
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2))
    else:
        print_limits(result)
        for path in paths:
            click.echo(str(path))
    return result.exit_code


def judged_limits(
    run: StoredRun, tests: list[TestRecord], folder: Path, file: Path | None, undecided: Undecided = "fail"
) -> ShownLimits:
    """A run held against a file, or against its own plan where none is named. Raises UsageError, StoreError."""
    from assay.compare.limits.judge import exit_code, judge  # noqa: PLC0415
    from assay.compare.limits.model import limits_of_plan, read_limits  # noqa: PLC0415
    from assay.report.formats.write import foreign  # noqa: PLC0415
    from assay.report.limits import shown_limits  # noqa: PLC0415
    from assay.words.visible import unicode_name  # noqa: PLC0415

    stated = limits_of_plan(run) if file is None else read_limits(file)
    judged = foreign(lambda: judge(run, tests, stated), f"run {run.run_id}")
    code = exit_code(judged, undecided=undecided)
    return shown_limits(run, judged, folder=unicode_name(str(folder)), title=stated.title, code=code)


def print_limits(shown: ShownLimits) -> None:
    """Print the verdicts as a table, and how many there are of each."""
    from assay.report.limits import COLUMNS, limit_row, summary  # noqa: PLC0415

    rows = [limit_row(limit) for limit in shown.limits]
    print_heading(shown.title)
    print_table(COLUMNS, rows, right=numeric(COLUMNS, rows))
    click.echo()
    print_heading(summary(shown), alarm=bool(shown.failed + shown.undecided))


def _written(run: StoredRun, tests: list[TestRecord], shown: ShownLimits, out: Path) -> list[Path]:
    from assay.report import render_pages  # noqa: PLC0415
    from assay.report.limits import limits_report  # noqa: PLC0415

    facts = (json.dumps(shown.as_json(), indent=2) + "\n").encode()
    return render_pages(limits_report(run, tests, shown), out, {"limits.json": facts})
