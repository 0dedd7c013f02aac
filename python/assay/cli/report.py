"""``assay report``: render the report of a run folder, any time, from the folder alone."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import HelpedCommand, run_argument


@click.command(cls=HelpedCommand, examples=("report runs/p1", "report runs/p1 --pdf --out reports/p1"))
@run_argument
@click.option("--pdf", is_flag=True, help="PDF.")
@click.option("--html", is_flag=True, help="Self-contained HTML file.")
@click.option("--csv", is_flag=True, help="Tables as CSV.")
@click.option("--xlsx", is_flag=True, help="Workbook of all tables.")
@click.option("--json", "as_json", is_flag=True, help="Every number as JSON, also to standard output.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the report; RUN may then be read-only. Default: RUN/report.",
)
def report(run_folder: Path, as_json: bool, out: Path | None, **formats: bool) -> None:
    """Render the report of RUN again; without options in every format."""
    from assay.archive.rendering import render_stored  # noqa: PLC0415
    from assay.cli.stored_runs import shown_run  # noqa: PLC0415
    from assay.report import FORMATS  # noqa: PLC0415

    wanted = {**formats, "json": as_json}
    chosen = [name for name in FORMATS if wanted.get(name)] or list(FORMATS)
    run = shown_run(run_folder)
    paths = render_stored(run, run_folder, chosen, out=out, shown=_silent if as_json else _tell)
    if as_json:
        results = next(path for path in paths if path.suffix == ".json")
        click.echo(results.read_text("utf-8"))
    else:
        for path in paths:
            click.echo(str(path))


def _silent(name: str, number: int, count: int) -> None:
    """Say nothing: programs read what is printed, and what an error prints."""
    del name, number, count


def _tell(name: str, number: int, count: int) -> None:
    """Say which format is being made: a document takes seconds."""
    click.echo(f"assay: rendering {name.upper()}, {number} of {count}", err=True)
