"""The composite workloads of step five, as they were published for Iometer, and the loads that they run at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engine.records import AccessPattern
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import DataPattern

LOADS = (1, 4, 8, 64, 256)
"""Outstanding I/Os: linear, very light, light, moderate and heavy.

Source: fio, examples/iometer-file-access-server.fio.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """One workload. read_pct, random_pct : of the accesses, drawn independently. sizes : (bytes, per cent) pairs."""

    name: str
    read_pct: int
    random_pct: int
    sizes: tuple[tuple[int, int], ...]

    def pattern(self, alignment_bytes: int, data: DataPattern) -> AccessPattern:
        """Its accesses. alignment_bytes : of random ones; the published rows say 0, which is the sector of the drive.

        Worked: the file server on sectors of 512 bytes -> 60 % of its accesses are of 4 KiB, begun at any sector.
        """
        return AccessPattern(
            sizes=tuple((size, pct / 100) for size, pct in self.sizes),
            read_share=self.read_pct / 100,
            random_share=self.random_pct / 100,
            alignment_bytes=alignment_bytes,
            cursor="iometer",
            data=data,
        )


def _kib(*pairs: tuple[float, int]) -> tuple[tuple[int, int], ...]:
    return tuple((round(size * KIB), pct) for size, pct in pairs)


COMPOSITES = (
    # Intel's, as in Tom's Hardware 2285 page 8 and in fio, examples/iometer-file-access-server.fio.
    Composite(
        name="File server",
        read_pct=80,
        random_pct=100,
        sizes=_kib((0.5, 10), (1, 5), (2, 5), (4, 60), (8, 2), (16, 4), (32, 4), (64, 10)),
    ),
    # The same page of Tom's Hardware.
    Composite(
        name="Web server",
        read_pct=100,
        random_pct=100,
        sizes=_kib((0.5, 22), (1, 15), (2, 8), (4, 23), (8, 15), (16, 2), (32, 6), (64, 7), (128, 1), (512, 1)),
    ),
    # Tom's Hardware and hexus 24329.
    Composite(name="Database", read_pct=67, random_pct=100, sizes=_kib((8, 100))),
    Composite(name="Workstation", read_pct=80, random_pct=80, sizes=_kib((8, 100))),
)
