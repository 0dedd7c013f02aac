"""How writes restart behind other accesses, as an insight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.summary.insights import insight

if TYPE_CHECKING:
    from assay.summary.insights import Insight
    from assay.words.subject import Subject

_MINUTE_MS = 60_000


def restarted(about: Subject, before: Subject, *, kept: float, minutes: float | None, span_ms: float) -> Insight:
    """Accesses that restart behind others.

    kept : of their rate before, a share. minutes : until they are back at it, None where they were not in span_ms.
    Worked: 13 % kept, back after 13 minutes -> it lasts 780,000 ms.
    """
    recovered = None if minutes is None else minutes * _MINUTE_MS
    return insight(
        "slow-recovery",
        about,
        before=before,
        kept=kept,
        lost=1 - kept,
        lasting_ms=span_ms if recovered is None else recovered,
        recovered_ms=recovered,
        within_ms=span_ms if recovered is None else None,
    )
