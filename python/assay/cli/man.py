"""``assay man``: manual pages, made from the definitions of the commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import HelpedCommand
from assay.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.cli.commands import CommandFacts

_FILES = (
    ("runs/", "folder that new runs go into, unless --out or assay config names another"),
    ("RUN/report/", "the report of a run in every format"),
    ("$XDG_CONFIG_HOME/assay/config.toml", "operator, sponsor, lab and output folder of the user; see assay-config(1)"),
    ("$XDG_CONFIG_HOME/assay/signing_key.pem, .pub", "the key that signs bundles; see assay-key(1)"),
    ("$XDG_CONFIG_HOME/assay/trusted_keys", "keys of others whose signatures count"),
    ("$XDG_DATA_HOME/assay/certificates/", "what assay calibrate measured of this host"),
    ("$XDG_STATE_HOME/assay/index.sqlite", "the index of runs, unless --index or assay config names another"),
    ("/etc/assay/alerts.toml", "commands and webhooks at the end of a run, of root alone; see assay-alerts(1)"),
    ("/run/assay/", "what a run changed on a drive and has still to put back"),
)
_VARIABLES = (
    ("ASSAY_CONFIG", "configuration file, instead of the path above"),
    ("ASSAY_OPERATOR, ASSAY_SPONSOR, ASSAY_LAB", "texts for the report; they win over the file, a plan over them"),
    ("ASSAY_OUTPUT", "folder that new runs go into"),
    ("ASSAY_INDEX", "file or URL of the index of runs"),
    (
        "XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME",
        "folders of a user's files; ~/.config, ~/.local/share and ~/.local/state where they are not set",
    ),
    ("COLUMNS, NO_COLOR", "width of what is printed, and printing without colour"),
)


@click.command(cls=HelpedCommand, examples=("man ~/.local/share/man/man1", "man /usr/local/share/man/man1"))
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def man(folder: Path) -> None:
    """Write the manual pages into DIR, created if missing: assay.1, and a page per command, such as assay-run.1.

    Read a page with: man DIR/assay-run.1. For all users, DIR is /usr/local/share/man/man1.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages().items():
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be written", "name another folder") from None
    click.echo(f"Written: {len(pages())} pages in {folder}")


def pages() -> dict[str, str]:
    """Every manual page by its file name. The same version gives the same bytes."""
    from assay.cli import assay  # noqa: PLC0415
    from assay.cli.commands import all_commands, group_facts  # noqa: PLC0415

    commands = all_commands(assay)
    result = {"assay.1": _page("assay", group_facts(assay), _of_tool(commands))}
    others = {
        f"assay-{command.name}.1": _page(f"assay-{command.name}", command, _see(commands, command))
        for command in commands
    }
    return result | others


def _page(title: str, command_facts: CommandFacts, last: Iterator[str]) -> str:
    from importlib.metadata import version  # noqa: PLC0415

    words = "assay" if command_facts.name == "assay" else f"assay {command_facts.name}"
    lines = [
        '.\\" Made by assay man.',
        f'.TH {_roff(title.upper())} 1 "" "Assay {version("assay")}" "Assay"',
        ".SH NAME",
        f"{_roff(title)} \\- {_roff(command_facts.summary[:1].lower() + command_facts.summary[1:])}",
        ".SH SYNOPSIS",
        f".B {_roff(words)}",
        _roff(command_facts.usage),
        ".SH DESCRIPTION",
        *_description(command_facts),
        ".SH OPTIONS",
        *(
            line
            for option in command_facts.options
            for line in (".TP", f".B {_roff(option.names)}", _roff(option.help))
        ),
        *([".SH EXAMPLES", ".nf", *map(_roff, command_facts.examples), ".fi"] if command_facts.examples else ()),
        ".SH EXIT STATUS",
        *_exits(),
        *_list("FILES", _FILES),
        *_list("ENVIRONMENT", _VARIABLES),
        *last,
    ]
    return "\n".join(lines) + "\n"


def _description(command_facts: CommandFacts) -> Iterator[str]:
    for index, text in enumerate(command_facts.paragraphs):
        if index:
            yield ".PP"
        if "\n" in text:
            yield from (".nf", *(_roff(line) for line in text.splitlines()), ".fi")
        else:
            yield _roff(text)


def _of_tool(commands: tuple[CommandFacts, ...]) -> Iterator[str]:
    yield ".SH COMMANDS"
    for command in commands:
        yield from (".TP", f".BR assay\\-{_roff(command.name)} (1)", _roff(command.summary) + ".")


def _see(commands: tuple[CommandFacts, ...], this: CommandFacts) -> Iterator[str]:
    yield ".SH SEE ALSO"
    others = [f"assay-{command.name}" for command in commands if command.name != this.name]
    yield from (f".BR {_roff(name)} (1){',' if name != others[-1] else ''}" for name in ("assay", *others))


def _exits() -> Iterator[str]:
    from assay.cli.commands import exit_codes  # noqa: PLC0415

    for code, meaning, _ in exit_codes():
        yield from (".TP", f".B {code}", _roff(meaning) + ".")


def _list(title: str, rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    yield f".SH {title}"
    for name, text in rows:
        yield from (".TP", f".B {_roff(name)}", _roff(text) + ".")


def _roff(text: str) -> str:
    r"""A text as roff has it: nothing of it is a request, and a hyphen can be copied to a shell.

    Worked: ``--out`` -> ``\-\-out``.
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped)
