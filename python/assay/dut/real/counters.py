"""The block layer's own counters of a disk or partition, as Python reads them once in a while."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from assay.dut.real.sysfs import Disk

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
