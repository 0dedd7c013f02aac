"""The commands of README and documentation: each is one that the tool takes; those of blocks marked ``sh`` are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from assay.cli import assay

ROOT = Path(__file__).parents[2]
ASSAY = [sys.executable, "-c", "from assay.cli import main; main()"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(
    r"^(?:\$ |    )?(?:\.venv/bin/)?(assay [^`\n]*)$|`(?:\.venv/bin/)?(assay [a-z][^`\n]*)`", re.MULTILINE
)
RUN = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """What is typed on a page, without the usage lines of the reference."""
    found = [line or inline for line, inline in COMMAND.findall(page.read_text("utf-8"))]
    return [command for command in found if "[OPTIONS]" not in command]


def parses(line: str) -> None:
    """Parse a command as the tool would; names that stand for something, such as DRIVE, are arguments as any other."""
    words = [word for word in shlex.split(line, comments=True)[1:] if word != "..."]
    name, *rest = words
    context = click.Context(assay, info_name="assay")
    command = assay.get_command(context, name)
    assert command, f"{line}: no such command"
    command.make_context(name, rest, parent=context, resilient_parsing=not rest)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
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


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if RUN.search(page.read_text("utf-8"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_commands_of_a_page_run_in_their_order(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "HOME": str(tmp_path)}
    for line in "".join(RUN.findall(page.read_text("utf-8"))).splitlines():
        name, *arguments = shlex.split(line)
        assert name == "assay"
        done = subprocess.run(
            [*ASSAY, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
