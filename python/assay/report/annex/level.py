"""How far a result is vouched for, as terminal, lists and reports say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.units import count_label
from assay.words.levels import BREAKS_RULES, NOT_CHECKED, SELF_CHECKED
from assay.words.printed import paragraph

if TYPE_CHECKING:
    from assay.engine.records import StoredRun
    from assay.summary.pages.model import Entry

_AT_HOME = {True: SELF_CHECKED, False: BREAKS_RULES, None: NOT_CHECKED}
_CHECKED = {True: "yes, all rules are kept", False: "yes, and rules are broken", None: "no"}


def level_label(run: StoredRun, replicated: int = 0) -> str:
    """The level of a result. replicated : by how many other runs.

    Worked: a run of this host that keeps the rules -> ``"self-checked"``; where nobody checked -> ``"not checked
    here"``; an import that keeps them, without a signature -> ``"verified bundle, unsigned"``.
    """
    return with_replicas(paragraph(run.origin.level) if run.origin else _AT_HOME[run.checked], replicated)


def with_replicas(level: str, replicated: int) -> str:
    """A level with by how many other runs its result is replicated, where there are any."""
    return f"{level}, replicated by {count_label(replicated, 'run')}" if replicated else level


def origin_entries(run: StoredRun) -> tuple[Entry, ...]:
    """Where an imported run comes from; nothing for one of this host."""
    origin = run.origin
    if origin is None:
        return ()
    signed = f"by {paragraph(origin.signer)}, " if origin.signer else ""
    key = f"{signed}key {paragraph(origin.fingerprint)}" if origin.fingerprint else "no: nothing says who made it"
    return (
        ("Level", level_label(run)),
        ("Signed", key),
        ("Held against the rules", _CHECKED[origin.checked]),
        *((("Checker", paragraph(origin.checker)),) if origin.checker else ()),
        ("Exported by", paragraph(origin.exported_by)),
        ("Redacted by its maker", "yes" if origin.redacted else "no"),
        *((("Final hash before", origin.original_hash),) if origin.original_hash else ()),
    )
