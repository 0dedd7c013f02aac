"""The table of a test over a grid of demands in a plan file."""

from __future__ import annotations

from pydantic import Field

from assay.plan.options import Options
from assay.procedures.families.grid.edition import QueueDepths, ThreadCounts


class GridOptions(Options):
    """Choices for a test over a grid of demands; None means the edition's.

    art_limit_ms : bound on the average response time of the Max point, which the specification has at 5 ms.
    thread_counts, queue_depths : a custom grid.
    """

    round_limit: int | None = Field(default=None, ge=5, le=1000)
    art_limit_ms: float | None = Field(default=None, gt=0)
    thread_counts: ThreadCounts | None = None
    queue_depths: QueueDepths | None = None
