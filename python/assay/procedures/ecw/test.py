"""ECW, the enterprise composite workload; CBW, composite block workload, in edition 2.0.

Question:      How do IOPS and response times of mixed block sizes with hot and cold places change with demand?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 13.
Purge:         yes.
Precondition:  the composite accesses at 0/100, TC 32 x QD 32, in one-minute samples until steady.
Loop:          as demand intensity: pre-writes, then 49 demands in order of decreasing total OIO, at 40/60. Twelve block
               sizes from 0.5 to 64 KiB with shares; half of the accesses in the first 5 % of the drive, 30 % in the
               next 15 %, 20 % in the rest; size and place are drawn independently.
Tracking:      IOPS at TC 32 x QD 32, reads and writes together.
Stop:          five steady rounds, or 25 rounds; then three operating points as in demand intensity.
Result:        as demand intensity, and the table of block sizes and access probabilities.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.pattern import Workload, workload
from assay.procedures.grid.run import plan_demand
from assay.records import SkippedTest
from assay.units import KIB

if TYPE_CHECKING:
    from assay.plan import Plan
    from assay.procedures.planned import PlannedTest
    from assay.profile import CompositeProfile, Profile
    from assay.records import DataPattern, DriveIdentity


def plan_ecw(profile: Profile, plan: Plan, drive: DriveIdentity) -> list[PlannedTest | SkippedTest]:
    """Settle what the composite workload does on a drive; a drive with 4 KiB blocks cannot run its small sizes.

    Worked: ``pts-e-1.1`` -> ``ecw`` at 40 % reads; ``pts-c-2.0`` -> the same under the name ``cbw``.
    """
    edition = profile.ecw
    if edition is None:
        return [SkippedTest(test="ecw", reason=f"{profile.title} has no composite workload")]
    name = edition.name.value
    chosen = _composite(edition, plan.data.to_pattern())
    return [plan_demand(name, chosen, edition, plan.ecw, test=name.lower(), profile=profile, plan=plan, drive=drive)]


def _composite(edition: CompositeProfile, data: DataPattern) -> Workload:
    named, reads = workload("composite", data), edition.read_pct.value
    pattern = replace(named.pattern, read_share=reads / 100, alignment_bytes=int(edition.alignment_kib.value * KIB))
    return Workload(label=f"{edition.name.value} {reads}/{100 - reads}", suffix="", pattern=pattern)
