"""Commands in the documents: each can be typed as it stands, and those that touch nothing are tried."""

import re
import shlex
from pathlib import Path

import click
import pytest
from assay.cli import assay
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
GUIDE = "docs/guide/command-line.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?(?:\S*/bin/)?assay (?!COMMAND)(.+)$", re.MULTILINE)
LEFT_OUT = ("run", "report", "drives --describe /dev/sdb")
"""Commands of the guide that are not tried: they take long, or need a run or a drive of that name."""


def commands(path: Path) -> list[list[str]]:
    """The arguments of each command in the blocks of a document; what is abbreviated there is left out."""
    blocks = (text for kind, text in BLOCK.findall(path.read_text("utf-8")) if kind in {"", "sh", "bash", "console"})
    lines = (match[1] for block in blocks for match in LINE.finditer(block))
    return [shlex.split(line, comments=True) for line in lines if "..." not in line and "\\" not in line]


DOCUMENTS = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_command_in_a_document_has_no_option_that_there_is_not(path: Path) -> None:
    context = click.Context(assay, info_name="assay")
    for name, *arguments in commands(path):
        command = assay.get_command(context, name)
        assert command is not None, name
        command.make_context(name, arguments, parent=context)


@pytest.mark.parametrize(
    "line", [line for line in map(shlex.join, commands(ROOT / GUIDE)) if not line.startswith(LEFT_OUT)]
)
def test_a_command_of_the_guide_does_what_it_says(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if line.startswith("plan"):
        CliRunner().invoke(assay, ["init", "my-plan.toml"])
    done = CliRunner().invoke(
        assay, shlex.split(line), env={"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    )
    assert (done.exit_code, bool(done.stdout)) == (0, True)
