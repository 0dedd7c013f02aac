"""How many I/Os a test had in flight while it measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.engine.records import StoredTest


def asked_depths(test: StoredTest) -> tuple[int, ...]:
    """I/Os in flight that its measured steps asked for, each once, the fewest first.

    Idle steps have none. Worked: one thread of 1 and one of 8 -> ``(1, 8)``.
    """
    demands = {spec.demand for sequence in test.sequences if sequence.role == "measure" for spec in sequence.asked}
    depths = {demand.thread_count * demand.queue_depth for demand in demands}
    return tuple(sorted(depths - {0} or {test.settings.demand.thread_count * test.settings.demand.queue_depth}))
