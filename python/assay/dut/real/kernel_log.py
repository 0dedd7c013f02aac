"""What the kernel's log says of one drive while it is tested, read as it comes, without a command to the drive."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from assay.dut.real.identity import sysfs_directory
from assay.dut.real.sysfs import SYSFS, printable, read_text
from assay.engine.records import DriveEvent

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity

KMSG = Path("/dev/kmsg")
_TEXT_MAX = 200
_RECORD_BYTES = 8192
# A broken drive can fill the kernel's whole log; what follows these is counted by none.
_READ_MAX = 10_000
_LEVEL_BITS = 7
_FUNCTION = r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]"
# Its own, and the port that it hangs on.
_FUNCTIONS_MAX = 2


@dataclass(frozen=True, slots=True)
class LogNames:
    """What a drive, its controller and its port are called in the kernel's log.

    devices : as ``DEVICE=`` gives them, such as ``+nvme:nvme0`` or ``b259:0``. words : in lines without it.
    """

    devices: frozenset[str]
    words: re.Pattern[str]


def log_names(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> LogNames:
    """The names of a block drive and of what stands between it and the host.

    An NVMe drive's PCI function and the port above it are its own; a SATA or SCSI host's function serves other drives,
    too, and is left out.
    Source: Linux ``Documentation/ABI/testing/dev-kmsg`` (b: block, c: character, +: subsystem and name).
    Worked: ``nvme0n1`` of ``nvme0`` at 0000:01:00.0 -> ``b259:0``, ``c240:0``, ``+pci:0000:01:00.0`` and others.
    """
    devices, words = set(), set()
    for drive_place in drive_places(identity, sysfs=sysfs):
        link = drive_place / "subsystem"
        subsystem = link.resolve().name if link.exists() else ""
        words.add(drive_place.name)
        if subsystem:
            devices.add(f"+{subsystem}:{drive_place.name}")
        if node := read_text(drive_place / "dev"):
            devices.add(f"{'b' if subsystem == 'block' else 'c'}{node}")
        # libata names its links and devices after the port: ata3, ata3.00.
        words.update(
            f"{drive_place.name}.{number:02}" for number in range(16) if re.fullmatch(r"ata\d+", drive_place.name)
        )
    return LogNames(frozenset(devices), _any_of(words))


def drive_places(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> list[Path]:
    """The folders in sysfs of a block drive and of what it alone hangs on, nearest first.

    Worked: ``sda`` at port 3 -> its disk, ``2:0:0:0``, ``target2:0:0``, ``host2``, ``ata3``.
    """
    start = [sysfs_directory(identity, sysfs=sysfs).resolve()]
    if identity.controller:
        # The disk of a controller with several paths hangs on none of them.
        start.append((sysfs / "class/nvme" / identity.controller).resolve())
    places: dict[Path, None] = {}
    for folder in start:
        functions = 0
        for place in (folder, *folder.parents):
            if re.fullmatch(_FUNCTION, place.name):
                functions += 1
                if functions > _FUNCTIONS_MAX or not folder.name.startswith("nvme"):
                    break
            if (place / "uevent").exists():
                places[place] = None
    return [place for place in places if not place.name.startswith("pci")]


def _any_of(words: set[str]) -> re.Pattern[str]:
    """Whole names only: ``sda`` is neither in ``sdab`` nor in ``sda1``."""
    inside = "|".join(map(re.escape, sorted(words)))
    return re.compile(rf"(?<![\w.:-])(?:{inside})(?![\w-]|[.:]\w)")


@dataclass
class KernelLog:
    """The kernel's log from now on, as far as it is about one drive; must be closed. Use it as a context manager.

    readable : whether this process may read the log at all. lost_count : lines that came too fast.
    """

    names: LogNames
    path: Path = KMSG
    readable: bool = False
    lost_count: int = 0
    _descriptor: int = field(default=-1, repr=False)

    def __enter__(self) -> Self:
        try:
            self._descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            return self
        self.readable = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def news(self) -> list[DriveEvent]:
        """What was said of the drive since the last time, in order."""
        result: list[DriveEvent] = []
        for _ in range(_READ_MAX if self.readable else 0):
            raw = self._record()
            if raw is None:
                break
            event = parse_record(raw, self.names)
            if event:
                result.append(event)
        return result

    def _record(self) -> bytes | None:
        """One record of the log, empty where some were lost; None where there is no more."""
        try:
            return os.read(self._descriptor, _RECORD_BYTES) or None
        except BrokenPipeError:
            self.lost_count += 1
            return b""
        except OSError:
            return None


def parse_record(raw: bytes, names: LogNames) -> DriveEvent | None:
    r"""A record of /dev/kmsg as an event, None where it is about something else or no record.

    A record that names its device is about that one alone, whatever its text says.
    Source: Linux ``Documentation/ABI/testing/dev-kmsg``.
    Worked: ``b"4,100,5,-;nvme nvme0: I/O 3 timeout\n DEVICE=+nvme:nvme0\n"`` -> level 4, device ``+nvme:nvme0``.
    """
    head, _, rest = raw.partition(b";")
    text, *more = rest.split(b"\n")
    level = head.partition(b",")[0]
    if not level.isdigit():
        return None
    device = next((printable(line.partition(b"=")[2]) for line in more if line.startswith(b" DEVICE=")), "")
    line = printable(text)[:_TEXT_MAX]
    about = device in names.devices if device else names.words.search(line) is not None
    return DriveEvent(level=int(level) & _LEVEL_BITS, device=device, text=line) if about else None
