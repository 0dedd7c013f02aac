"""A synthetic stored test over a grid of demands. Nothing here was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.records import Cell, DriveIdentity, Round, StepRecord
from assay.procedures.editions import load_edition
from assay.procedures.families.grid.plan import DemandSettings
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from assay.spec.units import SECOND_NS
from report_run import balanced, synthetic_direction, synthetic_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.run.planning import PlannedRun

MIX = Cell(read_pct=65, transfer_bytes=8192)


def demand_drive(block: int = 512) -> DriveIdentity:
    """A drive of 32 GB with its write cache off, which takes trims."""
    return DriveIdentity(
        id="x",
        path="sim:x",
        kind="simulated",
        capacity_bytes=32 * 10**9,
        logical_block_bytes=block,
        physical_block_bytes=None,
        write_cache="disabled",
        controls=("trim",),
    )


def planned_demand(name: str = "dirth", edition: str = "pts-e-1.1", block: int = 512, **keys: Any) -> PlannedRun:
    """What a plan makes of a test over a grid of demands."""
    plan = load_plan(None, {"drive": "sim:x", "edition": edition, "tests": [name], **keys})
    return plan_suite(load_edition(edition), plan, demand_drive(block))


def demand_settings(name: str = "dirth", **keys: Any) -> DemandSettings:
    """Settings of the first test that a plan makes."""
    settings = planned_demand(name, **keys).tests[0].settings
    assert isinstance(settings, DemandSettings)
    return settings


def demand_step(rate: float, read_ms: float = 1.0, write_ms: float = 1.0, read_share: float = 0.65) -> StepRecord:
    """Make one second of 8 KiB accesses at a rate, with these response times."""
    reads = round(rate * read_share)
    writes = round(rate) - reads
    step = replace(
        synthetic_step(MIX, 0),
        span_ns=SECOND_NS,
        read=replace(synthetic_direction(reads, 8192), latency_ns_sum=round(reads * read_ms * 10**6)),
        write=replace(synthetic_direction(writes, 8192), latency_ns_sum=round(writes * write_ms * 10**6)),
    )
    return balanced(step)


def demand_round(index: int, settings: DemandSettings, cells: Sequence[StepRecord]) -> Round:
    """Make a round of pre-writes and these cells in the order of the grid."""
    before = [demand_step(1000, read_share=0.0)] * settings.pre_write_samples
    return Round(index=index, cells=(*before, *cells))
