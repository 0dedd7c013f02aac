"""``assay runs``: the run folders below a folder, by way of the index."""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import Command, HelpedCommand, same_as_json_option
from assay.cli.completion import edition_candidates, test_candidates
from assay.cli.config import output_folder
from assay.cli.options import index_option
from assay.cli.stored_runs import say_unfinished_listed
from assay.cli.table import fits, print_heading, print_paragraph, print_table
from assay.errors import AssayError, StoreError, UsageError
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import StoredRun
    from assay.summary.forms import ListedRun

_HEADERS = ("Run", "Started", "Drive", "Label", "Level", "Test", "Measured", "Outcome")
_TEST = 5
"""The first column that is of a test and not of its run."""
_VERDICTS = (
    "steady", "not-steady", "not-settled", "not-judged", "no-rule", "withheld", "cut-short", "measured", "unreadable",
)  # fmt: skip
_LABELS = ("conforming", "not-conforming", "simulated")


def _filter(option: str, name: str, *, text: str, **more: Any) -> Callable[[Command], Command]:
    """An option that asks for something of a run; given more than once, for any of these."""
    return click.option(option, name, multiple=True, help=f"{text} Default: any.", **more)


@click.command(
    cls=HelpedCommand, examples=("runs --model P4800X --verdict steady", "runs --everywhere --since 2026-11-01")
)
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@_filter("--drive", "drives", metavar="WORD", text="Only where serial, identity or path has WORD.")
@_filter("--model", "models", metavar="WORD", text="Only of drives whose model has WORD.")
@_filter("--firmware", "firmwares", metavar="WORD", text="Only where the firmware has WORD.")
@_filter("--test", "tests", metavar="N", text="Only with this test or study.", shell_complete=test_candidates)
@_filter("--edition", "editions", metavar="E", text="Only by this edition.", shell_complete=edition_candidates)
@_filter(
    "--verdict",
    "verdicts",
    type=click.Choice(_VERDICTS),
    metavar="VERDICT",
    text=f"Only where a test came out so: {', '.join(_VERDICTS)}. measured includes not-settled, not-judged and "
    "no-rule; withheld includes cut-short.",
)
@_filter(
    "--label", "labels", type=click.Choice(_LABELS), text="Only with this label; simulated drives have only simulated."
)
@click.option(
    "--since",
    metavar="TIME",
    help="Begun at or after TIME, as 2026-11-22 or 2026-11-22T14:30 (UTC). Default: any.",
)
@click.option("--until", metavar="TIME", help="Begun at or before TIME; a day includes all its hours. Default: any.")
@_filter("--host", "hosts", metavar="WORD", text="Only where host, system or lab has WORD.")
@_filter("--name", "names", metavar="WORD", text="Only where the name of the run has WORD.")
@_filter("--tag", "tags", metavar="WORD", text="Only with this tag.")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the N newest of them. Default: all.")
@click.option(
    "--replicated",
    is_flag=True,
    help="Also list replications: other host, other drive, every number within 5 %.",
)
@click.option("--missing", is_flag=True, help="Also indexed runs whose folder is gone.")
@click.option("--everywhere", is_flag=True, help="Runs of every folder and host in the index.")
@index_option
@same_as_json_option
def runs(
    folder: Path | None,
    *,
    last: int | None,
    replicated: bool,
    missing: bool,
    everywhere: bool,
    index: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """List the runs in FOLDER (default: runs, or the folder that assay config shows).

    The oldest comes first, with the results and the outcome of each test. Values of a repeated option are
    alternatives; different options must all match. Conditions on tests must match within a single test. Case is
    ignored. A run is listed with all of its tests.

    Known runs come from the index (assay index); new and changed runs are read first.
    """
    from assay.archive.index.search import Wanted, since_ns, until_ns  # noqa: PLC0415
    from assay.cli.index import index_place, runs_everywhere, runs_in  # noqa: PLC0415

    since, until = since_ns(asked.pop("since")), until_ns(asked.pop("until"))
    wanted = Wanted(since_ns=since, until_ns=until, **asked)
    place = index_place(index)
    if everywhere and folder is not None:
        raise UsageError("--everywhere", "is given with a folder", "give only a folder or --everywhere")
    if not everywhere:
        folder = folder or output_folder()
        _check(folder)
    with _uncollected():
        listed = runs_in(place, folder, numbers=as_json) if folder else runs_everywhere(place, numbers=as_json)
        there = [run for run in listed if missing or not run.missing]
        result = sorted(filter(wanted, there), key=lambda run: (run.started_wall_ns or 0, run.run))
        result = result[-last:] if last else result
        result = _replicated(result, there) if replicated else result
        for run in result:
            say_unfinished_listed(run)
        _show(result, as_json=as_json, where=_where(folder, len(there)))


def _replicated(listed_runs: list[ListedRun], among: list[ListedRun]) -> list[ListedRun]:
    """Runs with their level, which says by how many of a list each is replicated; those that can be are read."""
    from assay.archive.bundle import replicated_by  # noqa: PLC0415
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.cli.stored_runs import with_known_level  # noqa: PLC0415
    from assay.report.annex.trust import with_replicas  # noqa: PLC0415

    runs: dict[str, StoredRun] = {}
    for candidate in _candidates(among):
        # What cannot be read is in the list with its reason.
        with suppress(AssayError):
            path = Path(candidate.run)
            runs[candidate.run] = with_known_level(stored_run(path), path)
    others = dict(zip(runs, map(len, replicated_by(tuple(runs.values()))), strict=True))
    return [
        listed_run.model_copy(update={"level": with_replicas(listed_run.level, others.get(listed_run.run, 0))})
        for listed_run in listed_runs
    ]


def _candidates(among: list[ListedRun]) -> Iterator[ListedRun]:
    """The whole runs of real drives of models that more than one host has runs of: no other can be replicated."""
    hosts: dict[str, set[str]] = {}
    whole = [run for run in among if run.complete and run.drive_facts and run.label_class != "simulated"]
    for run in whole:
        hosts.setdefault(_model(run), set()).add(run.host)
    yield from (run for run in whole if len(hosts[_model(run)]) > 1)


def _model(run: ListedRun) -> str:
    return run.drive_facts.model if run.drive_facts else ""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collection of garbage: of ten thousand runs none is thrown away, and looking takes half the time."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Nor is it looked for when the process ends.
        gc.freeze()
        if collected:
            gc.enable()


def _show(listed_runs: list[ListedRun], *, as_json: bool, where: str) -> None:
    if as_json:
        click.echo(json.dumps([run.as_json() for run in listed_runs], indent=2))
    elif listed_runs:
        _print(listed_runs)
    else:
        click.echo(f"no runs in {where}")


def _where(folder: Path | None, count: int) -> str:
    """The place in which no run matches. Worked: 3 others in ``runs`` -> ``"runs that fit, of 3"``."""
    place = visible(str(folder)) if folder is not None else "the index"
    return f"{place} that fit, of {count}" if count else place


def _check(folder: Path) -> None:
    """Raise StoreError where there is no such folder, or it is a run itself."""
    from assay.run.store import RUN_DOCUMENT  # noqa: PLC0415

    if not folder.is_dir():
        reason = "is no folder" if folder.exists() else "does not exist"
        raise StoreError(str(folder), reason, "name the parent of run folders; assay run creates them in runs")
    if (folder / RUN_DOCUMENT).exists():
        raise StoreError(
            str(folder), "is a run folder, not the parent of run folders", f"see it with: assay show {folder}"
        )


def _print(listed_runs: list[ListedRun]) -> None:
    """One table where the terminal is wide enough, else one of its tests below each run."""
    rows = [row for run in listed_runs for row in _rows(run)]
    if fits(_HEADERS, rows):
        print_table(_HEADERS, rows)
        return
    for index, run in enumerate(listed_runs):
        if index:
            click.echo()
        print_heading(_called(run))
        print_paragraph(f"{run.started}, {run.drive}, {run.short_label}, {run.level}")
        print_table(_HEADERS[_TEST:], [row[_TEST:] for row in _rows(run)])


def _called(run: ListedRun) -> str:
    """The folder, with the name and the tags that the run was given. Worked: ``runs/a (night, lab-2)``."""
    given = ", ".join(filter(None, (run.name, *run.tags, "missing" if run.missing else "")))
    return f"{run.run} ({given})" if given else run.run


def _rows(run: ListedRun) -> Iterator[tuple[str, ...]]:
    """A row per test; what is of the whole run stands in the first."""
    first = (_called(run), run.started, run.drive, run.short_label, run.level)
    if not run.tests:
        yield (*first, "none", "", run.fault or "unfinished")
    for index, test in enumerate(run.tests):
        yield (*(first if index == 0 else ("",) * len(first)), test.test, test.measured, test.outcome)
