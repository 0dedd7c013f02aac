"""Every test and study by its name, and those that other packages add by the entry point ``assay.procedures``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.plan.procedure import Procedure
from assay.procedures.dirth import DIRTH
from assay.procedures.ecw import ECW
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
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

    from assay.plan.options import Options


GROUP = "assay.procedures"


def outside_procedures(taken: set[str]) -> Iterator[Procedure[Any, Any]]:
    """Every procedure that an installed package adds, by name. taken : names that are given away.

    Raises UsageError naming the package whose procedure cannot be loaded, is none, or has a name that is taken.
    """
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        procedures = _loaded(entry)
        if procedures.name in taken or procedures.key in taken:
            raise _refused(entry, f"is named {procedures.name}, as another is")
        if procedures.kind != "custom":
            raise _refused(entry, f"says that it is a {procedures.kind} of the specification")
        taken |= {procedures.name, procedures.key}
        yield procedures


def _loaded(entry: EntryPoint) -> Procedure[Any, Any]:
    try:
        result = entry.load()
    except Exception as error:
        raise _refused(entry, f"cannot be loaded ({type(error).__name__}: {error})") from error
    if not isinstance(result, Procedure):
        raise _refused(entry, f"is a {type(result).__name__}, not a Procedure")
    return result


def _refused(entry: EntryPoint, reason: str) -> UsageError:
    package = entry.dist.name if entry.dist else "an installed package"
    return UsageError(f"{GROUP}: {entry.name} of {package}", reason, f"mend or remove {package}")


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
