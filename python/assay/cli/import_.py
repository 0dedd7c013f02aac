"""``assay import``: an exported run, checked before anything of it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand, json_option
from assay.cli.config import output_folder
from assay.cli.stored_runs import with_level
from assay.errors import EXIT_OK, EXIT_WITHHELD
from assay.words.visible import visible

if TYPE_CHECKING:
    from assay.archive.bundle import Opened
    from assay.engine.records import RunOrigin


@click.command("import", cls=HelpedCommand, examples=("import p1.assay", "import p1.assay --into archive"))
@click.argument("bundle", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of runs for the unpacked run. Default: runs, or that of assay config.",
)
@json_option
def import_(bundle: Path, into: Path | None, as_json: bool) -> int:
    """Check FILE, which assay export wrote, and unpack its run.

    Checked before anything is written are the SHA-256, size and name of every file, the signature of the manifest,
    and the hash chain. No other run is overwritten. The rules of assay verify state how far the run can be trusted.

    Exit codes: 0 ok; 5 the content was changed, or the run breaks rules; 6 it is no bundle or cannot be written.
    """
    from assay.archive.bundle import import_bundle  # noqa: PLC0415

    result = import_bundle(bundle, into or output_folder())
    origin = with_level(result.run, result.folder).origin
    facts = _facts(result, origin)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        for name, text in (
            ("Run folder", facts["run"]),
            ("Level", facts["level"]),
            ("Final hash", facts["final_hash"]),
        ):
            click.echo(visible(f"{name}: {text}"))
        click.echo(visible(f"See it with: assay show {result.folder}"))
    return EXIT_WITHHELD if origin and origin.checked is False else EXIT_OK


def _facts(opened: Opened, origin: RunOrigin | None) -> dict[str, Any]:
    manifest = opened.bundle.manifest
    return {
        "schema": 1,
        "run": str(opened.folder),
        "run_id": manifest.run_id,
        "final_hash": manifest.final_hash,
        "complete": manifest.complete,
        "level": origin.level if origin else None,
        "redacted": manifest.redacted,
        "original_hash": manifest.original_hash,
        "signed_by_key": origin.fingerprint if origin else None,
        "signer": origin.signer if origin else None,
    }
