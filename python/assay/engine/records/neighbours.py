"""What other block devices did meanwhile that share something with the drive under test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shared = Literal["subsystem", "target", "disk", "controller", "uplink"]
"""From near to far: an NVMe subsystem (another namespace), a SCSI target (another LUN), a disk that both lie on, a PCI
function or SCSI host, a PCIe port above both.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourRecord:
    """I/O of another block device during one sequence, as the kernel counted it.

    name : of the device, as the kernel has it. shared, by : what it shares with the drive, and the name of that.
    link : PCIe link that both use, as negotiated; None where the kernel tells none.
    """

    name: str
    shared: Shared
    by: str
    link: str | None = None
    read_count: int
    read_bytes: int
    write_count: int
    write_bytes: int

    @property
    def moved_bytes(self) -> int:
        """Read and written. Worked: 4,096 read and 8,192 written -> 12,288."""
        return self.read_bytes + self.write_bytes

    @property
    def io_count(self) -> int:
        """Reads and writes."""
        return self.read_count + self.write_count


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighboursRecord:
    """The devices that share something with the drive, during one sequence.

    span_ns : between the two readings of their counters, at least 0. watched_count : devices whose counters were read.
    moved : those with any I/O. uncounted : names of those whose I/O the kernel did not count.
    """

    span_ns: int
    watched_count: int
    moved: tuple[NeighbourRecord, ...] = ()
    uncounted: tuple[str, ...] = ()
