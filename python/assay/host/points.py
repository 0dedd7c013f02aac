"""The points that both engines measure, and what each saw of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engine.pattern import cell_pattern, leading_range
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.spec.units import KIB, SECOND_NS, kib_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPoint:
    """One access pattern at one demand.

    transfer_bytes : of every I/O. read_pct : 0 to 100. random : else sequential, then ``read_pct`` is 0 or 100.
    """

    transfer_bytes: int
    read_pct: int
    random: bool
    demand: Demand

    @property
    def label(self) -> str:
        """The point in words. Worked: ``RND 4KiB 65/35, 1 x 16``."""
        access = "RND" if self.random else "SEQ"
        demand = f"{self.demand.thread_count} x {self.demand.queue_depth}"
        return f"{access} {kib_label(self.transfer_bytes)}KiB {self.read_pct}/{100 - self.read_pct}, {demand}"

    def step(self, range_bytes: int, seconds: float) -> StepSpec:
        """The point as a step over the first ``range_bytes`` of the drive."""
        access: Access = "random" if self.random else "sequential"
        return StepSpec(
            label=self.label,
            pattern=cell_pattern(access, self.transfer_bytes, self.read_pct / 100, DataPattern()),
            demand=self.demand,
            active_range=leading_range(range_bytes),
            stop=StopRule(time_ns=round(seconds * SECOND_NS)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one engine saw of one point in one run.

    iops : I/Os per second. mean_ns : mean response time, submission included. p99_ns : 99th percentile, of a mix the
    larger one of reads and writes; None with fewer than ten I/Os beyond.
    """

    iops: float
    mean_ns: float
    p99_ns: float | None

    @property
    def queue_depth(self) -> float:
        """Outstanding I/Os by Little's law. Worked: 1,000 IOPS of 2 ms -> 2."""
        return self.iops * self.mean_ns / SECOND_NS


def check_point(transfer_kib: int, read_pct: int, queue_depth: int, *, random: bool = True) -> CheckPoint:
    """A point of one thread. Worked: ``check_point(4, 100, 32)`` -> random 4 KiB reads at QD 32."""
    demand = Demand(thread_count=1, queue_depth=queue_depth)
    return CheckPoint(transfer_bytes=transfer_kib * KIB, read_pct=read_pct, random=random, demand=demand)


POINTS: Sequence[CheckPoint] = (
    check_point(4, 100, 1),
    check_point(4, 100, 32),
    check_point(4, 0, 1),
    check_point(4, 0, 32),
    check_point(4, 65, 16),
    check_point(128, 100, 8, random=False),
    check_point(128, 0, 8, random=False),
)
"""What is compared unless other points are named."""
