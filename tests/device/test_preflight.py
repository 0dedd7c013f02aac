"""Limits of the host are found before the drive is written, named with the amount, and enough where that is given."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENT, allocate
from quiet_host import QUIET_ASSAY
from undisturbed import HANG_S

SIZE = 64 << 20
WITHOUT_RINGS = str(Path(__file__).with_name("without_rings.py"))
FORBIDDEN = {1: "EPERM", 13: "EACCES", 38: "ENOSYS"}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A file of bytes that no run writes."""
    path = allocate(tmp_path / "target.img", SIZE)
    path.write_bytes(b"\xa5" * SIZE)
    return path


def plan_of(folder: Path, text: str) -> str:
    path = folder / "plan.toml"
    path.write_text(f"scale = 0.0003\n{text}\n", "utf-8")
    return str(path)


def run(
    plan: str, target: Path, *options: str, prefix: tuple[str, ...] = (), command: str = "run"
) -> subprocess.CompletedProcess[str]:
    """A run of the plan behind a prefix that limits it."""
    arguments = [*prefix, *QUIET_ASSAY, command, plan, str(target), "--file-target", *options]
    if command == "run":
        arguments += ["--yes-destroy", str(target), "--no-report", "--out", str(target.with_name("run")), *PATIENT]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=HANG_S)


def content(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def assert_refused(done: subprocess.CompletedProcess[str], target: Path, before: str, *words: str) -> None:
    """Nothing was written, and the last line of the errors has the words."""
    told = done.stderr.splitlines()[-1]
    assert done.returncode == 3, done.stderr
    assert all(word in told for word in words), told
    assert content(target) == before
    assert not target.with_name("run").exists()


@pytest.mark.parametrize(("code", "name"), FORBIDDEN.items(), ids=FORBIDDEN.values())
@pytest.mark.parametrize("command", ["plan", "run"])
def test_without_io_uring_nothing_is_written_and_the_error_names_it(
    code: int, name: str, command: str, target: Path, tmp_path: Path
) -> None:
    plan, before = plan_of(tmp_path, 'suite = "client"\ntests = ["tp"]\n[tp]\nqueue_depth = 4'), content(target)
    prefix = (sys.executable, WITHOUT_RINGS, str(code))
    done = run(plan, target, prefix=prefix, command=command)
    assert_refused(done, target, before, "io_uring: this", name, "seccomp", "io_uring_setup")
    assert "synchronous" not in done.stderr
