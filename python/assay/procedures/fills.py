"""Sequential fills before workloads of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from assay.engine.pattern import fill_pattern, leading_range
from assay.engine.records import Demand, StepSequence, StepSpec, StopRule
from assay.procedures.phases import PlannedPhase
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import DataPattern, DriveIdentity

FILL_DEMAND = Demand(thread_count=1, queue_depth=32)
FILL_BYTES = 128 * KIB


class Filled(Protocol):
    """Settings of a test that fills the drive."""

    @property
    def fill_bytes(self) -> int:
        """In all."""

    @property
    def fill_transfer_bytes(self) -> int:
        """Of each write."""

    @property
    def data(self) -> DataPattern:
        """What is written."""

    @property
    def range_amount_bytes(self) -> int:
        """Of the drive."""


def fill_amounts(fills: float, range_bytes: int, drive: DriveIdentity) -> dict[str, Any]:
    """``fill_bytes`` and ``fill_transfer_bytes`` of so many fills, in whole blocks, as keywords of settings."""
    block = drive.logical_block_bytes
    return {"fill_bytes": round(fills * range_bytes) // block * block, "fill_transfer_bytes": max(FILL_BYTES, block)}


def fill_sequence(settings: Filled) -> StepSequence:
    """Writes in order over the whole range, which prepare the drive and are not measured."""
    step = StepSpec(
        label="sequential fill",
        pattern=fill_pattern(settings.fill_transfer_bytes, settings.data),
        demand=FILL_DEMAND,
        active_range=leading_range(settings.range_amount_bytes),
        stop=StopRule(amount_bytes=settings.fill_bytes),
    )
    return StepSequence(
        name="preconditioning", stage="precondition", index=0, steps=(step,), role="prepare", on_void="accept"
    )


def fill_phase(fill_bytes: int) -> tuple[PlannedPhase, ...]:
    """What the fills write; nothing where there are none."""
    if not fill_bytes:
        return ()
    return (PlannedPhase(name="preconditioning", stages=("precondition",), amount_bytes=fill_bytes),)
