"""What is asked of a drive at once: threads, and I/Os outstanding in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Thread count TC and outstanding I/Os per thread QD, both at least 1 (or as ``IDLE``); total OIO is their product.

    arrivals_per_s : I/Os are issued at this rate over all threads, whatever the drive does, as far as the total OIO
        lets them; above 0.001, at most 1e9. None means as soon as another completes.
    arrival_process : ``recorded`` where a replay keeps the times of its file, whose mean rate is then stated.
    arrival_end_factor : the rate changes evenly over the step, which is of stated time, to this many times its first.
    """

    thread_count: int
    queue_depth: int
    arrivals_per_s: float | None = None
    arrival_process: Literal["fixed", "poisson", "recorded"] = "fixed"
    arrival_end_factor: float = 1.0
