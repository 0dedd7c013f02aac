"""What the kernel itself serves to others: block devices and files that no process has open.

Source: Linux ``Documentation/ABI/testing/configfs-*``, ``drivers/nvme/target/configfs.c``, ``target_core_configfs.c``.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate import mounts
from assay.dut.real.gate.levels import DiskLevel
from assay.dut.real.sysfs import SYSFS, number_label, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.dut.real.gate.levels import FileLevel
    from assay.dut.real.gate.mounts import Mount

CONFIG = SYSFS / "kernel/config"
# Where each server keeps the path of what it serves, and what says that it does; an empty word needs no other file.
_SERVERS = (
    ("nvmet", "nvmet/subsystems/*/namespaces/*/device_path", "enable"),
    ("LIO", "target/core/*/*/udev_path", ""),
    ("a USB gadget", "usb_gadget/*/functions/mass_storage.*/lun.*/file", ""),
)
# Linux ``fd_show_configfs_dev_params`` in ``drivers/target/target_core_file.c``.
_LIO_FILE = re.compile(r" File: (.*?)  Size: \d")


def exported(level: DiskLevel | FileLevel) -> list[str]:
    """What serves a disk, a partition of it, or a file to others.

    Worked: an enabled namespace of nvmet whose ``device_path`` is ``/dev/sdb`` -> ``exported by nvmet as ...``.
    """
    return [
        f"exported by {server} as {place.parent.relative_to(CONFIG)}"
        for server, place, path in _served()
        if _is_of(path, level, level.view.own_mounts)
    ]


def _served() -> Iterator[tuple[str, Path, str]]:
    for server, pattern, switch in _SERVERS:
        for place in sorted(CONFIG.glob(pattern)):
            path = read_text(place)
            if path and (not switch or read_text(place.parent / switch) != "0"):
                yield server, place, path
    # The path above is a note of LIO's tools, which others may leave out; what a file backstore opened it says itself.
    for place in sorted(CONFIG.glob("target/core/*/*/info")):
        if opened := _LIO_FILE.search(read_text(place) or ""):
            yield "LIO", place, opened[1]


def _is_of(path: str, level: DiskLevel | FileLevel, among: Sequence[Mount]) -> bool:
    status = _status(path, among)
    if not isinstance(level, DiskLevel):
        return status is not None and level.file.is_of(status)
    members = level.disk.family()
    if status is None or not stat.S_ISBLK(status.st_mode):
        return os.path.realpath(path) in {member.node for member in members} if path.startswith("/dev/") else False
    return number_label(status.st_rdev) in {member.number_text for member in members}


def _status(path: str, among: Sequence[Mount]) -> os.stat_result | None:
    try:
        return os.stat(path) if mounts.is_safe(Path(path), among) else None  # noqa: PTH116 - text
    except OSError:
        return None
