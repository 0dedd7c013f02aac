"""``assay crosscheck``: the same points by our engine and by fio, with the uncertainty of the differences."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.candidates import drive_candidates
from assay.cli.config import output_folder
from assay.cli.options import SIGNATURE_HELP, yes_destroy_option

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command()
@click.argument("drive", shell_complete=drive_candidates)
@click.option(
    "--seconds", type=click.FloatRange(0.1, 3600), default=5.0, show_default=True, help="Of every measurement."
)
@click.option("--pairs", type=click.IntRange(2, 1000), default=5, show_default=True, help="Of every point.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the report, new or empty. Default: a new one in runs, or in the folder that assay config shows.",
)
@yes_destroy_option
@click.option("--destroy-signature", "signatures", multiple=True, metavar="TYPE", help=SIGNATURE_HELP)
@click.option("--file-target", is_flag=True, help="DRIVE is a pre-allocated regular file.")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
def crosscheck(drive: str, out: Path | None, yes_destroy: str | None, as_json: bool, **options: Any) -> None:
    """Measure points of DRIVE alternately by our engine and by fio, and report the differences.

    The first 16 GiB of the drive LOSE ALL DATA; it must be confirmed with its identity.
    """
    from importlib.metadata import version  # noqa: PLC0415

    from assay.crosscheck import crosscheck_drive, differences  # noqa: PLC0415
    from assay.run.reporting import crosscheck_facts, write_crosscheck  # noqa: PLC0415

    with _report_folder(out) as folder:
        check = crosscheck_drive(
            drive,
            tool=f"Assay {version('assay')}",
            confirmation=yes_destroy,
            file_target=options["file_target"],
            signatures=frozenset(options["signatures"]),
            seconds=options["seconds"],
            pairs=options["pairs"],
            show=lambda text: click.echo(text, err=True),
        )
        found = [(point, differences(pairs)) for point, pairs in check.pairs]
        paths = write_crosscheck(folder, check, found)
    if as_json:
        facts = {**crosscheck_facts(check, found), "report": [str(path) for path in paths]}
        click.echo(json.dumps(facts, indent=2))
        return
    for point, one in found:
        rows = ", ".join(f"{part.metric} {part.ratio:.3f} ({part.low:.3f} to {part.high:.3f})" for part in one)
        verdicts = ", ".join(dict.fromkeys(part.verdict for part in one))
        click.echo(f"{point.label}: {verdicts}; ours / fio: {rows}")
    for path in paths:
        click.echo(f"Report: {path.resolve()}")


@contextmanager
def _report_folder(out: Path | None) -> Iterator[Path]:
    """The folder of the report, made before anything is measured; one that was made and stayed empty is removed."""
    from assay.run.store.write import new_folder  # noqa: PLC0415

    existed = out is not None and out.exists()
    folder = new_folder(out, f"crosscheck-{time.time_ns():x}", below=output_folder())
    try:
        yield folder
    finally:
        if not existed:
            with suppress(OSError):
                folder.rmdir()
