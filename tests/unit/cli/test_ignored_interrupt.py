"""Ctrl-C ends a command also where it comes while a library ignores every exception."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, time
import assay.cli

class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

class Defect:
    def __del__(self):
        raise ValueError("told")

def work(**_):
    for _ in range(int(sys.argv[1])):
        Deaf()
    Defect()
    print("goes on", flush=True)
    time.sleep(60)

assay.cli.assay = work
assay.cli.main()
"""


@pytest.mark.parametrize("times", [1, 3])
def test_an_interrupt_that_is_ignored_comes_again(times: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(times)], capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr.endswith("interrupted\n")


def test_what_else_is_ignored_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("time.sleep(60)", "sys.exit(9)"), "0"],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert (done.returncode, done.stdout) == (9, "goes on\n")
    assert "ValueError: told" in done.stderr
