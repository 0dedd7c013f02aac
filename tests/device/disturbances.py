"""Ways to disturb a host while something is measured on it; each ends what it began."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SPIN = "print('up', flush=True)\nwhile True: pass"
# A real-time hog leaves the processor now and then, or nothing else would run at all.
_SPIN_REAL_TIME = """
import os, time
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
print('up', flush=True)
while True:
    end = time.monotonic() + 0.02
    while time.monotonic() < end: pass
    time.sleep(0.02)
"""
_SPIN_BURSTS = """
import time
print('up', flush=True)
while True:
    end = time.monotonic() + {spin}
    while time.monotonic() < end: pass
    time.sleep({sleep})
"""
_FILL_MEMORY = """
block = bytearray(256 << 20)
print('up', flush=True)
while True:
    block[::4096] = bytes(len(block) // 4096)
    block[:] = bytes(len(block))
"""
QUOTA_GROUP = Path("/sys/fs/cgroup/cpu/assay-trial")
KINDS = ("hogs", "real-time", "bursts", "memory", "quota", "stopped")


@contextmanager
def disturbed(kind: str, seed: int, process: int, begun: threading.Event) -> Iterator[str]:
    """A disturbance of a kind as long as the block runs; says which.

    process : that is measured with, for those that hold it back. begun : set when the measurement begins.
    """
    draws = random.Random(seed)  # noqa: S311 - a trial is repeated by its seed
    with ExitStack() as stack:
        yield stack.enter_context(_WAYS[kind](draws, process, begun))


def may_set_quota() -> bool:
    """Whether this host lets itself be asked for a group with a quota, in the first version."""
    return os.access(QUOTA_GROUP.parent, os.W_OK) and (QUOTA_GROUP.parent / "cpu.cfs_quota_us").exists()


@contextmanager
def _programs(text: str, count: int) -> Iterator[None]:
    programs = [subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) for _ in range(count)]
    try:
        for program in programs:
            assert program.stdout
            assert program.stdout.readline() == b"up\n"
        yield
    finally:
        for program in programs:
            program.kill()
            program.communicate()


@contextmanager
def _hogs(draws: random.Random, *_: object) -> Iterator[str]:
    count = draws.randint(1, 6)
    with _programs(_SPIN, count):
        yield f"{count} hogs"


@contextmanager
def _real_time(draws: random.Random, *_: object) -> Iterator[str]:
    count = draws.randint(1, 2)
    with _programs(_SPIN_REAL_TIME, count):
        yield f"{count} real-time hogs, half the time"


@contextmanager
def _bursts(draws: random.Random, *_: object) -> Iterator[str]:
    spin, sleep = draws.choice((0.002, 0.01, 0.05)), draws.choice((0.02, 0.1, 0.4))
    with _programs(_SPIN_BURSTS.format(spin=spin, sleep=sleep), 2):
        yield f"2 hogs for {spin * 1000:g} ms every {(spin + sleep) * 1000:g} ms"


@contextmanager
def _memory(draws: random.Random, *_: object) -> Iterator[str]:
    count = draws.randint(1, 3)
    with _programs(_FILL_MEMORY, count):
        yield f"{count} programs that fill memory"


@contextmanager
def _quota(draws: random.Random, process: int, _: object) -> Iterator[str]:
    period_us, share = draws.choice((10_000, 100_000)), draws.choice((0.02, 0.1, 0.5))
    QUOTA_GROUP.mkdir()
    try:
        (QUOTA_GROUP / "cpu.cfs_period_us").write_text(str(period_us))
        (QUOTA_GROUP / "cpu.cfs_quota_us").write_text(str(max(round(period_us * share), 1_000)))
        (QUOTA_GROUP / "cgroup.procs").write_text(str(process))
        yield f"quota of {share:.0%} in {period_us // 1000} ms"
    finally:
        (QUOTA_GROUP.parent / "cgroup.procs").write_text(str(process))
        _removed(QUOTA_GROUP)


def _removed(group: Path) -> None:
    """A group can be removed once the kernel has moved its threads."""
    for _ in range(50):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.02)


@contextmanager
def _stopped(draws: random.Random, process: int, begun: threading.Event) -> Iterator[str]:
    wait_s, stop_s = draws.uniform(0.1, 0.6), draws.choice((0.005, 0.03, 0.15, 0.4))
    ended = threading.Event()

    def stop() -> None:
        begun.wait(60)
        if not ended.wait(wait_s):
            os.kill(process, signal.SIGSTOP)
            try:
                time.sleep(stop_s)
            finally:
                os.kill(process, signal.SIGCONT)

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield f"stopped for {stop_s * 1000:g} ms"
    finally:
        ended.set()
        begun.set()
        thread.join()


_WAYS: dict[str, Callable[..., contextlib.AbstractContextManager[str]]] = {
    "hogs": _hogs,
    "real-time": _real_time,
    "bursts": _bursts,
    "memory": _memory,
    "quota": _quota,
    "stopped": _stopped,
}
