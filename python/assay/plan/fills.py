"""Purge and sequential fills before workloads of others, and how reports tell of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from assay.engine.pattern import fill_pattern, leading_range
from assay.engine.records import Demand, Purge, StepSequence, StepSpec, StopRule
from assay.plan.phases import PlannedPhase
from assay.spec.units import KIB
from assay.words.printed import capacity_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DataPattern, DriveIdentity
    from assay.summary.pages.header import TestFacts

FILL_DEMAND = Demand(thread_count=1, queue_depth=32)
FILL_BYTES = 128 * KIB


class Filled(Protocol):
    """Settings of a test that purges and fills the drive as its plan says."""

    @property
    def purges(self) -> bool:
        """Whether the drive is purged first."""

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


def prepared(settings: Filled) -> Iterator[Purge | StepSequence]:
    """The purge and the fill, as far as they were asked for."""
    if settings.purges:
        yield Purge()
    if settings.fill_bytes:
        yield _fill(settings)


def _fill(settings: Filled) -> StepSequence:
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


def preparation_text(settings: Filled) -> str:
    """Purge and fill as they were asked for.

    Worked: both, of 1 GB -> ``Purge, then 1.00 GB of sequential writes.``
    """
    purge = "Purge" if settings.purges else "No purge"
    if not settings.fill_bytes:
        return f"{purge}, no preconditioning."
    return f"{purge}, then {capacity_label(settings.fill_bytes)} of sequential writes."


def with_fill(facts: TestFacts, settings: Filled) -> TestFacts:
    """The words of headers and summaries with the fill, where there is one."""
    if not settings.fill_bytes:
        return facts
    return replace(facts, independent="sequential writes", independent_amount=capacity_label(settings.fill_bytes))
