"""``assay show``: the results of a run on the terminal, from its folder alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli.commands import HelpedCommand, run_argument, same_as_json_option
from assay.cli.table import print_heading, print_paragraph, print_table, shown_columns

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from assay.archive.kept import Kept
    from assay.engine.records import JournalEnd, StoredRun
    from assay.report.formats.terminal.lines import Line
    from assay.summary.record import RunSummary


@click.command(cls=HelpedCommand, examples=("show runs/p1", "show runs/p1 --full"))
@run_argument
@click.option("--full", is_flag=True, help="All numbers and tables. Default: 24 lines.")
@same_as_json_option
def show(run_folder: Path, *, full: bool, as_json: bool) -> int:
    """Show the results of RUN on the terminal.

    Shown are the label, the verdict of each test, the key results, the limits, and the path of the report. With
    --full also every deviation and the tables of each test.

    Exit codes: 0 ok; 5 results withheld, or a folder was tampered with; 6 a folder cannot be read; 7 steady state
    not reached; 8 a limit of the plan is not met.
    """
    from assay.archive.kept import kept_summary  # noqa: PLC0415
    from assay.cli.stored_runs import host_id, shown_run  # noqa: PLC0415

    kept = None if full or as_json else kept_summary(run_folder, host_id())
    if kept:
        return _print_short(kept.summary, kept, run_folder, None)

    return tell_run(shown_run(run_folder), run_folder, full=full, as_json=as_json)


def tell_run(
    run: StoredRun, folder: Path, files: Iterable[Path] | None = None, *, full: bool = False, as_json: bool = False
) -> int:
    """Print a run, short, in full or as JSON; the exit code that it ends with.

    files : of its report; those that are in its folder where none are given.
    """
    from assay.cli.stored_runs import summed_up  # noqa: PLC0415

    if as_json:
        return _print_json(run, folder, files)
    if full:
        return _print_full(run, folder, files)
    return _print_short(summed_up(run, folder), run.journal, folder, files)


def _print_short(summary: RunSummary, end: JournalEnd | Kept | None, folder: Path, files: Iterable[Path] | None) -> int:
    from assay.report.formats.terminal.lines import COLUMNS_MAX, terminal_lines  # noqa: PLC0415

    more = f"All numbers: assay show --full {folder}"
    _print_lines(terminal_lines(summary, [more, *_ends(end, folder, files)], shown_columns(COLUMNS_MAX)))
    return next(iter(summary.exit_codes), 0)


_COLOURS = {"bad": "red", "warn": "yellow", "good": "green"}


def _print_lines(lines: Iterable[Line]) -> None:
    from assay.words.visible import visible  # noqa: PLC0415

    for line in lines:
        click.echo(click.style(visible(line.text), fg=_COLOURS.get(line.level or "")))


def _ends(end: JournalEnd | Kept | None, folder: Path, files: Iterable[Path] | None) -> list[str]:
    """Where everything else is; an older report is named as such."""
    from assay.archive.kept import report_files  # noqa: PLC0415

    paths, older = report_files(end, folder, files)
    documents = [path for path in paths if path.suffix in {".pdf", ".html"}]
    shown = next(iter(documents or [path.parent for path in paths]), None)
    is_cut = end is not None and not end.complete
    state = " (of an earlier state of this run)" if older else ""
    if older is None and is_cut:
        state = " (may be of an earlier state of this run)"
    report = f"Report: {shown}{state}" if shown else f"Report: not written; assay report {folder}"
    sealed = [f"Final hash: {end.hash}"] if end and end.complete else []
    return [*sealed, report]


def _print_json(run: StoredRun, folder: Path, files: Iterable[Path] | None) -> int:
    from assay.archive.kept import report_files  # noqa: PLC0415
    from assay.archive.rendering import whole_run  # noqa: PLC0415
    from assay.report.annex.trust import level_label  # noqa: PLC0415
    from assay.report.formats.data import ShownForm, results_text  # noqa: PLC0415
    from assay.words.visible import unicode_name  # noqa: PLC0415

    results = whole_run(run).results
    code = next(iter(results.exit_codes), 0)
    paths, older = report_files(run.journal, folder, files)
    shown = ShownForm.model_construct(
        **dict(results),
        run=unicode_name(str(folder)),
        exit_code=code,
        level=level_label(run),
        report=tuple(unicode_name(str(path)) for path in paths),
        report_older=older if paths else False,
    )
    click.echo(results_text(shown), nl=False)
    return code


def _print_full(run: StoredRun, folder: Path, files: Iterable[Path] | None) -> int:
    from assay.archive.rendering import whole_run  # noqa: PLC0415
    from assay.report.formats.terminal.lines import verdict_rows, whole_head, whole_said  # noqa: PLC0415
    from assay.report.formats.terminal.tables import printed_tables, right_headers  # noqa: PLC0415
    from assay.words.visible import visible  # noqa: PLC0415

    shown = whole_run(run)
    for text in whole_head(shown.summary):
        print_paragraph(text)
    click.echo()
    headers, *rows = verdict_rows(shown.summary.tests)
    print_table(headers, rows, prose=True)
    click.echo()
    for said in whole_said(shown.summary):
        print_paragraph(said.text)
    for table in printed_tables(shown):
        click.echo()
        print_heading(table.title)
        print_table(table.headers, table.rows, right=right_headers(table))
        for note in table.notes:
            print_paragraph(note)
    click.echo()
    for line in (f"Run folder: {folder}", *_ends(run.journal, folder, files)):
        click.echo(visible(line))
    return next(iter(shown.summary.exit_codes), 0)
