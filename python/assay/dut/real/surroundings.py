"""What stands beside a drive on its way to the host: neighbours on its link, threads that serve it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.identity import sysfs_directory
from assay.dut.real.neighbours import neighbours
from assay.dut.real.platform import available_memory_bytes
from assay.dut.real.queue import chosen, queue_settings
from assay.dut.real.sysfs import SYSFS, Disk, numa_node, read_text, whole_disks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from assay.engine.records import DriveIdentity


_PROC = Path("/proc")
_SECTOR_BYTES = 512
_CONTROLLER = {"subsystem", "target", "controller"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Facts of now; unknown ones are None, and empty where there are none.

    queue : settings of the block layer by sysfs name. commands_offered : that the drive takes at once.
    alignment_offset_bytes : of the drive's first block. governors : of the processors, each once.
    power : settings that may put drive, link or bus to sleep, by name. numa_node : of the drive; cpu_nodes : of the
    processors that this process may use. swap_in_pages, other_io_bytes : cumulative, the latter of every other
    disk, by name. neighbours : disks on the same controller.
    """

    queue: dict[str, str]
    commands_offered: int | None
    alignment_offset_bytes: int | None
    governors: tuple[str, ...]
    idle_driver: str | None
    power: dict[str, str]
    numa_node: int | None
    cpu_nodes: tuple[int, ...]
    memory_available_bytes: int | None
    swap_in_pages: int | None
    other_io_bytes: dict[str, int]
    neighbours: tuple[str, ...]
    clock_source: str | None


def read_surroundings(identity: DriveIdentity, *, sysfs: Path = SYSFS, proc: Path = _PROC) -> Surroundings:
    """Read what surrounds a drive; for a file or simulated drive only what concerns the host.

    Source: Linux ``Documentation/ABI`` (sysfs-block, sysfs-devices-system-cpu, sysfs-bus-pci), ``proc_diskstats(5)``.
    Worked: ``queue_depth`` 32 of a SATA drive is ``commands_offered`` 32.
    """
    folder = sysfs_directory(identity, sysfs=sysfs).resolve() if identity.kind == "block" else None
    disk = Disk(folder.name, folder) if folder else None
    return Surroundings(
        queue=queue_settings(identity, sysfs=sysfs),
        commands_offered=(disk.number("device/queue_depth") or disk.number("queue/nr_requests")) if disk else None,
        alignment_offset_bytes=disk.number("alignment_offset") if disk else None,
        governors=_each_once(sysfs.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")),
        idle_driver=read_text(sysfs / "devices/system/cpu/cpuidle/current_driver"),
        power=_power(folder, sysfs),
        numa_node=numa_node(folder) if folder else None,
        cpu_nodes=_cpu_nodes(sysfs),
        memory_available_bytes=available_memory_bytes(proc=proc),
        swap_in_pages=swap_in_pages(proc=proc),
        other_io_bytes=_io_bytes(disk, sysfs),
        neighbours=tuple(near.name for near in neighbours(identity, sysfs=sysfs) if near.shared in _CONTROLLER),
        clock_source=read_text(sysfs / "devices/system/clocksource/clocksource0/current_clocksource"),
    )


def swap_in_pages(*, proc: Path = _PROC) -> int | None:
    """Pages that the host has read back from swap since its start; None where it is not told.

    Source: Linux ``proc_vmstat(5)``, ``pswpin``.
    """
    try:
        fields = dict(line.split() for line in (proc / "vmstat").read_text("ascii").splitlines())
        return int(fields["pswpin"])
    except (OSError, ValueError, KeyError):
        return None


def _each_once(paths: Iterable[Path]) -> tuple[str, ...]:
    texts = (read_text(path) for path in paths)
    return tuple(sorted({text for text in texts if text}))


def _power(folder: Path | None, sysfs: Path) -> dict[str, str]:
    places = {"ASPM policy": sysfs / "module/pcie_aspm/parameters/policy"}
    if folder and "/nvme" in str(folder):
        places["APST limit (us)"] = sysfs / "module/nvme_core/parameters/default_ps_max_latency_us"
    host = re.search(r"/(host\d+)/", f"{folder}/")
    if host:
        places["SATA link"] = sysfs / f"class/scsi_host/{host[1]}/link_power_management_policy"
    if folder:
        places["runtime power"] = folder / "device/power/control"
    result = {name: read_text(path) for name, path in places.items()}
    return {name: chosen(text) for name, text in result.items() if text}


def _cpu_nodes(sysfs: Path) -> tuple[int, ...]:
    nodes = {
        int(path.name.removeprefix("node"))
        for cpu in os.sched_getaffinity(0)
        for path in (sysfs / f"devices/system/cpu/cpu{cpu}").glob("node[0-9]*")
    }
    return tuple(sorted(nodes))


def _io_bytes(disk: Disk | None, sysfs: Path) -> dict[str, int]:
    """Bytes read and written of every other disk since the start of the host."""
    result = {}
    for other in whole_disks(sysfs):
        fields = (other.text("stat") or "").split()
        if (disk is None or other.name != disk.name) and fields[6:] and all(text.isdecimal() for text in fields[:7]):
            result[other.name] = (int(fields[2]) + int(fields[6])) * _SECTOR_BYTES
    return result


_KERNEL_NAMES = ("kworker/", "loop", "md", "kcryptd", "dmcrypt_write", "nbd", "kdmflush")
_STACKED = ("loop", "md", "dm-", "nbd", "zram")
_FUSE = "/dev/fuse"


def serving_threads(identity: DriveIdentity, *, proc: Path = _PROC) -> Callable[[], Iterator[Path]] | None:
    """What lists the folders in proc of the threads that serve a target; None for a drive of its own.

    For a device made of others, and for a file, these are kernel threads of the block layer; for a file, processes that
    serve a FUSE file system, too. Worked: ``/dev/loop0`` -> those named ``kworker/...``, ``loop0``.
    """
    if identity.kind == "block" and not Path(identity.path).resolve().name.startswith(_STACKED):
        return None
    if identity.kind not in {"block", "file"}:
        return None
    served = list(_fuse_servers(proc)) if identity.kind == "file" else []
    return partial(_threads, served, proc)


def _threads(served: list[Path], proc: Path) -> Iterator[Path]:
    for folder in proc.glob("[0-9]*"):
        if (read_text(folder / "comm") or "").startswith(_KERNEL_NAMES):
            yield folder
    for process in served:
        yield from (process / "task").glob("[0-9]*")


def _fuse_servers(proc: Path) -> Iterator[Path]:
    for process in proc.glob("[0-9]*"):
        try:
            if any(str(link.readlink()) == _FUSE for link in (process / "fd").iterdir()):
                yield process
        except OSError:
            continue
