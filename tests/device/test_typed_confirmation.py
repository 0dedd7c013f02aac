"""The typed confirmation, on a pseudo-terminal as a user meets it."""

import contextlib
import os
import pty
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from assay.dut.real.identity import identify
from conftest import FEW, PATIENT, LoopDrive, allocate
from quiet_host import QUIET_ASSAY
from undisturbed import undisturbed, verdict_code

SIZE = 256 << 20


def typed(
    path: str, out: Path, answer: str, *options: str, meanwhile: Callable[[], object] = lambda: None
) -> tuple[int, str]:
    """Run on a terminal and type one answer; exit code and all that was shown. meanwhile : done at the prompt."""
    terminal, inner = pty.openpty()
    options = ("--test", "tp", *FEW, "--scale", "0.001", "--out", str(out), *PATIENT, *options)
    command = [*QUIET_ASSAY, "run", path, *options]
    with subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, start_new_session=True) as process:
        os.close(inner)
        try:
            shown = b""
            while b"to destroy its data" not in shown:
                shown += os.read(terminal, 4096)
            meanwhile()
            os.write(terminal, answer.encode() + b"\n")
            # Reading a terminal whose last process has ended is an error.
            with contextlib.suppress(OSError):
                while more := os.read(terminal, 4096):
                    shown += more
        except BaseException:
            # Nobody reads its terminal any more, so it would wait for ever, and the end of this block for it.
            process.kill()
            raise
    os.close(terminal)
    return process.returncode, shown.decode("utf-8", "replace")


def test_a_wrong_word_is_refused_and_the_identity_is_taken(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive_in_memory(SIZE)
    code, shown = typed(path, tmp_path / "refused", "y")
    assert code == 3
    assert f"ALL DATA on {path} will be destroyed" in shown
    assert not (tmp_path / "refused").exists()
    assert "so far" not in shown
    identity = identify(path, file_target=False).id

    def attempt(out: Path) -> subprocess.CompletedProcess[str]:
        code, shown = typed(path, out, identity)
        return subprocess.CompletedProcess([], code, shown, "")

    done, out = undisturbed(attempt, tmp_path)
    assert done.returncode == verdict_code(out), done.stdout
    assert (out / "report/report.pdf").exists()
    assert " round 1: " in done.stdout


def test_a_file_that_takes_the_inode_of_the_one_at_the_prompt_is_refused_and_kept(tmp_path: Path) -> None:
    path, other = allocate(tmp_path / "target.img", 64 << 20), tmp_path / "other.img"
    allocate(other, 64 << 20)

    def replace() -> None:
        # On ext4 the inode of a removed file is given to the next one, unless somebody holds on to it.
        path.unlink()
        shutil.copyfile(other, path)
        with path.open("r+b") as file:
            file.write(b"what somebody needs")

    code, shown = typed(str(path), tmp_path / "run", str(path), "--file-target", meanwhile=replace)
    assert (code, "the file was replaced since it was named" in shown) == (3, True), shown
    assert path.read_bytes()[:19] == b"what somebody needs"


def test_a_file_that_is_replaced_at_the_prompt_is_refused_and_kept(tmp_path: Path) -> None:
    path = allocate(tmp_path / "target.img", 64 << 20)
    other = tmp_path / "other.img"
    allocate(other, 64 << 20)
    with other.open("r+b") as file:
        file.write(b"what somebody needs")
    code, shown = typed(str(path), tmp_path / "run", str(path), "--file-target", meanwhile=lambda: other.rename(path))
    assert (code, "the file was replaced since it was named" in shown) == (3, True), shown
    assert path.read_bytes()[:19] == b"what somebody needs"
