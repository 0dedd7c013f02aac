"""Select Performance Data: the few figures of each test that summaries print, beside what the data sheet claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.words.printed import NOT_AVAILABLE

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

STEADY, NOT_REACHED, NO_RULE = "steady state", "steady state not reached", "no steady-state rule"
IN_WINDOW = "in the steady window, not tracked"
"""What a selected figure rests on. ``IN_WINDOW`` : the rule judged others, and what follows says whether it moved.
``NO_RULE`` : its test has no rule that decides steady state."""

_NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """One selected figure as printed.

    value : n/a where there is none. basis : what it rests on, in its row. fresh : of the first sample on the purged
    drive, n/a where there is none. claim : of the data sheet. note : what a reader must know of it, below the table.
    """

    item: str
    unit: str
    value: str
    basis: str
    claim: str = _NOT_STATED
    fresh: str = NOT_AVAILABLE
    note: str = ""


def claim_label(run: StoredRun, name: str | None) -> str:
    """What the data sheet claims of a figure, as the plan states it."""
    claims: dict[str, Any] = run.plan.get("claims") or {}
    value = claims.get(name) if name else None
    return _NOT_STATED if value is None else f"{value:,.12g}"
