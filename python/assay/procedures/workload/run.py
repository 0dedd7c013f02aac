"""What a workload is set to do, and the stages that do it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.engine.records import Demand, Ending, Role, StepSequence, StepSpec, StopRule, TestSettings
from assay.plan.fills import prepared

if TYPE_CHECKING:
    from assay.plan.procedure import Context, Course


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadStage:
    """One stage. ramp_up_ns : the same streams run so long before it, unmeasured. streams : side by side, by label."""

    name: str
    role: Role
    ramp_up_ns: int
    streams: tuple[StepSpec, ...]

    @property
    def span_ns(self) -> int | None:
        """How long it takes with its ramp-up; None where no time ends it."""
        time_ns = self.streams[0].stop.time_ns
        return None if time_ns is None else self.ramp_up_ns + time_ns


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
    def specs(self) -> tuple[StepSpec, ...]:
        """Every stream of every stage."""
        return tuple(spec for stage in self.stages for spec in stage.streams)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the workload makes, each once."""
        return tuple(dict.fromkeys(spec.demand for spec in self.specs)) or (self.demand,)

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of reads and writes."""
        moving = (spec.pattern for spec in self.specs if spec.pattern.operation == "transfer")
        return max((size for pattern in moving for size, _ in pattern.sizes), default=self.fill_transfer_bytes)

    @property
    def requires_steady_state(self) -> bool:
        """Nothing is judged."""
        return False


def run_workload(settings: WorkloadSettings, _: Context) -> Course:
    """Purge and fill as stated, then every stage."""
    yield from prepared(settings)
    for index, stage in enumerate(settings.stages, 1):
        stop = StopRule(time_ns=stage.ramp_up_ns)
        # In the same native call, so that no time without I/Os lies between.
        ramp_up = tuple(replace(spec, stop=stop) for spec in stage.streams) if stage.ramp_up_ns else ()
        yield StepSequence(
            name=stage.name,
            stage="stage",
            index=index,
            steps=ramp_up + stage.streams,
            role=stage.role,
            # What comes after a stall or a reset cannot be told from what it left; else the drive is only made ready.
            on_void="stop" if stage.role == "measure" else "accept",
            ramp_up_steps=len(ramp_up),
        )
    return Ending(reason="time", reached=True)
