"""Each page is run: its commands from the first to the last in one folder, and what they print is what it shows.

A page is a script: its ``sh`` blocks, line by line, in one shell. A comment above a block names the file that its text
is (``file: NAME``), or why its commands cannot be run (``not run: REASON``). The folder also has ``plans`` and
``published`` of the source tree.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.errors import EXIT_WITHHELD
from docs_blocks import PAGES, ROOT, Block, blocks, exit_codes, page_name

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = Path(__file__).parent / "command_server.py"
MARKS_MAX = 12
SLOW = {"README.md"}
"""Pages that take longer than all others together may."""
COMMAND = re.compile(r"^(?:\$ )?(?:\S*/)?(?:assay [a-z]|make [a-z]|pip |pipx |losetup )", re.MULTILINE)
WITHHELD = re.compile(r"^Not fit to test|NOT VERIFIED|withheld", re.MULTILINE)
LEFT_OUT = "[...]\n"
VARIES = re.compile(r"\d{4}-\d\d-\d\dT[\d:+]+|\b[0-9a-f]{12,64}\b|[-+]?\d[\d,.:]*[kMG]?\b|-{2,}")

pytestmark = pytest.mark.long


def run_blocks(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.commands and not block.not_run]


PAGES_RUN = [
    pytest.param(page, id=page_name(page), marks=[pytest.mark.soak] if page_name(page) in SLOW else [])
    for page in PAGES
    if run_blocks(page)
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with ``assay`` in it, for the search path."""
    folder = tmp_path_factory.mktemp("bin")
    path = folder / "socket"
    program = folder / "assay"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {SERVER} {path} "$@"\n', "utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    process = subprocess.Popen([sys.executable, "-W", "ignore", str(SERVER), str(path)], env=environment)
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield folder
    process.kill()
    process.wait()


def needs_root(page: Path) -> bool:
    return any(
        command.startswith(("losetup", "mount")) or "$(losetup" in command
        for block in run_blocks(page)
        for command in block.commands
    )


def script(page: Path, folder: Path) -> str:
    """The page as a script that keeps what each command prints, and its exit code, in files of its number."""
    lines, number = [], 0
    for block in blocks(page):
        if block.file:
            lines.append(f"printf %s {shlex.quote(block.text)} > {shlex.quote(block.file)}")
        if block.not_run:
            continue
        for command in block.commands:
            lines += [f"{{ {command}\n}} > {folder}/{number}.out 2>&1 < /dev/null", f"echo $? > {folder}/{number}.code"]
            number += 1
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("page", PAGES_RUN)
def test_the_commands_of_a_page_do_what_it_says(page: Path, server: Path, tmp_path: Path) -> None:
    if needs_root(page) and (os.geteuid() or not Path("/dev/loop-control").exists()):
        pytest.skip("makes a loop device: needs root")
    here, kept = tmp_path / "here", tmp_path / "kept"
    here.mkdir()
    kept.mkdir()
    for name in ("plans", "published"):
        (here / name).symlink_to(ROOT / name)
    environment = {
        "PATH": f"{server}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT / "python"),
    }
    (tmp_path / "page.sh").write_text(script(page, kept), "utf-8")
    try:
        subprocess.run(["/bin/bash", str(tmp_path / "page.sh")], cwd=here, env=environment, check=True, timeout=500)
    finally:
        for image in here.glob("*.img"):
            attached = subprocess.run(
                ["/sbin/losetup", "-j", str(image)], capture_output=True, text=True, check=True
            ).stdout
            for line in attached.splitlines():
                subprocess.run(["/sbin/losetup", "-d", line.partition(":")[0]], check=True)
    check_page(page, kept)


def check_page(page: Path, kept: Path) -> None:
    """Exit codes are those that the page states, and what it shows was printed by the commands before it."""
    number, printed = 0, ""
    for block in blocks(page):
        if block.commands and not block.not_run:
            printed = ""
            for command in block.commands:
                shown = (kept / f"{number}.out").read_text("utf-8")
                code = int((kept / f"{number}.code").read_text("ascii"))
                assert code in exit_codes(command), f"{command}\nexit code {code}\n{shown}"
                # A page may allow for a busy host, which the command then names.
                assert code != EXIT_WITHHELD or WITHHELD.search(shown), f"{command}\nexit code {code}\n{shown}"
                printed += shown
                number += 1
        elif block.language == "text":
            for part in block.text.split(LEFT_OUT):
                assert masked(part) in masked(printed), f"{part}\nis not in\n{printed}"


def masked(text: str) -> str:
    """Numbers, hashes and the width of columns are no matter."""
    lines = [re.sub(r"[ \t]+", " ", VARIES.sub("#", line)).strip() for line in text.splitlines()]
    return "\n".join(lines).strip("\n")


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_no_command_hides_from_being_run(page: Path) -> None:
    for block in blocks(page):
        assert block.language == "sh" or not COMMAND.search(block.text), f"{page.name}: a command in\n{block.text}"
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    if page.name != "reference.md":
        assert not re.search(r"^ {4}(?:\$ )?assay ", text, re.MULTILINE), f"{page.name}: a command without a fence"


def test_few_blocks_cannot_be_run() -> None:
    reasons = [block.not_run for page in PAGES for block in blocks(page) if block.not_run]
    assert len(reasons) <= MARKS_MAX
    assert min(map(len, reasons)) >= len("needs root")
