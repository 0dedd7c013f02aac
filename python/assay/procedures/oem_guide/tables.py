"""The tables of the OEM guide's method: the guide's own, its checks, the cycling of queue depths, the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.procedures.oem_guide.plan import ALIGNED, COMPRESSIBLE, CORNERS, DEPTHS, OFF, STORED_SHARE, corner_of
from assay.results import error_count
from assay.spec.units import MB, MIB
from assay.summary import columns as of
from assay.summary.pages.model import Table
from assay.summary.table import Column, table_of
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    milliseconds_or_na,
    milliseconds_text,
    one_decimal,
    rate_or_na,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.engine.records import StepRecord, StoredTest
    from assay.procedures.oem_guide.plan import Corner
    from assay.procedures.studies.result import StageResult, StudyResult
    from assay.results.finding import Finding
    from assay.summary.table import Declared, ResultTable

_COLUMNS = (
    "Access specification", "IOps", "MBps (2^20 B)", "MB/s", "Average response (ms)", "Maximum response (ms)", "Errors",
    "Queue depth", "% CPU", "CPU effectiveness",
)  # fmt: skip
_NO_NEW_BURN_IN = (
    "The depths run from 1 to 32 without a new burn-in, as the guide has it: the first random writes find a drive that "
    "was written sequentially, and what falls with the depth may be the drive's change of state."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideRow:
    """One test of the guide. cpu_pct : of one CPU, of the threads that issue; None where it cannot be told.

    depth : I/Os that were asked for. cycled : it is part of the queue depth cycling. iops and what follows are None
    where it did not run whole, or may not be printed.
    """

    variant: str
    corner: Corner
    depth: int
    cycled: bool
    iops: float | None = None
    mb_per_s: float | None = None
    latency_ms_mean: float | None = None
    latency_ms_max: float | None = None
    errors: int | None = None
    cpu_pct: float | None = None

    @property
    def mibps(self) -> float | None:
        """As Iometer prints it. Worked: 23.668542464 MB/s -> 22.572081."""
        return None if self.mb_per_s is None else self.mb_per_s * MB / MIB

    @property
    def effectiveness(self) -> float | None:
        """IOPS per per cent of CPU. Worked: 46,227.62202 IOPS at 14.05168 % -> 3289.83."""
        return self.iops / self.cpu_pct if self.iops is not None and self.cpu_pct else None

    @property
    def rate(self) -> tuple[float | None, str]:
        """What people quote of it: MB/s of sequential accesses, IOPS of random ones."""
        return (self.mb_per_s, "MB/s") if self.corner.access == "sequential" else (self.iops, "IOPS")


def guide_rows(test: StoredTest, result: StudyResult) -> tuple[GuideRow, ...]:
    """Every test that the method has, in the order they ran."""
    rows = []
    for index, variant in enumerate(result.variants, 1):
        steps = test.steps("variant", index)
        for place, stage in enumerate(variant.stages):
            if corner := corner_of(stage.label):
                rows.append(_row(variant.label, corner, stage, steps[place : place + 1]))
    return tuple(rows)


def _row(variant: str, corner: Corner, stage: StageResult, steps: Sequence[StepRecord]) -> GuideRow:
    depth, found = stage.demand.queue_depth, stage.settled
    if found is None or not steps:
        return GuideRow(variant=variant, corner=corner, depth=depth, cycled=stage.place is not None)
    (step,) = steps
    wall_ns = step.lead_in_ns + step.span_ns
    return GuideRow(
        variant=variant,
        corner=corner,
        depth=depth,
        cycled=stage.place is not None,
        iops=found.iops,
        mb_per_s=found.mb_per_s,
        latency_ms_mean=found.latency_ms_mean,
        latency_ms_max=found.latency_ms_max,
        errors=error_count(step),
        cpu_pct=None if step.cpu_ns is None or not wall_ns else 100 * step.cpu_ns / wall_ns,
    )


def corner_row(rows: Sequence[GuideRow], variant: str, corner: Corner) -> GuideRow | None:
    """A corner test of a variant, None where the drive cannot run it."""
    return next((row for row in rows if (row.variant, row.corner, row.cycled) == (variant, corner, False)), None)


def guide_table(rows: Sequence[GuideRow]) -> Table:
    """The four corner tests as the guide prints them."""
    result = [corner_row(rows, ALIGNED, corner) for corner in CORNERS]
    notes = (
        "MBps is base 2, as Iometer prints it; MB/s is base 10. Queue depth: outstanding I/Os per worker.",
        "% CPU: share of a single CPU, used by the thread that issues the I/Os. CPU effectiveness: IOps per % CPU.",
    )
    return Table(
        caption="The Guide's Table: Four Corner Tests, Aligned to 4KiB",
        columns=_COLUMNS,
        rows=tuple(_printed(one) for one in result if one),
        notes=notes,
    )


def _printed(row: GuideRow) -> tuple[str, ...]:
    return (
        row.corner.name,
        rate_or_na(row.iops),
        rate_or_na(row.mibps),
        rate_or_na(row.mb_per_s),
        milliseconds_or_na(row.latency_ms_mean),
        milliseconds_or_na(row.latency_ms_max),
        NOT_AVAILABLE if row.errors is None else f"{row.errors:,}",
        f"{row.depth}",
        NOT_AVAILABLE if row.cpu_pct is None else f"{row.cpu_pct:.2f}",
        rate_or_na(row.effectiveness),
    )


def checks_table(checks: Mapping[str, Finding]) -> Table:
    """What the guide asks to be seen to."""
    rows = tuple((name, one.level, one.words) for name, one in checks.items())
    return Table(caption="Checks of the Guide", columns=("Check", "Result", "Value"), rows=rows)


def depth_table(rows: Sequence[GuideRow]) -> Table:
    """IOPS and mean response time of every corner at every depth."""
    cells = {(row.corner.name, row.depth): row for row in rows if row.cycled}
    return Table(
        caption="Queue Depth Cycling",
        spanner="IOPS / mean response time (ms)",
        columns=("Queue depth", *(corner.name for corner in CORNERS)),
        rows=tuple(
            (f"{depth}", *(_depth_cell(cells.get((corner.name, depth))) for corner in CORNERS)) for depth in DEPTHS
        ),
        notes=(_NO_NEW_BURN_IN,),
    )


def _depth_cell(row: GuideRow | None) -> str:
    if row is None or row.iops is None or row.latency_ms_mean is None:
        return NOT_AVAILABLE
    return f"{row.iops:,.0f} / {milliseconds_text(row.latency_ms_mean)}"


def comparison_table(rows: Sequence[GuideRow], not_run: Mapping[str, str]) -> Table:
    """The corners off the alignment and with data that compress, against those of the first table."""
    prepared = (
        "Before each of the last two columns the drive was purged and written sequentially with the column's data, as "
        "the burn-in leaves it. In brackets: share of the first column."
    )
    notes = (
        f"Entropy 0 %: data that compress to {STORED_SHARE * 100:g} %, the least that the stimulus makes.",
        prepared,
        *(f"{label} not run: {reason}." for label, reason in not_run.items()),
    )
    return Table(
        caption="Entropy and Alignment",
        columns=(
            "Access specification",
            "",
            *(f"{variant[0].upper()}{variant[1:]}" for variant in (ALIGNED, OFF, COMPRESSIBLE)),
        ),
        rows=tuple(_comparison(rows, corner) for corner in CORNERS),
        notes=notes,
    )


def _comparison(rows: Sequence[GuideRow], corner: Corner) -> tuple[str, ...]:
    first = corner_row(rows, ALIGNED, corner)
    base, unit = first.rate if first else (None, "")
    others = (_against(base, corner_row(rows, variant, corner)) for variant in (OFF, COMPRESSIBLE))
    return (corner.name, unit, rate_or_na(base), *others)


def _against(base: float | None, row: GuideRow | None) -> str:
    if row is None:
        return NOT_APPLICABLE
    value, _ = row.rate
    if value is None:
        return NOT_AVAILABLE
    return one_decimal(value) + (f" ({100 * value / base:.1f} %)" if base else "")


_DATA: Declared[GuideRow] = (
    (of.VARIANT, lambda row: row.variant),
    (Column("access_specification", "Access specification", role="key"), lambda row: row.corner.name),
    (of.DEPTH, lambda row: row.depth),
    (of.IOPS, lambda row: row.iops),
    (Column("mibps", "Throughput", "MiB/s"), lambda row: row.mibps),
    (of.MB_PER_S, lambda row: row.mb_per_s),
    (of.MEAN, lambda row: row.latency_ms_mean),
    (of.MAXIMUM, lambda row: row.latency_ms_max),
    (Column("errors", "Errors"), lambda row: row.errors),
    (Column("cpu_pct", "CPU", "%"), lambda row: row.cpu_pct),
    (Column("cpu_effectiveness", "CPU effectiveness", "IOPS/%"), lambda row: row.effectiveness),
)


def guide_data(rows: Sequence[GuideRow], suffix: str = "") -> ResultTable:
    """Every row, unrounded."""
    return table_of(f"study_oem_guide_table{suffix}", "The guide's tests", _DATA, rows, section="results")


_CHECKS: Declared[tuple[str, Finding]] = (
    (Column("check", "Demand of the guide", role="key"), lambda check: check[0]),
    (Column("level", "Level"), lambda check: check[1].level),
    (Column("reason", "Reason"), lambda check: check[1].words or None),
    (Column("measured", "Measured"), lambda check: check[1].measured),
    (Column("limit", "Limit"), lambda check: check[1].limit),
)


def check_data(checks: Mapping[str, Finding], suffix: str) -> ResultTable:
    """The guide's demands and what was found of each."""
    return table_of(f"study_oem_guide_checks{suffix}", "Demands of the guide", _CHECKS, checks.items())
