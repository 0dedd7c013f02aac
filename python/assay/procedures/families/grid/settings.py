"""What a test over a grid of demands was set to do."""

from __future__ import annotations

from dataclasses import dataclass

from assay.engine.records.settings import PatternSettings
from assay.procedures.families.saturation.settings import SaturationSettings
from assay.spec.demand import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSettings(PatternSettings):
    """What a test over a grid of demands used. ``demand`` is that of every pre-write.

    name : as printed, such as ``DIRTH``. pattern, label : the accesses of every cell and operating point.
    preconditioning : its writes until steady, before the first round.
    grid : the demands of a round in the order they run; cell_ns : for how long each.
    tracking : the cell whose IOPS decide steady state.
    sample_ns : length of one pre-write sample; pre_write_samples : before the cells of a round;
        point_pre_write_samples : before an operating point.
    art_limit_ms : a cell counts for the Max point where its average response time is below.
    capture_ns : length of an operating point, of which every completion is kept.
    """

    name: str
    preconditioning: SaturationSettings
    grid: tuple[Demand, ...]
    tracking: Demand
    cell_ns: int
    round_limit: int
    sample_ns: int
    pre_write_samples: int
    point_pre_write_samples: int
    art_limit_ms: float
    capture_ns: int

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand, self.preconditioning.demand, *self.grid)
