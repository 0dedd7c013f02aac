"""The one list of tests and studies, and the suites that are made of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.procedures.dirth import DIRTH
from assay.procedures.ecw import ECW
from assay.procedures.entry_points import outside_procedures
from assay.procedures.five_steps import FIVE_STEPS
from assay.procedures.hir import HIR
from assay.procedures.integrity import INTEGRITY, INTEGRITY_QUICK
from assay.procedures.iops import IOPS
from assay.procedures.lat import LAT
from assay.procedures.oem_guide import OEM_GUIDE
from assay.procedures.replay import REPLAY
from assay.procedures.studies import STUDIES
from assay.procedures.tp import TP
from assay.procedures.workload import WORKLOAD
from assay.procedures.wsat import WSAT
from assay.procedures.xsr import XSR

if TYPE_CHECKING:
    from assay.plan.options import Options
    from assay.plan.procedure import Procedure

SHIPPED: tuple[Procedure[Any, Any], ...] = (
    WSAT,
    IOPS,
    TP,
    LAT,
    HIR,
    XSR,
    ECW,
    DIRTH,
    *STUDIES,
    OEM_GUIDE,
    FIVE_STEPS,
    INTEGRITY,
    INTEGRITY_QUICK,
    WORKLOAD,
    REPLAY,
)
"""Every test and study of this package."""

_BASIC, _QUICK = ("wsat", "iops", "tp", "lat"), ("iops", "tp", "lat")

READ_ONLY = "quick-read-only"
"""The suite, and its edition, that writes nothing to a drive."""

SURVEY = "blind-survey"
"""The suite that a survey of several drives runs unless told otherwise."""

SUITES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "basic": ("pts-c-1.0", _BASIC, ()),
    "client": ("pts-c-1.0", _BASIC, ()),
    "enterprise": ("pts-e-1.1", _BASIC, ()),
    "advanced": ("pts-e-1.1", ("hir", "xsr", "ecw", "dirth"), ()),
    # The studies are level II of the Calypso Blind Survey 2010.
    SURVEY: ("pts-0.9", _BASIC, ("data-pattern", "active-range", "xsr-reverse")),
    # Methods of others, each a study that stands alone.
    "oem-guide": ("pts-c-1.0", (), ("oem-guide",)),
    "five-steps": ("pts-c-1.0", (), ("five-steps",)),
    "quick": ("quick", _QUICK, ()),
    READ_ONLY: (READ_ONLY, _QUICK, ()),
}
"""What a suite implies for edition, tests and studies, unless the plan says otherwise."""


@cache
def procedures() -> tuple[Procedure[Any, Any], ...]:
    """Every test and study, those of other packages included, in the order of the specification."""
    return (*SHIPPED, *outside_procedures({one.name for one in SHIPPED} | {one.key for one in SHIPPED}))


def tests() -> tuple[Procedure[Any, Any], ...]:
    """What ``--test`` takes: the tests of the specification and those of other packages."""
    return tuple(procedure for procedure in procedures() if procedure.kind != "study")


def studies() -> tuple[Procedure[Any, Any], ...]:
    """What ``--study`` takes."""
    return tuple(procedure for procedure in procedures() if procedure.kind == "study")


def option_tables() -> dict[str, type[Options]]:
    """The tables of a plan file by name; all studies share one."""
    return {procedure.key: procedure.options for procedure in procedures()}


def find_procedure(name: str) -> Procedure[Any, Any]:
    """The test or study of a name.

    Raises UsageError where there is none: the run was made with a package that is not installed.
    """
    result = next((procedure for procedure in procedures() if procedure.name == name), None)
    if result is None:
        known = ", ".join(procedure.name for procedure in procedures())
        raise UsageError(f"test {name!r}", "is not known", f"install the package that it comes from; known are {known}")
    return result
