"""DIRTH, demand intensity and response time histogram.

Question:      How do IOPS and response times of a named workload change with demand, and how are response times spread
               where the drive is busy, half busy and idle?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 14.
Purge:         yes.
Precondition:  the accesses of the workload at 0/100, TC 32 x QD 32, in 1 min samples until steady.
Loop:          rounds of 5 min of pre-writes and 1 min of the workload at each of 49 demands; TC and QD of
               32, 16, 8, 6, 4, 2, 1; total OIO decreases.
Tracking:      IOPS at TC 32 x QD 32, reads and writes together.
Stop:          five steady rounds, or 25 rounds; then three operating points: an hour of pre-writes and ten minutes of
               the workload each, with every completion kept.
Result:        IOPS and average response time over demand; Max, Mid and Min point; histogram and percentiles at each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from assay.engine.pattern import Workload, cell_pattern, workload
from assay.engine.records import Cell, SkippedTest
from assay.errors import ValueRangeError
from assay.plan.procedure import Procedure, Request
from assay.procedures.families.grid.plan import DemandSettings, DemandTable, GridOptions, grid_departures
from assay.procedures.families.grid.run import plan_demand
from assay.results.step import cell_label
from assay.spec.datum import Datum, Strict
from assay.spec.edition import BlockKib, ReadPct, WorkloadName
from assay.spec.lazy import later
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import DataPattern
    from assay.plan.procedure import PlannedTest


PatternName = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")]


class PatternDatum(Strict):
    """A named access pattern of one block size; ``read_pct`` is its nominal share of reads."""

    name: PatternName
    access: Literal["random", "sequential"] = "random"
    block_kib: BlockKib
    read_pct: ReadPct


class IntensityTable(DemandTable):
    """Parameters of demand intensity. patterns : those that the edition names; without a choice the first is run."""

    patterns: Datum[Annotated[tuple[PatternDatum, ...], Field(min_length=1)]]


class IntensityOptions(GridOptions):
    """Options of a demand intensity test.

    patterns : names that the edition or ``assay.engine.pattern`` knows, or custom patterns; each is a separate test.
    Empty means the edition's first, and in the suite ``advanced`` all that it names.
    """

    patterns: tuple[PatternName | PatternDatum, ...] = Field(default=(), max_length=20)

    def of_suite(self, table: IntensityTable) -> Self:
        """Every pattern that the edition names, where the tester names none."""
        names = tuple(pattern.name for pattern in table.patterns.value)
        return self if self.patterns else self.model_copy(update={"patterns": names})

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        names = [pattern if isinstance(pattern, str) else pattern.name for pattern in self.patterns]
        if len(set(names)) != len(names):
            raise ValueError("two patterns have the same name")
        return self


def plan_dirth(request: Request[IntensityTable, IntensityOptions]) -> list[PlannedTest | SkippedTest]:
    """Settle what demand intensity does on a drive: one test per access pattern, each with its own purge.

    Raises ValueRangeError for a pattern that is not known.
    Worked: ``pts-e-1.1`` without further choice -> one test, ``dirth-oltp``, of RND 8KiB 65/35; as a part of the suite
    ``advanced`` also ``dirth-video``, of RND 128KiB 90/10.
    """
    asked = request.options.patterns or (request.table.patterns.value[0],)
    chosen = [_pattern(one, request.table, request.data) for one in asked]
    return [plan_demand("dirth", "DIRTH", one, test=f"dirth{one.suffix}", request=request) for one in chosen]


def _pattern(asked: str | PatternDatum, edition: IntensityTable, data: DataPattern) -> Workload:
    known = {datum.name: datum for datum in edition.patterns.value}
    datum = known.get(asked) if isinstance(asked, str) else asked
    if datum is not None:
        size = int(datum.block_kib * KIB)
        return Workload(
            label=cell_label(Cell(read_pct=datum.read_pct, transfer_bytes=size), datum.access),
            suffix=f"-{datum.name}",
            pattern=cell_pattern(datum.access, size, datum.read_pct / 100, data),
        )
    if asked not in get_args(WorkloadName):
        names = ", ".join(dict.fromkeys([*known, *get_args(WorkloadName)]))
        raise ValueRangeError(
            f"dirth.patterns: {asked}", "is no pattern that has a name", f"choose from {names}, or write it out"
        )
    named = workload(str(asked), data)
    return Workload(label=named.label, suffix=f"-{asked}", pattern=named.pattern)


DIRTH = Procedure(
    name="dirth",
    header=__doc__,
    title="Demand Intensity (DIRTH)",
    question=(
        "IOPS and response times of a named workload over demand, and how response times spread at operating points."
    ),
    outline=(
        "Rounds of pre-writes and 1 min cells over threads and queue depths, high to low total OIO, until steady; "
        "then Max, Mid and Min IOPS points: pre-writes and ten minutes with every completion kept."
    ),
    preconditioning="The accesses of the workload as writes in samples without a gap until steady.",
    table=IntensityTable,
    options=IntensityOptions,
    settings=DemandSettings,
    plan=plan_dirth,
    report=later("assay.procedures.families.grid.record", "demand_shown"),
    departures=grid_departures,
)
