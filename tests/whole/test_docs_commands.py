"""The commands of README and documentation: each is one that the tool takes."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click
import pytest
from assay.cli import assay
from docs_blocks import PAGES, page_name

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = re.compile(
    r"^(?:\$ |    )?(?:\.venv/bin/)?(assay [^`\n]*)$|`(?:\.venv/bin/)?(assay [a-z][^`\n]*)`", re.MULTILINE
)


def commands(page: Path) -> list[str]:
    """What is typed on a page, without the usage lines of the reference."""
    found = [line or inline for line, inline in COMMAND.findall(page.read_text("utf-8").replace("\\\n", ""))]
    return [command for command in found if "[OPTIONS]" not in command]


def parses(line: str) -> None:
    """Parse a command as the tool would; names that stand for something, such as DRIVE, are arguments as any other."""
    words = [word for word in shlex.split(line, comments=True)[1:] if word != "..."]
    name, *rest = words
    context = click.Context(assay, info_name="assay")
    command = assay.get_command(context, name)
    assert command, f"{line}: no such command"
    command.make_context(name, rest, parent=context, resilient_parsing=not rest)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_each_command_of_a_page_has_options_that_exist(page: Path) -> None:
    for line in commands(page):
        try:
            parses(line)
        except click.MissingParameter:
            pass  # a page names an option without the rest of its command
        except (click.NoSuchOption, click.BadParameter) as error:
            pytest.fail(f"{page.name}: {line}: {error.format_message()}")
        except (click.UsageError, click.exceptions.Exit):
            pass  # an option without its value, a usage line, or a request for help
