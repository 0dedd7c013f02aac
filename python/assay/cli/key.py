"""``assay key``: the key that bundles are signed with, and the keys of others that are trusted."""

from __future__ import annotations

import json
import os
import pwd
import socket
from dataclasses import replace
from pathlib import Path

import click

from assay.cli.commands import HelpedCommand
from assay.errors import UsageError
from assay.spec.files import config_folder
from assay.words.visible import visible

_ACTIONS = ("make", "show", "trust")


@click.command(cls=HelpedCommand, examples=("key make", "key trust lab.pub"))
@click.argument("action", metavar="make|show|trust", type=click.Choice(_ACTIONS))
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--name",
    metavar="NAME",
    help="Owner of the key. Default: USER@HOST for make, the name in FILE for trust.",
)
@click.option("--json", "as_json", is_flag=True, help="Of show: print JSON.")
def key(action: str, file: Path | None, name: str | None, as_json: bool) -> None:
    """Create the key that signs bundles, show it, or trust another key, from FILE.

    make writes a private key, readable by the user alone, and a public key, a small text file to pass on. Both go
    into the settings folder of the user. show prints the public key and the trusted keys. trust adds a public key
    from FILE: results that it signed then name its owner. Verify the fingerprint with the owner over another
    channel first.
    """
    if (action == "trust") != (file is not None):
        raise UsageError("FILE", "belongs to trust, and to nothing else", "name the public key: assay key trust FILE")
    if action == "make":
        _make(name)
    elif action == "show":
        _show(as_json=as_json)
    elif file is not None:
        _trust(file, name)


def _make(name: str | None) -> None:
    from assay.archive.bundle import make_key  # noqa: PLC0415
    from assay.archive.bundle.keys import PRIVATE_KEY, PUBLIC_KEY  # noqa: PLC0415

    made = make_key(config_folder(), name or _name_of_user())
    click.echo(f"Private key: {visible(str(config_folder() / PRIVATE_KEY))}; keep it, and keep it to yourself")
    click.echo(f"Public key: {visible(str(config_folder() / PUBLIC_KEY))}; hand it out")
    click.echo(f"Fingerprint: {made.fingerprint} ({made.name})")


def _show(*, as_json: bool) -> None:
    from assay.archive.bundle import own_public_key, trusted_keys  # noqa: PLC0415
    from assay.cli.table import print_table  # noqa: PLC0415

    own, keys = own_public_key(config_folder()), trusted_keys(config_folder())
    rows = [(one.name, one.fingerprint, "own" if one == own else "trusted", one.line.strip()) for one in keys]
    if as_json:
        names = ("name", "fingerprint", "whose", "key")
        click.echo(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
    elif rows:
        print_table(("Name", "Fingerprint", "Whose", "Public key"), rows, key=2)
    if own is None:
        click.echo("assay: you have no key; create it with assay key make", err=True)


def _trust(file: Path, name: str | None) -> None:
    from assay.archive.bundle import read_public_key, trust_key  # noqa: PLC0415

    result = read_public_key(file)
    result = replace(result, name=name) if name else result
    trust_key(config_folder(), result)
    click.echo(f"Trusted: {result.name}, fingerprint {result.fingerprint}")
    click.echo("Verify the fingerprint with the owner over another channel than the file used.")


def _name_of_user() -> str:
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"
