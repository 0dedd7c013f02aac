"""Select Performance Data: the few figures of each test that summaries print, beside what the data sheet claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

_NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """One selected figure as printed. fresh, steady : n/a where there is none. claim : of the data sheet."""

    item: str
    unit: str
    fresh: str
    steady: str
    claim: str


def claim_label(run: StoredRun, name: str | None) -> str:
    """What the data sheet claims of a figure, as the plan states it."""
    claims: dict[str, Any] = run.plan.get("claims") or {}
    value = claims.get(name) if name else None
    return _NOT_STATED if value is None else f"{value:,.12g}"
