"""Runs that end in the middle: by SIGKILL, by a store that is full or fails. What was stored before is verified.

``make soak`` kills 1,000 runs.
"""

from __future__ import annotations

import errno
import os
import random
import resource
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import acknowledged_run
import pytest
from assay.archive.verify import verify_run
from assay.dut.dut import Answers
from assay.errors import StoreError
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.long

KILLS, FEW_KILLS = 1000, 5
LONGEST_S = 0.5
"""Between the line behind which a run is killed and the kill."""
NUMBERS = [*range(FEW_KILLS), *(pytest.param(number, marks=pytest.mark.soak) for number in range(FEW_KILLS, KILLS))]


def started(out: Path, seed: int, **more: Any) -> subprocess.Popen[bytes]:
    """A run that says what it has stored."""
    command = [sys.executable, acknowledged_run.__file__, str(out), str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def told(process: subprocess.Popen[bytes], line_count: int) -> list[int]:
    """The first lines that a run says of itself, as numbers of sequences; fewer where it ended before."""
    assert process.stdout
    lines = [line for _ in range(line_count) if (line := process.stdout.readline())]
    return [int(line) for line in lines if line != b"begun\n"]


def rest(process: subprocess.Popen[bytes], known: list[int]) -> int:
    """How many sequences a run that has ended said were stored."""
    output, _ = process.communicate(timeout=60)
    return max([*known, *(int(line) for line in output.split() if line != b"begun")], default=0)


def stored(folder: Path) -> int:
    """How many sequences a folder holds; no rule may be broken by what is there. 0 where no run has begun in it."""
    if not (folder / "journal.jsonl").exists():
        return 0
    found = verify_run(folder)
    assert (found.answers, found.unchecked) == ((), ())
    return sum(len(test.sequences) for test in read_run(folder).tests)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_run_that_was_killed_lost_no_stored_round_and_is_verified(number: int, tmp_path: Path) -> None:
    draw = random.Random(number)  # noqa: S311 - the same every time
    with started(tmp_path / "run", number) as process:
        known = told(process, draw.randrange(1, 20))
        # Not waited for, but for what the run says next: it may end before.
        select.select([process.stdout], [], [], draw.random() * LONGEST_S if draw.random() < 0.5 else 0)
        process.send_signal(signal.SIGKILL)
        acknowledged = rest(process, known)
    assert stored(tmp_path / "run") >= acknowledged


def failing(name: str, number: int, error: int) -> Callable[[pytest.MonkeyPatch], None]:
    """Make a call of the system fail from its ``number``-th time on."""

    def work(patch: pytest.MonkeyPatch) -> None:
        real, calls = getattr(os, name), [0]

        def call(*arguments: Any, **more: Any) -> Any:
            calls[0] += 1
            if calls[0] >= number:
                raise OSError(error, os.strerror(error))
            return real(*arguments, **more)

        patch.setattr(os, name, call)

    return work


@pytest.mark.parametrize("number", [5, 20, 41])
@pytest.mark.parametrize(
    ("name", "error"),
    [
        pytest.param("fdatasync", errno.EIO, id="the journal cannot be synced"),
        pytest.param("fsync", errno.EIO, id="a table cannot be synced"),
        pytest.param("fdatasync", errno.ENOSPC, id="the store is full"),
        pytest.param("replace", errno.EROFS, id="the store turned read-only"),
    ],
)
def test_a_store_that_fails_ends_the_run_with_6_and_keeps_what_was_stored(
    name: str, error: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acknowledged = [0]

    def show(progress: Any) -> None:
        if progress.judged is not None:
            acknowledged[0] = (tmp_path / "run/journal.jsonl").read_bytes().count(acknowledged_run.SEQUENCE)

    plan = load_plan(None, {**acknowledged_run.KEYS, "seed": 1})
    with monkeypatch.context() as patch:
        failing(name, number, error)(patch)
        with pytest.raises(StoreError, match="cannot be written|" + os.strerror(error)) as raised:
            run_plan(plan, out=tmp_path / "run", answers=Answers(), show=show)
    assert raised.value.exit_code == 6
    assert stored(tmp_path / "run") >= acknowledged[0]


def test_a_store_whose_files_may_grow_no_further_ends_the_run_with_6(tmp_path: Path) -> None:
    size = 100_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    with started(tmp_path / "run", 1, preexec_fn=limited) as process:
        acknowledged = rest(process, [])
    assert process.returncode == StoreError.exit_code
    assert stored(tmp_path / "run") >= acknowledged
    assert (tmp_path / "run/journal.jsonl").stat().st_size == size


def test_a_folder_that_may_not_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    run_plan(
        load_plan(None, {**acknowledged_run.KEYS, "tests": ["lat"], "seed": 1}),
        out=tmp_path / "run", answers=Answers(), show=lambda _: None,
    )  # fmt: skip
    (tmp_path / "run/journal.jsonl").unlink()
    (tmp_path / "run/journal.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"journal\.jsonl: is not a regular file"):
        verify_run(tmp_path / "run")
