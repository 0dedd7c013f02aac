"""``assay runs``: the run folders below a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.config import output_folder
from assay.cli.notice import say_unfinished
from assay.cli.table import fits, print_heading, print_paragraph, print_table
from assay.errors import AssayError, StoreError
from assay.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.listed import ListedRun

_HEADERS = ("Run", "Started", "Drive", "Label", "Test", "Measured", "Outcome")
_TEST = 4
"""The first column that is of a test and not of its run."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON; its form is in docs/formats/output.md.")
def runs(folder: Path | None, as_json: bool) -> None:
    """List the runs in FOLDER (default: runs, or the folder that assay config shows).

    The oldest comes first, with what each of its tests measured and how it came out.
    """
    from assay.run.store.read import list_runs  # noqa: PLC0415

    folder = folder or output_folder()
    _check(folder)
    found = sorted((_listed(path) for path in list_runs(folder)), key=lambda run: (run.started_wall_ns or 0, run.run))
    if as_json:
        click.echo(json.dumps([run.as_json() for run in found], indent=2))
    elif found:
        _print(found)
    else:
        click.echo(f"no runs in {visible(str(folder))}")


def _check(folder: Path) -> None:
    """Raise StoreError where there is no such folder, or it is a run itself."""
    from assay.run.store.document import RUN_DOCUMENT  # noqa: PLC0415

    if not folder.is_dir():
        reason = "is no folder" if folder.exists() else "does not exist"
        raise StoreError(str(folder), reason, "name the folder that holds run folders; assay run makes one in runs")
    if (folder / RUN_DOCUMENT).exists():
        raise StoreError(str(folder), "is a run folder, not one that holds them", f"see it with: assay show {folder}")


def _listed(path: Path) -> ListedRun:
    from assay.report.listed import listed_run, unreadable_run  # noqa: PLC0415
    from assay.report.overview import unicode_name  # noqa: PLC0415
    from assay.report.write import foreign  # noqa: PLC0415
    from assay.run.store.read import read_run  # noqa: PLC0415

    name = unicode_name(str(path))
    try:
        run = read_run(path)
        listed = foreign(lambda: listed_run(run, name), name)
    except AssayError as error:
        return unreadable_run(name, error)
    say_unfinished(path, run)
    return listed


def _print(found: list[ListedRun]) -> None:
    """One table where the terminal is wide enough, else one of its tests below each run."""
    rows = [row for run in found for row in _rows(run)]
    if fits(_HEADERS, rows):
        print_table(_HEADERS, rows)
        return
    for place, run in enumerate(found):
        if place:
            click.echo()
        print_heading(_called(run))
        print_paragraph(f"{run.started}, {run.drive}, {run.short_label}")
        print_table(_HEADERS[_TEST:], [row[_TEST:] for row in _rows(run)])


def _called(run: ListedRun) -> str:
    """The folder, with the name and the tags that the run was given. Worked: ``runs/a (night, lab-2)``."""
    given = ", ".join(filter(None, (run.name, *run.tags)))
    return f"{run.run} ({given})" if given else run.run


def _rows(run: ListedRun) -> Iterator[tuple[str, ...]]:
    """A row per test; what is of the whole run stands in the first."""
    first = (_called(run), run.started, run.drive, run.short_label)
    if not run.tests:
        yield (*first, "none", "", run.fault or "unfinished")
    for place, test in enumerate(run.tests):
        yield (*(first if place == 0 else ("",) * len(first)), test.test, test.measured, test.outcome)
