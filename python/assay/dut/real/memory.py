"""How much more memory this process may take."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.host_limits import control_groups, file_text
from assay.dut.real.platform import available_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# The files of a control group with its limit, what it uses, and of that what the kernel would give up: version 2 and 1.
_FILES = (
    ("memory.max", "memory.current", ("inactive_file", "active_file")),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MemoryBound:
    """Something that bounds the memory of this process.

    spare_bytes : that may still be taken. words : of it, as printed. limit_bytes : of the whole, None where it is all
    of the host. name, remedy : of the limit, and how it is raised, with ``{bytes}`` or ``{kib}`` for the amount.
    is_of_addresses : it counts what is mapped, touched or not.
    """

    spare_bytes: int
    words: str
    limit_bytes: int | None = None
    name: str = "memory"
    remedy: str = "end other programs"
    is_of_addresses: bool = False


def spare_memory_bytes(*, proc: Path = _PROC, cgroups: Path = _CGROUPS) -> tuple[int, str] | None:
    """Memory that may still be taken, and what sets that bound; None where nothing says.

    The smallest of: what the host has available, the limit of this process's addresses (``ulimit -v``), and the limits
    of its control groups. Worked: 8 GB available and a group limited to 2 GB that uses 0.5 GB -> 1.5 GB, of the group.
    """
    tightest = min(memory_bounds(proc=proc, cgroups=cgroups), default=None)
    return None if tightest is None else (tightest.spare_bytes, tightest.words)


def memory_bounds(*, proc: Path = _PROC, cgroups: Path = _CGROUPS) -> list[MemoryBound]:
    """Everything that bounds the memory of this process."""
    return [*_host(proc), *_addresses(proc), *_groups(proc, cgroups)]


def _host(proc: Path) -> Iterator[MemoryBound]:
    available = available_memory_bytes(proc=proc)
    if available is not None:
        yield MemoryBound(spare_bytes=available, words="available on this host")


def _addresses(proc: Path) -> Iterator[MemoryBound]:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = file_text(proc / "self/statm").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield MemoryBound(
            spare_bytes=max(limit - int(pages[0]) * resource.getpagesize(), 0),
            words="left under the limit of this process (ulimit -v)",
            limit_bytes=limit,
            name="addresses of the process (RLIMIT_AS)",
            remedy="raise it with ulimit -v {kib}",
            is_of_addresses=True,
        )


def _groups(proc: Path, cgroups: Path) -> Iterator[MemoryBound]:
    """The limit of every control group that the process is in, up to the outermost."""
    for folder, is_first in control_groups("memory", proc=proc, cgroups=cgroups):
        yield from _group(folder, *_FILES[is_first])


def _group(folder: Path, limit_name: str, used_name: str, cached: tuple[str, ...]) -> Iterator[MemoryBound]:
    limit, used = (file_text(folder / name) for name in (limit_name, used_name))
    if not limit.isdecimal() or not used.isdecimal():
        return
    facts = dict(line.split(maxsplit=1) for line in file_text(folder / "memory.stat").splitlines() if " " in line)
    spare = sum(int(facts.get(name, "0")) for name in cached)
    yield MemoryBound(
        spare_bytes=max(int(limit) - int(used) + spare, 0),
        words="left in the control group of this process",
        limit_bytes=int(limit),
        name=f"memory of the control group ({folder / limit_name})",
        remedy="raise it to {bytes}",
    )
