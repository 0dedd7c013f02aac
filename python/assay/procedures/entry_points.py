"""Tests of other packages, found by their entry point ``assay.procedures``."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.plan.procedure import Procedure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

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
