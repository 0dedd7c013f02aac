"""A command of Assay as a user starts it, with what it took."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

LINE = [sys.executable, "-c", "from assay.cli import main; main()"]


@dataclass(frozen=True)
class Done:
    """What a command took. bytes_max : resident memory of it and of each process that it started, at their largest.

    lines : that it printed on standard output.
    """

    wall_s: float
    cpu_s: float
    bytes_max: int
    lines: int


def compiled(folder: Path) -> dict[str, str]:
    """What has the interpreter keep bytecode below a folder, as an installation keeps it."""
    return {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}


def command(folder: Path, *arguments: str, exit_codes: Collection[int] = (0,)) -> Done:
    """Run a command with index and cache of its own below ``folder``, and compiled Python as an installation has it.

    Its output goes into a file. The program is ended where it ends with another code than one of ``exit_codes``.
    """
    own = {f"XDG_{kind.upper()}_HOME": str(folder / kind) for kind in ("state", "config", "cache")}
    home = {**os.environ, **own, **compiled(folder)}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([*LINE, *arguments], stdout=out, env=home)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - began
        out.seek(0)
        lines = out.read().count(b"\n")
    if process.returncode not in exit_codes:
        sys.exit(f"{' '.join(arguments)}: exit code {process.returncode}")
    return Done(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, lines)
