"""The test system as it describes itself."""

from __future__ import annotations

import os
import shlex
from importlib import metadata
from pathlib import Path

from assay.device.sysfs import SYSFS, printable, read_text
from assay.records import Platform
from assay.units import KIB

_PROC = Path("/proc")
_CLOCK_SOURCE = "devices/system/clocksource/clocksource0/current_clocksource"


def describe_platform(
    *, sysfs: Path = SYSFS, proc: Path = _PROC, os_release: Path = Path("/etc/os-release")
) -> Platform:
    """Describe the machine, its operating system and the tool; what cannot be read is None.

    Source: PTS "Test Platform" header fields; DMI strings are the vendor's own. Worked: ``MemTotal: 1024 kB`` is
    ``memory_bytes`` 1048576.
    """
    return Platform(
        system=_dmi(sysfs, "sys_vendor", "product_name"),
        motherboard=_dmi(sysfs, "board_vendor", "board_name"),
        cpu=_field(proc / "cpuinfo", "model name"),
        memory_bytes=_memory_bytes(proc, "MemTotal"),
        operating_system=_os_name(os_release),
        kernel=os.uname().release,
        clock_source=read_text(sysfs / _CLOCK_SOURCE),
        tool="Assay",
        tool_version=_tool_version(),
        extra={"logical_cpu_count": os.cpu_count()},
    )


def available_memory_bytes(*, proc: Path = _PROC) -> int | None:
    """Memory that can be had without swapping, None where the kernel does not say.

    Worked: ``MemAvailable: 1024 kB`` is 1048576.
    """
    return _memory_bytes(proc, "MemAvailable")


def _memory_bytes(proc: Path, name: str) -> int | None:
    kib = (_field(proc / "meminfo", name) or "").split()[:1]
    return int(kib[0]) * KIB if kib and kib[0].isdecimal() else None


def _dmi(sysfs: Path, *names: str) -> str | None:
    parts = (read_text(sysfs / "class/dmi/id" / name) for name in names)
    return " ".join(part for part in parts if part) or None


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except OSError:
        return []


def _field(path: Path, name: str) -> str | None:
    """The first ``name : value`` of a proc file."""
    for line in _lines(path):
        key, _, value = line.partition(b":")
        if key.strip() == name.encode():
            return printable(value) or None
    return None


def _os_name(path: Path) -> str | None:
    for line in _lines(path):
        key, _, value = line.partition(b"=")
        if key == b"PRETTY_NAME":
            return _unquoted(printable(value)) or None
    return None


def _unquoted(text: str) -> str:
    try:
        return " ".join(shlex.split(text))
    except ValueError:
        return text


def _tool_version() -> str:
    try:
        return metadata.version("assay")
    except metadata.PackageNotFoundError:
        return "unknown"
