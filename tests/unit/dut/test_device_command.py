"""Outside commands: nothing of the caller's environment reaches them, and neither time nor output is without end."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from assay.dut.real.command import TOOL_FOLDERS, CommandError, find_tool, run_command

LONG_S, LONGER_S = 1000, 3600
"""A limit that no tool of these tests reaches, and a time that exceeds that of pytest for one test."""


def test_arguments_are_no_shell_words() -> None:
    words = ["$HOME", "; rm x", "$(x)", "--force"]
    assert run_command("printf", ["%s|", *words], seconds=LONG_S).output == b"$HOME|; rm x|$(x)|--force|"


def test_a_tool_sees_an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_PRELOAD", "PYTHONPATH", "LC_ALL", "PATH", "LANG"):
        monkeypatch.setenv(name, "/nonexistent")
    lines = run_command("env", [], seconds=LONG_S).output.decode().splitlines()
    assert sorted(lines) == ["LC_ALL=C", f"PATH={TOOL_FOLDERS}"]


def test_a_tool_of_the_callers_path_is_never_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "assay-fake-tool"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_tool("assay-fake-tool") is None
    with pytest.raises(CommandError, match="assay-fake-tool is not installed"):
        run_command("assay-fake-tool", [], seconds=1)
    assert run_command(str(fake), [], seconds=LONG_S).code == 0


def test_a_tool_that_cannot_be_run_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    with pytest.raises(CommandError, match="cannot be run"):
        run_command(str(broken), [], seconds=LONG_S)


def test_exit_code_output_and_errors_are_told_apart() -> None:
    answer = run_command("sh", ["-c", "echo out; echo err >&2; exit 3"], seconds=LONG_S)
    assert (answer.code, answer.output, answer.errors) == (3, b"out\n", b"err\n")


def alive(group: int) -> list[str]:
    """States of the processes of a group; who is ended but not yet asked after (Z) does not count."""
    states = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, number = path.read_text("utf-8", "replace").rpartition(") ")[2].split()[:3]
            states += [state] if int(number) == group and state not in "ZX" else []
    return states


@pytest.mark.parametrize("script", ["sleep {} & wait", "exec >&- 2>&-; sleep {}"], ids=["streams", "silent"])
def test_a_tool_that_does_not_come_back_is_ended_with_its_children(tmp_path: Path, script: str) -> None:
    note = tmp_path / "pid"
    note.touch()
    # On a busy host a shell may not have begun within a second.
    for seconds in (1, 10, 100):
        with pytest.raises(CommandError, match="did not come back"):
            run_command("sh", ["-c", f"echo $$ > {note}; {script.format(LONGER_S)}"], seconds=seconds)
        if note.read_text():
            break
    # A process that was killed goes when it is next scheduled; one that was not would be there for an hour.
    while alive(int(note.read_text())):
        time.sleep(0.01)


def test_a_tool_that_says_too_much_is_ended() -> None:
    with pytest.raises(CommandError, match="more than 1000 bytes"):
        run_command("yes", [], seconds=LONG_S, output_bytes_max=1000)


def test_descriptors_are_inherited_only_where_asked(tmp_path: Path) -> None:
    with (tmp_path / "given").open("w+b") as given:
        given.write(b"held")
        given.flush()
        number = given.fileno()
        assert run_command("cat", [f"/proc/self/fd/{number}"], seconds=LONG_S, pass_fds=(number,)).output == b"held"
        assert run_command("cat", [f"/proc/self/fd/{number}"], seconds=LONG_S).code != 0
