"""``assay serve`` as a process for benchmarks and tests: its address, its links, and its memory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE = (sys.executable, "-c", "from assay.cli import main; main()")
"""How ``assay`` is started."""
_END_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WebServer:
    """A running server. variables : of its environment; a command with the same ones shares its index and links."""

    process: subprocess.Popen[str]
    port: int
    variables: dict[str, str]

    @property
    def address(self) -> str:
        """Of its first page, without the last slash."""
        return f"http://127.0.0.1:{self.port}"

    def link(self, role: str = "viewer") -> str:
        """A link that opens as many sessions as wanted, for 30 days."""
        command = [*LINE, "serve", "link", "--role", role, "--port", str(self.port)]
        done = subprocess.run(command, env=os.environ | self.variables, check=True, capture_output=True, text=True)
        return done.stdout.split()[0]

    def children(self) -> list[int]:
        """Its child process, as a list; empty where it has none."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(word) for task in tasks for word in task.read_text("ascii").split()]


def state_variables(folder: Path) -> dict[str, str]:
    """Variables of an environment whose state, cache, data and settings lie below a folder, with an index."""
    homes = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "CACHE", "CONFIG", "DATA")}
    for path in homes.values():
        Path(path).mkdir(exist_ok=True)
    return homes | {"ASSAY_INDEX": str(folder / "index.sqlite")}


@contextmanager
def web_server(folder: Path, *options: str) -> Iterator[WebServer]:
    """Serve ``folder/runs`` on a free port. Raises RuntimeError, with what the server printed, where it does not begin.

    folder : also of its state and index. options : further ones of ``assay serve``.
    """
    (folder / "runs").mkdir(exist_ok=True)
    variables = state_variables(folder)
    command = [*LINE, "serve", str(folder / "runs"), "--port", "0", *options]
    with (
        (folder / "server.log").open("w+", encoding="utf-8") as log,
        subprocess.Popen(command, env=os.environ | variables, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            address = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline() if process.stdout else "")
            if address is None:
                raise RuntimeError((folder / "server.log").read_text("utf-8"))
            yield WebServer(process=process, port=int(address[1]), variables=variables)
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()


def peak_bytes(pid: int) -> int:
    """Resident memory of a process at its largest so far. Raises OSError where the process has ended."""
    (kib,) = re.findall(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text("ascii"), re.MULTILINE)
    return int(kib) * 1024
