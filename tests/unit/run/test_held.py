"""Whether a run goes on is told by a lock, and not by the lock of anybody who may read its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from assay.run.store.lock import is_going

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOLDER = """
import ctypes, fcntl, os, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
os.setuid(int(sys.argv[2]))
ctypes.CDLL(None).prctl(4, int(sys.argv[3]))
fcntl.flock(folder, fcntl.LOCK_EX)
if sys.argv[4] == "forked" and os.fork():
    os._exit(0)
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(folder: Path, uid: int, *, dumpable: bool = True, how: str = "plain") -> Iterator[None]:
    line = [sys.executable, "-c", _HOLDER, str(folder), str(uid), str(int(dumpable)), how]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == b"locked\n"
        yield
        process.stdin.close()


def test_a_run_of_its_owner_goes_on_as_long_as_its_process(tmp_path: Path) -> None:
    assert not is_going(tmp_path)
    with locked(tmp_path, os.geteuid()):
        assert is_going(tmp_path)
    assert not is_going(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize(("dumpable", "how"), [(True, "plain"), (False, "plain"), (True, "forked")])
def test_the_lock_of_another_user_holds_no_run(tmp_path: Path, how: str, *, dumpable: bool) -> None:
    tmp_path.chmod(0o755)
    with locked(tmp_path, 65534, dumpable=dumpable, how=how):
        assert not is_going(tmp_path)


def test_a_lock_that_an_ended_process_left_to_another_holds_a_closed_folder(tmp_path: Path) -> None:
    # As a supervisor that was killed leaves that of its job to the run.
    tmp_path.chmod(0o700)
    with locked(tmp_path, os.geteuid(), how="forked"):
        assert is_going(tmp_path)
