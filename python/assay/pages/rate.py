"""What a test tells of a kind of accesses that other tests may have at another demand or in another order."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from assay.pages.printed import size_label
from assay.spec.units import MB

if TYPE_CHECKING:
    from typing import Self


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
    def size(self) -> str:
        """Worked: random writes of 4 KiB -> ``"RND 4KiB"``."""
        return f"{self.order} {size_label(self.transfer_bytes)}"

    @property
    def what(self) -> str:
        """Size and direction in whatever order. Worked: random writes of 4 KiB -> ``"4KiB W"``."""
        return f"{size_label(self.transfer_bytes)} {self.side}"

    @property
    def iops(self) -> float:
        """The average of the rounds."""
        return fmean(self.values)

    @property
    def mb_per_s(self) -> float:
        """The same in MB/s. Worked: 1,000 IOPS of 4 KiB -> 4.096."""
        return self.iops * self.transfer_bytes / MB

    def overlaps(self, other: Self) -> bool:
        """Whether some round of each lies among those of the other. Worked: 90 to 100 and 98 to 110 -> True."""
        return min(self.values) <= max(other.values) and min(other.values) <= max(self.values)
