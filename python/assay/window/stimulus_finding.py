"""What one check of the stimulus audit found, and the row that all findings of a check make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

AuditOutcome = Literal["pass", "mark", "unknown", "n/a"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One figure held against its bound. where : step or program. found : at most ``bound`` in absolute value passes.

    detail : the figures behind it, as printed. weight : how much it rests on; among equals the heaviest is shown.
    unknown : the figures cannot tell; ``detail`` says why.
    """

    where: str
    found: float
    bound: float
    detail: str
    weight: float = 0
    unknown: bool = False

    @property
    def marked(self) -> bool:
        """Whether it lies beyond its bound."""
        return abs(self.found) > self.bound

    @property
    def severity(self) -> tuple[bool, float, float]:
        """Findings sort by this, the worst last."""
        return self.marked, abs(self.found) / self.bound if self.bound else abs(self.found), self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One check of a whole test.

    name : of the check. outcome : ``unknown`` where every finding is.
    judged, marked : how many steps, programs or directions were judged, and lay beyond their bound.
    found, bound, where, detail : of the worst of them; ``detail`` is the reason where nothing could be judged.
    """

    name: str
    outcome: AuditOutcome
    judged: int
    marked: int
    found: float | None
    bound: float | None
    where: str
    detail: str


def audit_row(name: str, findings: Iterable[Finding], reason: str = "nothing was issued") -> AuditRow:
    """Sum up what a check found; the worst finding stands for all.

    reason : why there is none. Worked: findings 1 and 3 at a bound of 2 -> ``mark``, 1 of 2, found 3.
    """
    found = list(findings)
    if not found:
        return AuditRow(name=name, outcome="n/a", judged=0, marked=0, found=None, bound=None, where="", detail=reason)
    judged = [one for one in found if not one.unknown]
    worst = max(judged or found, key=lambda one: one.severity)
    marked = sum(one.marked for one in judged)
    return AuditRow(
        name=name,
        outcome="mark" if marked else "pass" if judged else "unknown",
        judged=len(judged),
        marked=marked,
        found=worst.found,
        bound=worst.bound,
        where=worst.where,
        detail=worst.detail,
    )
