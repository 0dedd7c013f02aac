"""The test system as it describes itself."""

from __future__ import annotations

import hashlib
import os
import shlex
from importlib.util import find_spec
from pathlib import Path

from assay.dut.real.sysfs import SYSFS, printable, read_text
from assay.engine.records import Platform
from assay.spec.units import KIB
from assay.version import tool_version

_PROC = Path("/proc")
_MACHINE_ID = Path("/etc/machine-id")
_DIGITS = 16
_CLOCK_SOURCE = "devices/system/clocksource/clocksource0/current_clocksource"


def describe_platform(
    *,
    sysfs: Path = SYSFS,
    proc: Path = _PROC,
    os_release: Path = Path("/etc/os-release"),
    machine_id: Path = _MACHINE_ID,
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
        tool_version=tool_version(),
        host_id=host_id(machine_id),
        build=_build(),
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


def host_id(path: Path = _MACHINE_ID) -> str | None:
    """What tells this host from others; None where it has no such number."""
    # The machine's own id is confidential (machine-id(5)): a digest that only this tool makes goes out instead.
    result = (read_text(path) or "").strip()
    return hashlib.sha256(f"assay {result}".encode()).hexdigest()[:_DIGITS] if result else None


def _build() -> str | None:
    """Of the compiled engine, which alone is in the cost of an I/O; the version stays the same between builds."""
    spec = find_spec("assay._native")
    try:
        return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:_DIGITS] if spec and spec.origin else None
    except OSError:
        return None
