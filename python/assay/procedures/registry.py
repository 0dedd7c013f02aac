"""Every test and study by name, and those that other packages add by the entry point ``assay.procedures``."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.plan.procedure import Procedure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint

    from assay.plan.options import Options


GROUP = "assay.procedures"
_TESTS = {name: name for name in ("wsat", "iops", "tp", "lat", "hir", "xsr", "ecw", "dirth")}
_VARIANTS = (
    "data-pattern", "write-cache", "oio", "over-provisioning", "active-range", "workload-dependency", "stability",
    "cell-order", "alignment", "trim", "demand-map", "xsr-reverse",
)  # fmt: skip
_STUDIES = {
    **dict.fromkeys(_VARIANTS, "studies"),
    "oem-guide": "oem_guide",
    "five-steps": "five_steps",
    "integrity": "integrity",
    "integrity-quick": "integrity",
    "workload": "workload",
    "replay": "replay",
}
SHIPPED = {**_TESTS, **_STUDIES}
"""Every test and study of this package by name, with its module, which is loaded when it is asked for."""


def outside_procedures(entries: Iterable[EntryPoint], taken: set[str]) -> Iterator[Procedure[Any, Any]]:
    """Every procedure that an installed package adds, by name. taken : names that are given away.

    Raises UsageError naming the package whose procedure cannot be loaded, is none, or has a name that is taken.
    """
    for entry in sorted(entries, key=lambda entry: entry.name):
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
def _shipped(name: str) -> Procedure[Any, Any]:
    module = import_module(f"{GROUP}.{SHIPPED[name]}")
    return next(one for one in vars(module).values() if isinstance(one, Procedure) and one.name == name)


@cache
def _outside() -> tuple[Procedure[Any, Any], ...]:
    """The procedures of other packages."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - heavy

    entries = entry_points(group=GROUP)
    keys = {_shipped(name).key for name in SHIPPED} if entries else set()
    return tuple(outside_procedures(entries, {*SHIPPED, *keys}))


def procedures() -> tuple[Procedure[Any, Any], ...]:
    """Every test and study, those of other packages included, in the order of the specification."""
    return (*map(_shipped, SHIPPED), *_outside())


def known_tests() -> tuple[str, ...]:
    """What ``--test`` takes: the tests of the specification and those of other packages."""
    return (*_TESTS, *(procedure.name for procedure in _outside()))


def known_studies() -> tuple[str, ...]:
    """What ``--study`` takes."""
    return tuple(_STUDIES)


def tests() -> tuple[Procedure[Any, Any], ...]:
    """The procedures of ``known_tests``."""
    return tuple(map(find_procedure, known_tests()))


def option_tables() -> dict[str, type[Options]]:
    """The tables of a plan file by name; all studies share one."""
    return {procedure.key: procedure.options for procedure in procedures()}


def find_procedure(name: str) -> Procedure[Any, Any]:
    """The test or study of a name.

    Raises UsageError where there is none: the run was made with a package that is not installed.
    """
    if name in SHIPPED:
        return _shipped(name)
    result = next((procedure for procedure in _outside() if procedure.name == name), None)
    if result is None:
        known = ", ".join((*SHIPPED, *(procedure.name for procedure in _outside())))
        raise UsageError(f"test {name!r}", "is not known", f"install the package that it comes from; known are {known}")
    return result
