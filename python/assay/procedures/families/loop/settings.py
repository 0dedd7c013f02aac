"""What a test loop was set to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assay.engine.records.settings import Cell, TestSettings
from assay.engine.records.stimulus import Access
from assay.spec.demand import Demand

PERCENT = 100
Variable = Literal["iops", "throughput", "latency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings(TestSettings):
    """What a test loop used.

    variable : what is tracked and reported per cell: IOPS, MB/s or average response time in ms.
    read_pcts, sizes_bytes : outer and inner loop values in the order they run.
    preconditioning_bytes : host bytes written before the loop, in transfers of ``preconditioning_transfer_bytes``
        over the first ``preconditioning_share`` of the drive, at ``preconditioning_demand``.
    tracking : the cells whose variable decides steady state, all at once. steady_required : the test asks for it.
    round_least : no round before it ends the test as steady.
    not_applicable : sizes of the specification that this drive cannot run, with the reason.
    """

    access: Access
    variable: Variable
    read_pcts: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    step_ns: int
    round_limit: int
    tracking: tuple[Cell, ...]
    preconditioning_bytes: int
    preconditioning_transfer_bytes: int
    preconditioning_share: float
    preconditioning_demand: Demand
    not_applicable: dict[int, str] = field(default_factory=dict)
    steady_required: bool = True
    round_least: int = 0

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of one round in loop order: read share outside, transfer size inside."""
        return tuple(Cell(read_pct=r, transfer_bytes=b) for r in self.read_pcts for b in self.sizes_bytes)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand, self.preconditioning_demand)

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of the test loop."""
        return max(self.sizes_bytes)

    @property
    def requires_steady_state(self) -> bool:
        """A quick look only says whether the drive was steady."""
        return self.steady_required

    def fault(self) -> str | None:
        """Cells that no test can have, or a tracked one that is none of them."""
        mixes = all(0 <= read_pct <= PERCENT for read_pct in self.read_pcts)
        sizes = all(size > 0 for size in self.sizes_bytes)
        tracked = bool(self.tracking) and set(self.tracking) <= set(self.cells)
        return None if mixes and sizes and tracked else "tracks a cell that it does not have, or has impossible ones"
