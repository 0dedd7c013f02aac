"""The archive that a guest starts from, read back by cpio, and what it is made of."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from guest.boot import Outcome, Task, limited, parse
from guest.initramfs import libraries, pack


def test_cpio_reads_the_archive(tmp_path: Path) -> None:
    cpio = shutil.which("cpio")
    if cpio is None:
        pytest.skip("needs cpio")
    (tmp_path / "host").write_bytes(b"12345")
    archive = pack({"init": b"#!/bin/sh\n", "lib/deep/one": tmp_path / "host"})
    subprocess.run([cpio, "-id", "--quiet"], cwd=tmp_path, input=archive, check=True)
    assert (tmp_path / "init").read_bytes() == b"#!/bin/sh\n"
    assert (tmp_path / "lib/deep/one").read_bytes() == b"12345"
    assert (tmp_path / "init").stat().st_mode & 0o777 == 0o755
    assert {"dev", "proc", "sys", "tmp"} <= {path.name for path in tmp_path.iterdir()}


def test_a_program_brings_its_libraries_and_the_loader() -> None:
    names = [path.name for path in libraries(Path("/bin/ls"))]
    assert any(name.startswith("libc.so") for name in names)
    assert any(name.startswith("ld-linux") for name in names)


def test_output_that_looks_like_a_mark_does_not_end_a_task() -> None:
    results = "@begin 000-one\nsays @end 1 in a line\n\n@end 0\n@begin 001-two\n\n@end 2\n"
    assert parse(results) == {
        "one": Outcome(status=0, output="says @end 1 in a line\n"),
        "two": Outcome(status=2, output=""),
    }


def test_a_time_limit_wraps_the_script() -> None:
    assert limited(Task(name="a", script="true")) == "true"
    assert limited(Task(name="a", script="true", time_limit_s=7)).startswith("timeout -k 1 7 sh")
