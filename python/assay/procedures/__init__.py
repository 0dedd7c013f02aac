"""One file per test of the specification, each with the same header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import TooSmallError
from assay.procedures.dirth.test import plan_dirth
from assay.procedures.ecw.test import plan_ecw
from assay.procedures.hir.test import plan_hir
from assay.procedures.iops.test import plan_iops
from assay.procedures.lat.test import plan_lat
from assay.procedures.planned import PlannedRun, PlannedTest, with_stall_policy
from assay.procedures.studies import plan_study
from assay.procedures.tp.test import plan_tp
from assay.procedures.wsat.test import plan_wsat
from assay.procedures.xsr.test import plan_xsr
from assay.records import SkippedTest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.plan import Plan, StudyName
    from assay.profile import Profile
    from assay.records import DriveIdentity

    Planner = Callable[[Profile, Plan, DriveIdentity], Sequence[PlannedTest | SkippedTest]]

_PLANNERS: dict[str, Planner] = {
    "wsat": plan_wsat,
    "iops": plan_iops,
    "tp": plan_tp,
    "lat": plan_lat,
    "hir": plan_hir,
    "xsr": plan_xsr,
    "ecw": plan_ecw,
    "dirth": plan_dirth,
}


def plan_suite(profile: Profile, plan: Plan, drive: DriveIdentity) -> PlannedRun:
    """Settle what every test of a plan does on a drive; one test can be several runs.

    A test that this drive cannot run is left out with the reason, which the report prints.
    Raises TooSmallError where none can run, ValueRangeError for an absurd demand.
    """
    found = [one for name in plan.tests for one in _plan_test(name, profile, plan, drive)]
    found += [_plan_study(name, profile, plan, drive) for name in plan.studies]
    tests = tuple(with_stall_policy(one, plan) for one in found if isinstance(one, PlannedTest))
    skipped = tuple(one for one in found if isinstance(one, SkippedTest))
    if not tests:
        reasons = "; ".join(f"{one.test}: {one.reason}" for one in skipped)
        raise TooSmallError(
            drive.path, f"can run no test of the plan ({reasons})", "use another drive or edition, or --scale"
        )
    return PlannedRun(tests=tests, skipped=skipped)


def _plan_study(name: StudyName, profile: Profile, plan: Plan, drive: DriveIdentity) -> PlannedTest | SkippedTest:
    try:
        return plan_study(name, profile, plan, drive)
    except TooSmallError as error:
        return SkippedTest(test=f"study-{name}", reason=error.reason)


def _plan_test(name: str, profile: Profile, plan: Plan, drive: DriveIdentity) -> Sequence[PlannedTest | SkippedTest]:
    try:
        return _PLANNERS[name](profile, plan, drive)
    except TooSmallError as error:
        return [SkippedTest(test=name, reason=error.reason)]
