"""Ways to disturb a host while something is measured on it; each ends what it began, and ends with the trial."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stepped_clock import may_step, step_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDS_WITH_PARENT = "import ctypes; ctypes.CDLL(None).prctl(1, 9)\n"
"""The kernel kills the program (PR_SET_PDEATHSIG, SIGKILL) when the thread that started it ends."""
_SPIN = """
print('up', flush=True)
while True: pass
"""
_ASK_REAL_TIME = "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))\n"
# A real-time hog leaves the processor now and then, or nothing else would run at all.
_SPIN_BURSTS = """
import time
print('up', flush=True)
while True:
    end = time.monotonic() + {spin}
    while time.monotonic() < end: pass
    time.sleep({sleep})
"""
_SPIN_ONCE = """
import sys, time
print('up', flush=True)
sys.stdin.readline()
end = time.monotonic() + {spin}
while time.monotonic() < end: pass
sys.stdin.readline()
"""
_FILL_MEMORY = """
block = bytearray(256 << 20)
print('up', flush=True)
while True:
    block[::4096] = bytes(len(block) // 4096)
    block[:] = bytes(len(block))
"""
# Pages of a file, which the kernel takes back; without swap it would end a program that fills memory of its own.
_READ_FILE = """
block = bytes(1 << 20)
with open({path!r}, 'r+b') as file:
    print('up', flush=True)
    while True:
        file.seek(0)
        for _ in range(128): file.write(block)
        file.seek(0)
        while file.read(len(block)): pass
"""
_GROUPS = Path("/sys/fs/cgroup")
QUOTA_GROUP, MEMORY_GROUP = _GROUPS / "cpu/assay-trial", _GROUPS / "memory/assay-trial"
_MEMORY_BYTES = 32 << 20


@dataclass(frozen=True, kw_only=True)
class Target:
    """The process that measures. begun : set when the measurement begins.

    clock : its file of ``step_clock``, None where it was started without.
    """

    process: int
    begun: threading.Event = field(default_factory=threading.Event)
    clock: Path | None = None


@contextmanager
def disturbed(kind: str, seed: int, target: Target) -> Iterator[str]:
    """A disturbance of a kind as long as the block runs; says which."""
    draws = random.Random(seed)  # noqa: S311 - a trial is repeated by its seed
    with ExitStack() as stack:
        yield stack.enter_context(_WAYS[kind](draws, target))


def possible_kinds() -> list[str]:
    """Those that this host lets itself be asked for: control groups of the first version, a scheduler, a compiler."""
    asked = {
        "real-time": _may_run_in_real_time,
        "quota": lambda: _may_make(QUOTA_GROUP, "cpu.cfs_quota_us"),
        "pressure": lambda: _may_make(MEMORY_GROUP, "memory.limit_in_bytes"),
        "clock": may_step,
    }
    return [kind for kind in _WAYS if kind not in asked or asked[kind]()]


def _may_run_in_real_time() -> bool:
    command = [sys.executable, "-c", _ASK_REAL_TIME]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _may_make(group: Path, control: str) -> bool:
    return os.access(group.parent, os.W_OK) and (group.parent / control).exists()


@contextmanager
def _programs(text: str, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    programs: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            command = [sys.executable, "-c", ENDS_WITH_PARENT + text]
            programs.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for program in programs:
            assert program.stdout
            assert program.stdout.readline() == b"up\n"
        yield programs
    finally:
        for program in programs:
            program.kill()
            program.communicate()


@contextmanager
def _group(group: Path, settings: dict[str, int]) -> Iterator[Callable[[int], None]]:
    """A control group; takes the processes that are to be in it, and leaves them to its parent."""
    taken: list[int] = []

    def take(process: int) -> None:
        (group / "cgroup.procs").write_text(str(process))
        taken.append(process)

    group.mkdir(exist_ok=True)
    try:
        for name, value in settings.items():
            (group / name).write_text(str(value))
        yield take
    finally:
        for process in taken:
            with contextlib.suppress(OSError):
                (group.parent / "cgroup.procs").write_text(str(process))
        _remove(group)


def _remove(group: Path) -> None:
    """A group can be removed once the kernel has moved its threads."""
    for _ in range(50):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.02)


@contextmanager
def _once(target: Target, wait_s: float, act: Callable[[], None]) -> Iterator[None]:
    """Act once, so long after the measurement began."""
    ended = threading.Event()

    def wait() -> None:
        target.begun.wait(60)
        if not ended.wait(wait_s):
            act()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        target.begun.set()
        thread.join()


@contextmanager
def _hogs(draws: random.Random, _: Target) -> Iterator[str]:
    count = draws.randint(0, 6)
    with _programs(_SPIN, count):
        yield f"{count} hogs"


@contextmanager
def _real_time(draws: random.Random, _: Target) -> Iterator[str]:
    count = draws.randint(1, 2)
    with _programs(_ASK_REAL_TIME + _SPIN_BURSTS.format(spin=0.02, sleep=0.02), count):
        yield f"{count} real-time hogs, half the time"


@contextmanager
def _bursts(draws: random.Random, _: Target) -> Iterator[str]:
    spin, sleep = draws.choice((0.002, 0.01, 0.05)), draws.choice((0.02, 0.1, 0.4))
    with _programs(_SPIN_BURSTS.format(spin=spin, sleep=sleep), 2):
        yield f"2 hogs for {spin * 1000:g} ms every {(spin + sleep) * 1000:g} ms"


@contextmanager
def _short(draws: random.Random, target: Target) -> Iterator[str]:
    """Three hogs that end before the second stage begins."""
    wait_s, spin = draws.uniform(0.1, 0.5), draws.choice((0.02, 0.1, 0.3))
    with _programs(_SPIN_ONCE.format(spin=spin), 3) as programs:

        def act() -> None:
            for program in programs:
                assert program.stdin
                program.stdin.write(b"\n")
                program.stdin.flush()

        with _once(target, wait_s, act):
            yield f"3 hogs once, for {spin * 1000:g} ms"


@contextmanager
def _memory(draws: random.Random, _: Target) -> Iterator[str]:
    count = draws.randint(1, 3)
    with _programs(_FILL_MEMORY, count):
        yield f"{count} programs that fill memory"


@contextmanager
def _pressure(draws: random.Random, _: Target) -> Iterator[str]:
    count = draws.randint(1, 3)
    with (
        tempfile.NamedTemporaryFile() as file,
        _group(MEMORY_GROUP, {"memory.limit_in_bytes": _MEMORY_BYTES}) as take,
        _programs(_READ_FILE.format(path=file.name), count) as programs,
    ):
        for program in programs:
            take(program.pid)
        yield f"{count} programs, 128 MiB in {_MEMORY_BYTES >> 20} MiB"


@contextmanager
def _quota(draws: random.Random, target: Target) -> Iterator[str]:
    period_us, share = draws.choice((10_000, 100_000)), draws.choice((0.02, 0.1, 0.5))
    quota_us = max(round(period_us * share), 1_000)
    with _group(QUOTA_GROUP, {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": quota_us}) as take:
        take(target.process)
        yield f"quota of {quota_us / period_us:.0%} in {period_us // 1000} ms"


@contextmanager
def _stopped(draws: random.Random, target: Target) -> Iterator[str]:
    wait_s, stop_s = draws.uniform(0.1, 0.6), draws.choice((0.005, 0.03, 0.15, 0.4))

    def act() -> None:
        os.kill(target.process, signal.SIGSTOP)
        try:
            time.sleep(stop_s)
        finally:
            os.kill(target.process, signal.SIGCONT)

    with _once(target, wait_s, act):
        yield f"stopped for {stop_s * 1000:g} ms"


@contextmanager
def _clock(draws: random.Random, target: Target) -> Iterator[str]:
    assert target.clock, "the process was started without a clock that can be stepped"
    wait_s, step_s = draws.uniform(0.1, 0.6), draws.choice((-3600, -1, 1, 3600))
    file = target.clock
    try:
        with _once(target, wait_s, lambda: step_clock(file, step_s)):
            yield f"clock stepped by {step_s} s"
    finally:
        step_clock(file, 0)


_WAYS: dict[str, Callable[[random.Random, Target], contextlib.AbstractContextManager[str]]] = {
    "hogs": _hogs,
    "real-time": _real_time,
    "bursts": _bursts,
    "short": _short,
    "memory": _memory,
    "pressure": _pressure,
    "quota": _quota,
    "stopped": _stopped,
    "clock": _clock,
}
