"""DIRTH, demand intensity and response time histogram.

Question:      How do IOPS and response times of a named workload change with demand, and how are response times spread
               where the drive is busy, half busy and idle?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 14.
Purge:         yes.
Precondition:  the accesses of the workload at 0/100, TC 32 x QD 32, in one-minute samples until steady.
Loop:          rounds of five minutes of pre-writes and one minute of the workload at each of 49 demands, TC and QD of
               32, 16, 8, 6, 4, 2, 1, in order of decreasing total OIO.
Tracking:      IOPS at TC 32 x QD 32, reads and writes together.
Stop:          five steady rounds, or 25 rounds; then three operating points: an hour of pre-writes and ten minutes of
               the workload each, with every completion kept.
Result:        IOPS and average response time over demand; Max, Mid and Min point; histogram and percentiles at each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from assay.errors import ValueRangeError
from assay.pattern import Workload, cell_pattern, workload
from assay.procedures.grid.run import plan_demand
from assay.profile import PatternDatum, WorkloadName
from assay.records import Cell, SkippedTest
from assay.units import KIB
from assay.window import cell_label

if TYPE_CHECKING:
    from assay.plan import Plan
    from assay.procedures.planned import PlannedTest
    from assay.profile import IntensityProfile, Profile
    from assay.records import DataPattern, DriveIdentity


def plan_dirth(profile: Profile, plan: Plan, drive: DriveIdentity) -> list[PlannedTest | SkippedTest]:
    """Settle what demand intensity does on a drive: one test per access pattern, each with its own purge.

    Raises ValueRangeError for a pattern that is not known.
    Worked: ``pts-e-1.1`` without further choice -> one test, ``dirth-oltp``, of RND 8KiB 65/35; as a part of the suite
    ``advanced`` also ``dirth-video``, of RND 128KiB 90/10.
    """
    edition = profile.dirth
    if edition is None:
        return [SkippedTest(test="dirth", reason=f"{profile.title} has no demand intensity test")]
    data = plan.data.to_pattern()
    asked = plan.dirth.patterns or (edition.patterns.value[0],)
    chosen = [_pattern(one, edition, data) for one in asked]
    return [
        plan_demand(
            "DIRTH", one, edition, plan.dirth, test=f"dirth{one.suffix}", profile=profile, plan=plan, drive=drive
        )
        for one in chosen
    ]


def _pattern(asked: str | PatternDatum, edition: IntensityProfile, data: DataPattern) -> Workload:
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
