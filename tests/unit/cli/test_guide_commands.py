"""Commands in the guide of the command line: those that touch nothing are tried."""

import re
import shlex
from pathlib import Path

import pytest
from assay.cli import assay
from click.testing import CliRunner

ROOT = Path(__file__).parents[3]
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
