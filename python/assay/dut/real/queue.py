"""The block layer's queue of a disk: settings that are changed and restored, and counters."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from assay.dut.real.identity import sysfs_directory
from assay.dut.real.notes import NOTES, Note
from assay.dut.real.sysfs import SYSFS, read_text
from assay.errors import SystemRefusedError
from assay.spec.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.dut.real.sysfs import Disk
    from assay.engine.records import DriveIdentity


# 2 switches every kind of merge lookup off; without iostats the kernel's counters stand still.
_WANTED = {"nomerges": "2", "iostats": "1"}
_SHOWN = (
    "scheduler",
    "nomerges",
    "iostats",
    "max_sectors_kb",
    "max_hw_sectors_kb",
    "max_segments",
    "max_segment_size",
    "nr_requests",
    "read_ahead_kb",
    "rotational",
    "rq_affinity",
    "wbt_lat_usec",
    "write_cache",
    "zoned",
    "discard_granularity",
    "discard_max_bytes",
)


@contextmanager
def merging_off(identity: DriveIdentity, *, sysfs: Path = SYSFS, notes: Path = NOTES) -> Iterator[dict[str, str]]:
    """Keep the kernel from merging I/Os of the drive while the block runs, and its I/O counters on.

    identity : a block device is set; a file or simulated drive is left alone. notes : folder of the notes that outlive
    a crash: where one tells of a former value and the queue still has what the run before set, that value comes back.
    Yields the queue's settings in force by sysfs name; ``{}`` for a file. A setting that could not be changed stays
    as it is, and ``nomerges_note`` or ``iostats_note`` says so. Former values come back on every way out.
    Source: Linux ``Documentation/block/queue-sysfs.rst``. Worked: ``nomerges`` 0 -> 2 inside the block -> 0 after it.
    """
    if identity.kind != "block":
        yield {}
        return
    folder = sysfs_directory(identity, sysfs=sysfs)
    note = Note(notes / f"queue-{folder.name}.json")
    former = _former(folder / "queue", note.read())
    try:
        failures = _set_all(folder / "queue", former, note)
        yield queue_settings(identity, sysfs=sysfs) | failures
    finally:
        _restore_all(folder / "queue", former, note)


def put_queue_back(identity: DriveIdentity, *, sysfs: Path = SYSFS, notes: Path = NOTES) -> list[str]:
    """Put back what a run that was killed has left changed, and forget its note; what was put back, a line each.

    Nothing is done while a run has the drive. Raises SystemRefusedError where a value cannot be written.
    Worked: ``nomerges`` 2, noted 0 -> 0, and ``".../queue/nomerges is 0 again"``.
    """
    queue = sysfs_directory(identity, sysfs=sysfs) / "queue"
    note = Note(notes / f"queue-{queue.parent.name}.json")
    if not note.exists() or note.is_in_use():
        return []
    lines = []
    for name, text in _former(queue, note.read()).items():
        if text is not None and read_text(queue / name) != text:
            try:
                (queue / name).write_text(text, encoding="ascii")
            except OSError as error:
                raise SystemRefusedError(str(queue / name), error.strerror or str(error), "run it as root") from None
            lines.append(f"{queue / name} is {text} again")
    note.remove()
    return lines


def queue_settings(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> dict[str, str]:
    """The queue's settings in force by sysfs name; ``{}`` for a file or simulated drive.

    Worked: ``scheduler`` with the text ``[none] kyber`` is ``none``.
    """
    if identity.kind != "block":
        return {}
    queue = sysfs_directory(identity, sysfs=sysfs) / "queue"
    return {name: chosen(text) for name in _SHOWN if (text := read_text(queue / name))}


def split_factor(settings: dict[str, str], transfer_bytes: int) -> int | None:
    """Count the requests that the block layer makes of one transfer.

    settings : as yielded by ``merging_off``. transfer_bytes : at least 1.
    Returns at least 1, or None where ``max_sectors_kb`` is unknown. Only the size limit counts here: a buffer that is
    not contiguous in physical memory can be split further by ``max_segments``.
    Worked: 1 MiB at ``max_sectors_kb`` 256 -> 4.
    """
    limit_kib = settings.get("max_sectors_kb", "")
    if not limit_kib.isdecimal() or int(limit_kib) == 0:
        return None
    return max(1, -(-transfer_bytes // (int(limit_kib) * KIB)))


def stat_path(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> str | None:
    """Name the file with the block layer's own counters of the drive; None for a file or simulated drive."""
    if identity.kind != "block":
        return None
    path = sysfs_directory(identity, sysfs=sysfs) / "stat"
    return str(path) if path.exists() else None


def chosen(text: str) -> str:
    """The choice in force of an attribute that lists all. Worked: ``[none] kyber`` -> ``none``."""
    match = re.search(r"\[([^\]]+)\]", text)
    return match[1] if match else text


def _former(queue: Path, kept: dict[str, str]) -> dict[str, str | None]:
    """The values to come back, by attribute, of those that are not as wanted; None where it is unknown.

    kept : the note of a run that was killed. It counts only where the value is still the one that such a run sets.
    """
    result = {name: read_text(queue / name) for name in _WANTED}
    for name, wanted in _WANTED.items():
        if result[name] == wanted and str(kept.get(name)).isdecimal():
            result[name] = str(kept[name])
    return {name: text for name, text in result.items() if text != _WANTED[name]}


def _set_all(queue: Path, former: dict[str, str | None], note: Note) -> dict[str, str]:
    """Set what is not as wanted, once its former value is noted; by ``NAME_note`` what could not be set, and why."""
    if not former:
        return {}
    try:
        note.write({"path": str(queue), **former})
    except OSError as error:
        # Nothing is changed that could not be put back.
        reason = f"{note.path} cannot be written ({error.strerror})"
        return {f"{name}_note": f"left at {text or 'unknown'}: {reason}" for name, text in former.items()}
    failures = {}
    for name, text in former.items():
        try:
            (queue / name).write_text(_WANTED[name], encoding="ascii")
        except OSError as error:
            failures[f"{name}_note"] = f"left at {text or 'unknown'}: {error.strerror}"
    return failures


def _restore_all(queue: Path, former: dict[str, str | None], note: Note) -> None:
    """Put the former values back. A drive that died in the run has no queue any more; its own error must be seen."""
    for name, text in former.items():
        if text is not None:
            with suppress(OSError):
                (queue / name).write_text(text, encoding="ascii")
    with suppress(OSError):
        note.remove()


SECTOR_BYTES = 512
_IN_FLIGHT = 8
_FLUSHES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCounters:
    """What was completed since the device appeared, or between two readings: requests, bytes, merges, flushes."""

    read_count: int
    read_bytes: int
    read_merge_count: int
    write_count: int
    write_bytes: int
    write_merge_count: int
    flush_count: int

    def since(self, before: Self) -> DeviceCounters:
        """What was added since an earlier reading."""
        names = [field.name for field in fields(self)]
        return DeviceCounters(**{name: getattr(self, name) - getattr(before, name) for name in names})


def in_flight(disk: Disk) -> int:
    """How many I/Os a disk or partition has not completed. Raises OSError. Source: as of ``device_counters``."""
    return int((disk.folder / "stat").read_text("ascii").split()[_IN_FLIGHT])


def device_counters(disk: Disk) -> DeviceCounters:
    """Read the counters of a disk or partition.

    Raises OSError where they cannot be read. Source: Linux ``Documentation/block/stat.rst``.
    Worked: ``8 1 64 0 2 0 16 0 ...`` is 8 reads of 32,768 bytes with 1 merge, 2 writes of 8,192 bytes.
    """
    counters = [int(field) for field in (disk.folder / "stat").read_text("ascii").split()]
    return DeviceCounters(
        read_count=counters[0],
        read_merge_count=counters[1],
        read_bytes=counters[2] * SECTOR_BYTES,
        write_count=counters[4],
        write_merge_count=counters[5],
        write_bytes=counters[6] * SECTOR_BYTES,
        flush_count=counters[_FLUSHES] if len(counters) > _FLUSHES else 0,
    )
