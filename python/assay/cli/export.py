"""``assay export``: a run as one file that can be given away."""

from __future__ import annotations

import json
import os
import pwd
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand, json_option, run_argument
from assay.errors import UsageError
from assay.spec.files import config_folder
from assay.words.visible import visible

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from assay.archive.bundle import Exported


@click.command(cls=HelpedCommand, examples=("export runs/p1", "export runs/p1 --redact --out p1.assay"))
@run_argument
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="New file. Default: RUN.assay, next to the run folder.",
)
@click.option(
    "--redact", is_flag=True, help="Replace model, serials, firmware, host, people, notes and paths by labels."
)
@click.option("--log", is_flag=True, help="Include run.log, which may name the host; excludes --redact.")
@click.option(
    "--sign/--no-sign",
    "sign",
    default=None,
    help="Sign with your key. Default: sign if a key exists, except with --redact.",
)
@json_option
def export(run_folder: Path, *, out: Path | None, redact: bool, log: bool, sign: bool | None, as_json: bool) -> None:
    """Write RUN as a single file, a bundle, which assay import reads.

    A bundle holds run.json, the journal, all tables and captures of the run, and the date of the report. It omits the
    report, which is rendered from these, and progress files. The same run gives the same bytes. A run in progress is
    refused.
    """
    from assay.archive.bundle import SUFFIX, export_run  # noqa: PLC0415

    if redact and log:
        raise UsageError("--log", "is a text of free form, which --redact cannot take names out of", "leave it out")
    folder = run_folder.absolute()
    result = export_run(
        run_folder,
        out or folder.with_name(f"{folder.name}{SUFFIX}"),
        key=_key(sign, redact=redact),
        redacted=redact,
        log=log,
        further=_names_of_this_host() if redact else None,
    )
    if as_json:
        click.echo(json.dumps(_facts(result), indent=2))
        return
    for line in _lines(result):
        click.echo(visible(line))


def _key(sign: bool | None, *, redact: bool) -> Ed25519PrivateKey | None:
    """The key to sign with, None where nothing is to be signed. Raises UsageError where --sign finds none."""
    from assay.archive.bundle import signer  # noqa: PLC0415

    wanted = not redact if sign is None else sign
    key = signer(config_folder()) if wanted else None
    if sign and key is None:
        raise UsageError("--sign", "there is no key", "create a key with assay key make")
    return key


def _names_of_this_host() -> dict[str, str]:
    """Names of this host and its user that texts of a run may hold, each with its kind."""
    try:
        user = pwd.getpwuid(os.getuid())
        people = {user.pw_name: "user", user.pw_dir: "path"}
    except KeyError:
        people = {}
    return {socket.gethostname(): "host-name", **people}


def _facts(exported: Exported) -> dict[str, Any]:
    manifest = exported.manifest
    return {
        "schema": 1,
        "bundle": str(exported.path),
        "size_bytes": exported.size_bytes,
        "run_id": manifest.run_id,
        "final_hash": manifest.final_hash,
        "complete": manifest.complete,
        "redacted": manifest.redacted,
        "original_hash": manifest.original_hash,
        "signed_by_key": exported.fingerprint,
        "files": [file.name for file in manifest.files],
    }


def _lines(exported: Exported) -> list[str]:
    manifest = exported.manifest
    lines = [
        f"Bundle: {exported.path}",
        f"Holds: {len(manifest.files)} files, {manifest.total_bytes:,} bytes, in {exported.size_bytes:,} bytes",
        f"Final hash: {manifest.final_hash}{'' if manifest.complete else ' (unfinished or cut)'}",
    ]
    if manifest.redacted:
        lines.append(
            "Redacted: labels stand for names, serials, paths and notes; numbers, times and sizes are as they were"
        )
    signed = f"by key {exported.fingerprint}" if exported.fingerprint else "no: nothing in it says who made it"
    return [*lines, f"Signed: {signed}"]
