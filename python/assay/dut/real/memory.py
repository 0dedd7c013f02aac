"""How much more memory this process may take."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.platform import available_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# The files of a control group with its limit, what it uses, and of that what the kernel would give up: version 2 and 1.
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def spare_memory_bytes(*, proc: Path = _PROC, cgroups: Path = _CGROUPS) -> tuple[int, str] | None:
    """Memory that may still be taken, and what sets that bound; None where nothing says.

    The smallest of: what the host has available, the limit of this process's addresses (``ulimit -v``), and the limits
    of its control groups. Worked: 8 GB available and a group limited to 2 GB that uses 0.5 GB -> 1.5 GB, of the group.
    """
    found = [*_host(proc), *_addresses(proc), *_groups(proc, cgroups)]
    return min(found, default=None)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _host(proc: Path) -> Iterator[tuple[int, str]]:
    available = available_memory_bytes(proc=proc)
    if available is not None:
        yield available, "available on this host"


def _addresses(proc: Path) -> Iterator[tuple[int, str]]:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _text(proc / "self/statm").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield max(limit - int(pages[0]) * resource.getpagesize(), 0), "left under the limit of this process (ulimit -v)"


def _groups(proc: Path, cgroups: Path) -> Iterator[tuple[int, str]]:
    """The limit of every control group that the process is in, up to the outermost."""
    for line in _text(proc / "self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        kinds, _, name = rest.partition(":")
        if kinds and "memory" not in kinds.split(","):
            continue
        root = cgroups / "memory" if kinds else cgroups
        inside = root / name.lstrip("/")
        for folder in (inside, *inside.parents):
            if folder != root and root not in folder.parents:
                break
            yield from _group(folder, *_FILES[bool(kinds)])


def _group(folder: Path, limit_name: str, used_name: str, spare_name: str) -> Iterator[tuple[int, str]]:
    limit, used = (_text(folder / name) for name in (limit_name, used_name))
    if not limit.isdecimal() or not used.isdecimal():
        return
    facts = dict(line.split(maxsplit=1) for line in _text(folder / "memory.stat").splitlines() if " " in line)
    spare = facts.get(spare_name, "0")
    yield max(int(limit) - int(used) + int(spare), 0), "left in the control group of this process"
