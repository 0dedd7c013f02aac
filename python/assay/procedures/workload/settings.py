"""What a workload was set to do."""

from __future__ import annotations

from dataclasses import dataclass

# Read by the codec when the program runs.
from assay.engine.records import Demand, Role, StepSpec, TestSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadStage:
    """One stage. ramp_up_ns : the same streams run so long before it, unmeasured. streams : side by side, by label."""

    name: str
    role: Role
    ramp_up_ns: int
    streams: tuple[StepSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSettings(TestSettings):
    """What a workload used.

    title, source : of the workload. left_out : what its file says and was not done, a line each.
    fill_bytes : written in order before the first stage. fill_transfer_bytes : by writes of this size.
    """

    title: str
    source: str
    left_out: tuple[str, ...]
    fill_bytes: int
    fill_transfer_bytes: int
    stages: tuple[WorkloadStage, ...]

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the workload makes, each once."""
        return tuple(dict.fromkeys(spec.demand for stage in self.stages for spec in stage.streams)) or (self.demand,)

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of reads and writes."""
        moving = (
            spec.pattern for stage in self.stages for spec in stage.streams if spec.pattern.operation == "transfer"
        )
        return max((size for pattern in moving for size, _ in pattern.sizes), default=self.fill_transfer_bytes)

    @property
    def requires_steady_state(self) -> bool:
        """Nothing is judged."""
        return False
