"""The tails of the streams of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.tail_figures import Tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.procedures.workload.result import StreamResult

TAILS_MAX = 8
"""More curves than this cannot be told apart."""


def stream_tails(stage: Sequence[StreamResult]) -> list[Tail]:
    """A curve for each stream of a stage, none for several together; the first eight."""
    return [Tail(one.label, one.times, one.latency_ms_max) for one in stage if one.spec is not None][:TAILS_MAX]
