"""One file per test of the specification, each with the same header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.iops import plan_iops
from assay.procedures.lat import plan_lat
from assay.procedures.tp import plan_tp

if TYPE_CHECKING:
    from assay.plan import Plan
    from assay.procedures.loop import PlannedTest
    from assay.profile import Profile
    from assay.records import DriveIdentity

_PLANNERS = {"iops": plan_iops, "tp": plan_tp, "lat": plan_lat}


def plan_test(name: str, profile: Profile, plan: Plan, drive: DriveIdentity) -> list[PlannedTest]:
    """Settle what a test named in a plan does on a drive; a test can be several runs.

    Raises TooSmallError and ValueRangeError where it cannot run there.
    """
    return _PLANNERS[name](profile, plan, drive)
