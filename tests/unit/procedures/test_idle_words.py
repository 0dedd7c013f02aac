"""What is said of the gains of idle times follows from the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from unittest.mock import Mock

from assay.procedures.hir.record import equal_gains

if TYPE_CHECKING:
    from assay.procedures.hir.result import WaitState


def states(*pairs: tuple[float, float | None]) -> list[WaitState]:
    return [cast("WaitState", Mock(idle_s=idle_s, mean_iops=rate)) for idle_s, rate in pairs]


def test_that_longer_idle_times_gave_no_more_is_said_where_all_bursts_are_within_one_percent() -> None:
    (said,) = equal_gains(states((50.0, 3456.0), (5.0, 3455.7), (10.0, 3456.6)))
    assert said == (
        "The bursts after idle times of 5 s to 50 s are within 0.026 % of each other: idle time beyond 5 s gave no "
        "more (rule: within 1 %)."
    )


def test_nothing_is_said_where_gains_differ_or_there_is_one_wait_state() -> None:
    assert equal_gains(states((5.0, 3000.0), (50.0, 3456.0))) == ()
    assert equal_gains(states((5.0, 3000.0), (50.0, None))) == ()
    assert equal_gains([]) == ()
