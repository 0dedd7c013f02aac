"""The commands of README and documentation are run, a real drive replaced by a small simulated one.

Those that need a real drive, a package of one's own or minutes of this host (``REAL``, ``pause``) are only parsed, by
``test_docs_commands``.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from assay.cli import assay
from assay.errors import EXIT_WITHHELD
from click.testing import CliRunner
from every_kind import TRACE
from test_docs_commands import PAGES, ROOT, RUN, commands
from test_iometer_results import TEXT as IOMETER_RESULTS

CAPACITY = "1GB"
DRIVE = f"sim:client-2011?capacity={CAPACITY}"
STAND_INS = {
    "DRIVE": DRIVE,
    "D": DRIVE,
    "/dev/sdX": DRIVE,
    "/dev/sdb": DRIVE,
    "/dev/disk/by-id/...": DRIVE,
    "RUN": "runs/first",
    "/archive/run-7": "runs/first",
    "runs/mine": "runs/first",
    "BUNDLE": "first.assay",
    "RESULTS.csv": "results.csv",
    "TRACE": "trace.iolog",
    "/tmp/run-7": "elsewhere",  # noqa: S108 - the name on the page
    "NAME": "hdd-15k",
    "[FOLDER]": "runs",
    "~/.local/share/man/man1": "man1",
    'mail -s "$ASSAY_OUTCOME $ASSAY_RUN" me@example.org < /dev/null': "true",
}
"""What names of documentation stand for here."""
UNNAMED = {
    "--yes-destroy",
    "--resume",
    "--baseline",
    "FILE",
    "[FILE]",
    "PLAN.toml",
    "pause",
    "workload",
    "replay",
    "received/mine",
}
"""Words of commands that are only named: what they speak of is not here."""
REAL = {"crosscheck", "calibrate", "trace-stack"}
"""Commands that no simulated drive can be given to, or that measure this host for minutes."""
OTHER = {
    "assay run DRIVE --read-only --edition pts-c-1.0": 2,
    'assay run "sim:client-tlc?capacity=32GB&faults=faults.toml" --test iops': 4,
    # The run that pages speak of here states no limits, and is none of a workload.
    "assay limits RUN": 2,
    "assay limits RUN --out DIR": 2,
    "assay convert RUN --to iometer-csv": 2,
    # The results are of another workload than that run.
    "assay compare RUN RESULTS.csv": 2,
}
"""Commands of which the page says that they end otherwise."""
GOOD = {"run": {0, 7}, "limits": {0, 8}}
"""Exit codes: scaled down so far, a drive need not become steady, nor meet limits."""
FIRST = ["run", DRIVE, "--test", "lat", "--scale", "0.001", "--seed", "1", "--no-report", "--out"]

pytestmark = pytest.mark.long


def page_name(page: Path) -> str:
    """A page from the root of the tree."""
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that pages speak of, and files that they name."""
    folder = tmp_path_factory.mktemp("docs")
    done = CliRunner().invoke(assay, [*FIRST, str(folder / "runs/first")], standalone_mode=False)
    assert done.exception is None, done.exception
    done = CliRunner().invoke(
        assay, ["export", str(folder / "runs/first"), "--out", str(folder / "first.assay")], standalone_mode=False
    )
    assert done.exception is None, done.exception
    guide = (ROOT / "docs/guide/simulated-drives.md").read_text("utf-8")
    (faults,) = (part.split("```")[0] for part in guide.split("```toml\n")[1:] if "[[faults]]" in part)
    (folder / "faults.toml").write_text(faults, "utf-8")
    (folder / "iops_matrix.csv").write_text("block_kib,read_pct,iops\n4,0,3190\n")
    (folder / "figures.csv").write_text("figure,value\n")
    for name in ("plans/limits", "plans/data-centre"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "plans/limits/client.toml", folder / "limits.toml")
    shutil.copy(TRACE, folder / "trace.iolog")
    shutil.copy(ROOT / "tests/unit/icf/oem-guide-2006.07.27.icf", folder / "guide.icf")
    (folder / "results.csv").write_text(IOMETER_RESULTS)
    (folder / "plan.toml").write_text('schema = 1\ndrive = "sim:client-2011?capacity=32GB"\n')
    return folder


def filled(line: str) -> list[str] | None:
    """The words of a command with stand-ins for its names; None where it is only named, or needs a real drive."""
    words = [re.sub(r"sim:NAME", "sim:hdd-15k", STAND_INS.get(word, word)) for word in shlex.split(line, comments=True)]
    words = words[1:]
    if words[0] in REAL or _named_only(words):
        return None
    if words[0] == "plan":
        # It plays nothing, so that it may be as long as a real drive.
        words = [word.replace(CAPACITY, "32GB") for word in words]
    if words[0] == "run":
        words = [small(word) for word in words] + ([] if "--scale" in words else ["--scale", "0.001"])
        words += [] if "--no-report" in words else ["--no-report"]
    if words[0] == "check":
        words += ["--seconds", "0.1"]
    if words[0] == "fit":
        words += ["--evaluations", "0"]
    context = click.Context(assay, info_name="assay")
    command = assay.get_command(context, words[0])
    try:
        assert command
        command.make_context(words[0], list(words[1:]), parent=context)
    except (click.UsageError, click.exceptions.Exit):
        return None
    return words


def _named_only(words: list[str]) -> bool:
    """Whether a command names what is not here: consent, a file, a run that was cut short, other runs."""
    several = words.count(STAND_INS["RUN"]) > 1
    return several or bool({*words} & UNNAMED) or any("..." in word for word in words) or words == ["run"]


def small(word: str) -> str:
    """A simulated drive at a capacity that is played in a second or two."""
    if not word.startswith("sim:"):
        return word
    name, _, query = word.partition("?")
    rest = [part for part in query.split("&") if part and not part.startswith("capacity=")]
    return f"{name}?{'&'.join([f'capacity={CAPACITY}', *rest])}"


def ran_elsewhere(page: Path) -> set[str]:
    return {line for block in RUN.findall(page.read_text("utf-8")) for line in block.splitlines()}


TYPED = {
    page: [line for line in dict.fromkeys(commands(page)) if line not in ran_elsewhere(page) and filled(line)]
    for page in PAGES
}


@pytest.mark.parametrize("page", [page for page in PAGES if TYPED[page]], ids=page_name)
def test_the_commands_of_a_page_do_what_it_says(
    page: Path, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(first, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    for line in TYPED[page]:
        words = filled(line)
        assert words
        if words == ["init"]:
            Path("plan.toml").unlink(missing_ok=True)
        if words[0] == "run" and "runs/first" in words:
            shutil.rmtree("runs/first")
        done = CliRunner().invoke(assay, words, standalone_mode=False)
        code = getattr(done.exception, "exit_code", done.return_value or 0)
        assert code in expected(line, words[0], done.output), f"{line}\n{words}\n{done.output}\n{done.exception!r}"


def expected(line: str, command: str, shown: str) -> set[int]:
    """The exit codes of a command; a busy host is unfit for tests if and only if its audit says so."""
    if command == "check":
        return {EXIT_WITHHELD if "Not fit to test" in shown else 0}
    return {OTHER[line]} if line in OTHER else GOOD.get(command, {0})
