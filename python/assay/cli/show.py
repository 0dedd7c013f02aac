"""``assay show``: the results of a run on the terminal, from its folder alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.helped import HelpedCommand
from assay.cli.table import numeric, print_heading, print_paragraph, print_table, shown_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.report import Overview
    from assay.report.formats.terminal.overview import ShownTable, ShownTest
    from assay.summary.forms import LabelClass, ShownDrive

_ALARM = "bold red"
_VALUE = 2
"""The column of the value in the table of the numbers that people quote."""


@click.command(cls=HelpedCommand, examples=("show runs/p1", "show runs/p1 --full"))
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="All numbers and tables. Default: 24 lines.")
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON; its form is in docs/formats/output.md.")
def show(run_folder: Path, *, full: bool, as_json: bool) -> int:
    """Show the results of RUN on the terminal.

    Shown are the label, the verdict of each test, the key results, the limits, and the path of the report. With
    --full also every deviation and the tables of each test.

    Exit codes: 0 ok; 5 results withheld, or a folder was tampered with; 6 a folder cannot be read; 7 steady state
    not reached; 8 a limit of the plan is not met.
    """
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.cli.notice import say_unfinished  # noqa: PLC0415
    from assay.cli.origin import with_level  # noqa: PLC0415

    run = with_level(stored_run(run_folder), run_folder)
    say_unfinished(run_folder, run)
    return tell_run(run, run_folder, full=full, as_json=as_json)


def tell_run(
    run: StoredRun, folder: Path, files: Iterable[Path] | None = None, *, full: bool = False, as_json: bool = False
) -> int:
    """Print a run, short, in full or as JSON; the exit code that it ends with.

    files : of its report; those that are in its folder where none are given.
    """
    from assay.archive.rendering import run_overview  # noqa: PLC0415

    if full or as_json:
        return tell(run_overview(run, folder, files), as_json=as_json)
    return _tell_short(run, folder, files)


def _tell_short(run: StoredRun, folder: Path, files: Iterable[Path] | None) -> int:
    from assay.archive.rendering import run_summary  # noqa: PLC0415
    from assay.report.formats.terminal.lines import COLUMNS_MAX, terminal_lines  # noqa: PLC0415
    from assay.words.visible import visible  # noqa: PLC0415

    result = run_summary(run, folder)
    for line in terminal_lines(result, _ends(run, folder, files), shown_columns(COLUMNS_MAX)):
        click.echo(click.style(visible(line.text), fg=_COLOURS.get(line.level or "")))
    return next(iter(result.exit_codes), 0)


_COLOURS = {"bad": "red", "warn": "yellow", "good": "green"}


def _ends(run: StoredRun, folder: Path, files: Iterable[Path] | None) -> list[str]:
    """Where everything else is. The report of an earlier state is said to be one."""
    from assay.archive.rendering import report_files  # noqa: PLC0415

    ends, older = report_files(run, folder, files)
    documents = [path for path in ends if path.suffix in {".pdf", ".html"}]
    shown = next(iter(documents or [path.parent for path in ends]), None)
    state = " (of an earlier state of this run)" if older else ""
    report = f"Report: {shown}{state}" if shown else f"Report: not written; assay report {folder}"
    end = run.journal
    sealed = [f"Final hash: {end.hash}"] if end and end.complete else []
    return [f"All numbers: assay show --full {folder}", *sealed, report]


def tell(overview: Overview, *, as_json: bool) -> int:
    """Print a run in full or as JSON; the exit code that it ends with."""
    if as_json:
        click.echo(json.dumps(overview.as_json(), indent=2))
    else:
        _print(overview)
    return overview.exit_code


def _print(overview: Overview) -> None:
    from assay.words.printed import NOT_AVAILABLE  # noqa: PLC0415

    _print_head(overview)
    _print_verdicts(overview)
    # What is withheld has nothing but n/a in its tables, and its reason is said twice already.
    withheld = {test.test.upper() for test in overview.tests if test.withheld}
    for table in overview.headlines:
        rows = [row for row in table.rows if row[0] not in withheld or row[_VALUE] != NOT_AVAILABLE]
        if rows:
            _print_table(table, rows, key=_VALUE)
    name = overview.tests[0].test.upper() if len(overview.tests) == 1 else "all"
    _print_said("Key findings", "What the numbers say", [(name, line) for line in overview.in_short])
    for test in overview.tests:
        for table in () if test.withheld else test.tables:
            _print_table(table, table.rows, test.test.upper())
    breaks = [("all", line) for line in overview.breaks]
    _print_said("What was unusual", "What happened", breaks + _lines(overview, lambda test: test.unusual))
    _print_end(overview)


_CLASSES: dict[bool, LabelClass] = {True: "not-conforming", False: "conforming"}


def _print_head(overview: Overview) -> None:
    from assay.spec.units import SECOND_NS, duration_label  # noqa: PLC0415
    from assay.summary.forms import short_label  # noqa: PLC0415

    took = (
        "it did not end"
        if overview.wall_s is None
        else f"took {duration_label(max(round(overview.wall_s), 1) * SECOND_NS)} of wall time"
    )
    listed = len(overview.deviations)
    entries = (
        ("Drive", _drive(overview.drive)),
        ("Edition", f"{overview.edition_title} ({overview.edition})"),
        ("Seed", "unknown" if overview.seed is None else str(overview.seed)),
        ("Started", f"{overview.started}, {took}"),
        ("Level", overview.level),
        *(
            (("Limits", f"{overview.limit_count} of its plan: assay limits {overview.run}"),)
            if overview.limit_count
            else ()
        ),
        ("Label", short_label("simulated" if overview.drive.kind == "simulated" else _CLASSES[bool(listed)], listed)),
    )
    for name, text in entries:
        print_paragraph(text, mark=f"{name:<8}")
    for line in overview.deviations:
        print_paragraph(line, mark=f"{'':<8} -")


def _drive(drive: ShownDrive) -> str:
    from assay.words.printed import capacity_label  # noqa: PLC0415

    size = capacity_label(drive.capacity_bytes)
    sized = () if drive.model.endswith(size) else (size,)
    identity = () if drive.id == drive.path else (f"id {drive.id}",)
    return ", ".join((drive.path, drive.model, *sized, *identity))


def _print_verdicts(overview: Overview) -> None:
    from assay.report.test_page.outcome import VERDICT_COLUMNS, time_text, without_host  # noqa: PLC0415
    from assay.summary.pages.model import Table  # noqa: PLC0415

    rows = [(test.test.upper(), test.verdict, test.extent, test.disturbed, test.demand) for test in overview.tests]
    rows += [(name.upper(), f"N/A: {reason}", "", "", "") for name, reason in overview.skipped.items()]
    _heading("Verdict of each test")
    table = without_host(Table(caption="", columns=(*VERDICT_COLUMNS, "TC/QD"), rows=tuple(rows)))
    print_table(table.columns, table.rows)
    for note in (*table.notes, time_text(overview.driven_s, simulated=overview.drive.kind == "simulated")):
        print_paragraph(note)


def _print_table(table: ShownTable, rows: Sequence[tuple[str, ...]], test: str = "", *, key: int = 1) -> None:
    _heading(_title(table, test))
    print_table(table.columns, rows, right=numeric(table.columns, rows), key=key)
    for note in table.notes:
        print_paragraph(note)


def _title(table: ShownTable, test: str) -> str:
    """What a table shows, of which test, with the title over its columns."""
    spanned = table.spanner if table.spanner.startswith(table.caption) else table.caption
    over = f"; {table.spanner}" if table.spanner and spanned != table.spanner else ""
    # Some captions name their test, for tables of all tests.
    bare = spanned.removeprefix(f"{test}: ").removeprefix(f"{test.partition('-')[0]}: ")
    return f"{test}: {bare}{over}" if test else f"{spanned}{over}"


def _heading(text: str) -> None:
    click.echo()
    print_heading(text)


def _lines(overview: Overview, said: Callable[[ShownTest], Sequence[str]]) -> list[tuple[str, str]]:
    return [(test.test.upper(), line) for test in overview.tests for line in said(test)]


def _print_said(heading: str, column: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        _heading(heading)
        print_table(("Test", column), rows)


def _print_end(overview: Overview) -> None:
    """What a reader must not miss stands last, with where the rest is."""
    click.echo()
    for test in overview.tests:
        for line in _alarms(test):
            print_heading(line, style=_ALARM)
    if any(_alarms(test) for test in overview.tests):
        click.echo("Every page of the report says so.")
    for line in filter(None, map(not_settled, overview.tests)):
        print_paragraph(line)
    for name, reason in overview.skipped.items():
        print_paragraph(f"N/A: {name}: {reason}")
    # Names of files and the hash are copied from here, so their lines are not broken.
    from assay.words.visible import visible  # noqa: PLC0415

    for line in _places(overview):
        click.echo(visible(line))


def not_settled(test: ShownTest) -> str:
    """The verdict once more where it is neither YES nor an alarm; empty for others.

    Worked: a write saturation too short for its rule -> ``"WSAT: steady state: not judged: ended after 65 min ..."``.
    """
    if _alarms(test) or not test.verdict.startswith(("steady state: not ", "steady state: NO")):
        return ""
    return f"{test.test.upper()}: {test.verdict}"


def _alarms(test: ShownTest) -> list[str]:
    withheld = [f"RESULTS WITHHELD: {test.test}: {test.withheld}"] if test.withheld else []
    return withheld if test.reached else [*withheld, f"STEADY STATE NOT REACHED: {test.test}"]


def _places(overview: Overview) -> Iterator[str]:
    cut = "" if overview.complete else " (unfinished or cut)"
    yield f"Run folder: {overview.run}"
    yield f"Final hash: {overview.journal_hash}{cut}"
    tables = sum(name.endswith(".csv") for name in overview.report)
    if not overview.report:
        yield f"Report: not written; write it with: assay report {overview.run}"
    if tables:
        yield f"Tables: {tables} CSV files next to the report"
    for name in reversed(overview.report):
        if not name.endswith(".csv"):
            yield f"Report: {Path(name).resolve()}"
    if overview.report_older or (overview.report and overview.report_older is None and not overview.complete):
        is_older = "is" if overview.report_older else "may be"
        yield f"The report {is_older} of an earlier state of this run; write it anew with: assay report {overview.run}"
