"""Limits of the host that a run runs into: memory, quotas of control groups, files."""

from __future__ import annotations

import errno
import os
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.sysfs import read_lines
from assay.errors import HostLimitError, errno_label
from assay.spec.units import MICROSECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator


_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_ALL, _GROUP = 2, 1
_PROFILE = "as the seccomp profile of a container does"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountLimit:
    """A limit of a number of things.

    used : by all that it counts, this process included. remedy : what raises it, with ``{needed}`` for the amount.
    """

    name: str
    limit: int
    used: int
    remedy: str

    @property
    def spare(self) -> int:
        """What may still be had."""
        return self.limit - self.used


def file_text(path: Path) -> str:
    """A small file of the kernel; empty where it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def raise_open_files() -> int:
    """Raise the soft limit of open files to the hard one; what it is then."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def open_file_count(*, proc: Path = _PROC) -> int:
    """Files that this process has open, without the folder that they are listed in."""
    return len(list((proc / "self/fd").iterdir())) - 1


def own_thread_count(*, proc: Path = _PROC) -> int:
    """Threads of this process."""
    return len(list((proc / "self/task").iterdir()))


def thread_limits(*, proc: Path = _PROC, cgroups: Path = _CGROUPS) -> list[CountLimit]:
    """The limits that a new thread of this process meets: of its user, its control groups and the host."""
    return [*_of_user(proc), *_of_groups(proc, cgroups), *_of_host(proc)]


def forbidden_ring(code: int, *, remedy_beside: str = "", proc: Path = _PROC) -> HostLimitError:
    """The error where the host forbids io_uring.

    code : EPERM, EACCES or ENOSYS. remedy_beside : another way, for plans that have one.
    """
    switch = file_text(proc / "sys/kernel/io_uring_disabled")
    if code == errno.EPERM and switch in {str(_ALL), str(_GROUP)}:
        whom = "everybody" if switch == str(_ALL) else "all but CAP_SYS_ADMIN and kernel.io_uring_group"
        reason = f"kernel.io_uring_disabled is {switch}, which forbids it to {whom}"
        remedy = "allow it with sysctl kernel.io_uring_disabled=0"
    elif code == errno.ENOSYS:
        reason = f"this kernel lacks it or a filter hides it, {_PROFILE} ({errno_label(code)})"
        remedy = "run on Linux 5.11 or newer, or allow io_uring_setup, io_uring_enter and io_uring_register"
    else:
        reason = f"this host forbids it, {_PROFILE} ({errno_label(code)})"
        remedy = "allow io_uring_setup, io_uring_enter and io_uring_register, or run outside the container"
    return HostLimitError("io_uring", reason, remedy + remedy_beside)


def _of_user(proc: Path) -> Iterator[CountLimit]:
    limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if limit != resource.RLIM_INFINITY:
        name = "threads of this user (RLIMIT_NPROC)"
        yield CountLimit(name=name, limit=limit, used=_user_threads(proc), remedy="raise it with ulimit -u {needed}")


def _user_threads(proc: Path) -> int:
    """Of all processes of the user that this one runs as."""
    user, count = os.getuid(), 0
    for status in proc.glob("[0-9]*/status"):
        facts = dict(line.split(":", 1) for line in file_text(status).splitlines() if ":" in line)
        if facts.get("Uid", "-1").split()[0] == str(user):
            count += int(facts.get("Threads", "0"))
    return count


def control_groups(controller: str, *, proc: Path, cgroups: Path) -> Iterator[tuple[Path, bool]]:
    """The folder of every control group with a controller that the process is in, up to the outermost.

    Each with whether it is of version 1. Worked: ``4:memory:/a/b`` -> ``memory/a/b``, ``memory/a``, ``memory``.
    """
    for line in file_text(proc / "self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        kinds, _, name = rest.partition(":")
        if kinds and controller not in kinds.split(","):
            continue
        root = cgroups / controller if kinds else cgroups
        inside = root / name.lstrip("/")
        yield from ((folder, bool(kinds)) for folder in (inside, *inside.parents) if folder.is_relative_to(root))


def _of_groups(proc: Path, cgroups: Path) -> Iterator[CountLimit]:
    for folder, _ in control_groups("pids", proc=proc, cgroups=cgroups):
        limit, used = (file_text(folder / file) for file in ("pids.max", "pids.current"))
        if limit.isdecimal() and used.isdecimal():
            name, remedy = f"threads of the control group ({folder / 'pids.max'})", "raise it to {needed}"
            yield CountLimit(name=name, limit=int(limit), used=int(used), remedy=remedy)


def _of_host(proc: Path) -> Iterator[CountLimit]:
    limit, load = file_text(proc / "sys/kernel/threads-max"), file_text(proc / "loadavg")
    if limit and load:
        used = int(load.split()[3].partition("/")[2])
        remedy = "raise it with sysctl kernel.threads-max={needed}"
        yield CountLimit(name="threads of the host (kernel.threads-max)", limit=int(limit), used=used, remedy=remedy)


_UNITS_NS = {"throttled_usec": MICROSECOND_NS, "throttled_time": 1}
"""Names of the time in ``cpu.stat``: of the second version and of the first."""


def throttled_ns(*, proc: Path = _PROC, root: Path = _CGROUPS) -> int | None:
    """Time that groups above this process were held back, the largest of them; None where none can be read.

    A group without a quota counts 0 and is never held back.
    Source: Linux ``Documentation/admin-guide/cgroup-v2.rst``, ``scheduler/sched-bwc.rst``.
    Worked: ``throttled_usec 1500`` in the group, 0 in the one above -> 1500000.
    """
    times = [time for folder in _groups(proc, root) if (time := _throttled(folder / "cpu.stat")) is not None]
    return max(times, default=None)


def _groups(proc: Path, root: Path) -> Iterator[Path]:
    """The group of this process and all above it, in both versions."""
    for line in read_lines(proc / "self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            for mount in (root, root / "unified") if not controllers else (root / controllers, root / "cpu"):
                group = mount / path.lstrip("/")
                yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(mount))


def _throttled(path: Path) -> int | None:
    for line in read_lines(path):
        name, _, value = line.partition(" ")
        if name in _UNITS_NS and value.strip().isdecimal():
            return int(value) * _UNITS_NS[name]
    return None
