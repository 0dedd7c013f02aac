"""What the gate and each look at the users of a held drive take on a host with many processes and descriptors.

Goal: the time of the way in, and of what happens between two sequences, which is to stay below 0.5 s; a look at all
descriptors beside the same one written in Python, as a ratio. Non-goal: the time of a look on this host as it is.
The processes sleep; of their descriptors half are of the null device and half of a file. Needs root for a loop device.
``--smoke`` makes 20 processes with 25 descriptors instead of 2,000.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate import Asking, open_drive
from assay.dut.real.identity import identify
from assay.dut.real.user_watch import QUICK_NS, UserWatch
from loop_device import loop_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE = 64 << 20
PROCESSES = 2000
DESCRIPTORS = 25
REPEATS = 5


def main() -> None:
    """Print one line per look."""
    if os.geteuid() != 0:
        print("skipped: needs root to set up a loop device")
        return
    count = 20 if "--smoke" in sys.argv else PROCESSES
    with many_processes(count), loop_device(SIZE) as path:
        identity = identify(path, file_target=False)

        def way_in() -> None:
            open_drive(
                identity, confirmation=identity.id, acknowledged_signatures=frozenset(), needed_bytes=SIZE
            ).close()

        print(f"{count} processes with {DESCRIPTORS} descriptors each", flush=True)
        shown("way in", least(way_in))
        with open_drive(
            identity, confirmation=identity.id, acknowledged_signatures=frozenset(), needed_bytes=SIZE
        ) as held:
            watch = UserWatch(held, Asking(identity=identity, held=held.fd), frozenset())
            shown("stack, mounts, holders, loops", least(watch.look))
            native, python = least(watch.look_at_processes), least(in_python)
            shown("descriptors", native)
            made = "is made" if native[0] <= QUICK_NS / 1e9 else "is left to once a minute and the end of each test"
            print(f"  between two sequences the look at descriptors {made}")
            shown("the same in Python", python)
            print(f"  {python[1] / native[1]:.1f} times the CPU time")


def shown(name: str, times: tuple[float, float]) -> None:
    """Print the least times of a look."""
    print(f"{name:32} {times[0] * 1000:8.1f} ms wall, {times[1] * 1000:8.1f} ms CPU", flush=True)


def least(look: Callable[[], object]) -> tuple[float, float]:
    """The least of some wall and CPU times in s: other work on the host only adds to the first."""
    walls, spans = [], []
    for _ in range(REPEATS):
        began, used = time.perf_counter(), time.process_time()
        look()
        walls.append(time.perf_counter() - began)
        spans.append(time.process_time() - used)
    return min(walls), min(spans)


@contextmanager
def many_processes(count: int) -> Iterator[None]:
    """So many processes that sleep, each with the same number of descriptors."""
    with tempfile.NamedTemporaryFile() as file:
        paths = ["/dev/null", file.name]
        held = [os.open(paths[nth % 2], os.O_RDONLY) for nth in range(DESCRIPTORS - 3)]
        made = [subprocess.Popen(["/bin/sleep", "900"], pass_fds=held, stdin=subprocess.DEVNULL) for _ in range(count)]
        try:
            yield
        finally:
            for process in made:
                process.kill()
            for process in made:
                process.wait()
            for descriptor in held:
                os.close(descriptor)


def in_python() -> int:
    """How many descriptors of files there are, each with link, mount and status, as the native look reads them."""
    found = 0
    for process in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - the quickest way in Python
        try:
            numbers = os.listdir(f"/proc/{process}/fd")  # noqa: PTH208
        except OSError:
            continue
        found += sum(_is_file(f"/proc/{process}", number) for number in numbers)
    return found


def _is_file(process: str, number: str) -> bool:
    try:
        if not os.readlink(f"{process}/fd/{number}").startswith("/"):  # noqa: PTH115
            return False
        Path(f"{process}/fdinfo/{number}").read_bytes()
        return os.stat(f"{process}/fd/{number}").st_ino != 0  # noqa: PTH116
    except OSError:
        return False


if __name__ == "__main__":
    main()
