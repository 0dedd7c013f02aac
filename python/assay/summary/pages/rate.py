"""What a test tells of a kind of accesses that other tests may have at another demand or in another order."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from assay.spec.units import MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """IOPS of one kind of accesses.

    order : ``RND`` or ``SEQ``. side : ``R`` or ``W``. transfer_bytes : of an I/O. outstanding : I/Os.
    values : IOPS of each round of the measurement window, at least one.
    """

    order: str
    side: str
    transfer_bytes: int
    outstanding: int
    values: tuple[float, ...]

    @property
    def iops(self) -> float:
        """The average of the rounds."""
        return fmean(self.values)

    @property
    def mb_per_s(self) -> float:
        """The same in MB/s. Worked: 1,000 IOPS of 4 KiB -> 4.096."""
        return self.iops * self.transfer_bytes / MB
