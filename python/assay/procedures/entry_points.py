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
        found = _loaded(entry)
        if found.name in taken or found.key in taken:
            raise _refused(entry, f"is named {found.name}, as another is")
        if found.kind != "custom":
            raise _refused(entry, f"says that it is a {found.kind} of the specification")
        taken |= {found.name, found.key}
        yield found


def _loaded(entry: EntryPoint) -> Procedure[Any, Any]:
    try:
        found = entry.load()
    except Exception as error:
        raise _refused(entry, f"cannot be loaded ({type(error).__name__}: {error})") from error
    if not isinstance(found, Procedure):
        raise _refused(entry, f"is a {type(found).__name__}, not a Procedure")
    return found


def _refused(entry: EntryPoint, reason: str) -> UsageError:
    package = entry.dist.name if entry.dist else "an installed package"
    return UsageError(f"{GROUP}: {entry.name} of {package}", reason, f"mend or remove {package}")
