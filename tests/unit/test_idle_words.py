"""What is said of the gains of idle times follows from the numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import pytest
from assay.procedures.hir.in_short import equal_gains, idle_effects, slow_returns
from assay.procedures.xsr.in_short import cross_stimulus_effects
from assay.spec.units import SECOND_NS

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


@pytest.mark.parametrize(
    ("over", "times", "said", "expected"),
    [
        (1.062, 10 / 1.062, "50 s of idle time after each burst of 5 s bring +6.2 % IOPS (RND 4KiB 0/100)", True),
        (3.0, 3.0, "50 s of idle time after each burst of 5 s bring +200.0 % IOPS (RND 4KiB 0/100)", False),
    ],
)
def test_what_the_longest_idle_time_brings_is_an_effect(over: float, times: float, said: str, expected: bool) -> None:
    settings: Any = SimpleNamespace(burst_ns=5 * SECOND_NS, label="RND 4KiB 0/100")
    result: Any = SimpleNamespace(states=[SimpleNamespace(idle_s=50.0, over_baseline=over)])
    (found,) = idle_effects(settings, result)
    assert (found.times, found.text, found.expected) == (times, said, expected)
    assert list(idle_effects(settings, SimpleNamespace(states=[]))) == []  # type: ignore[arg-type]


def test_the_slowest_response_is_held_against_the_average_of_its_sample() -> None:
    group = SimpleNamespace(
        label="SEQ 1024KiB 0/100", minutes=(1.0, 2.0), latency_ms_max=(3.0, 2_465.0), latency_ms_mean=(1.0, 320.0),
        latency_ms_max_peak=2_465.0,
    )  # fmt: skip
    result: Any = SimpleNamespace(groups=[group], lowest_share=None)
    (found,) = cross_stimulus_effects(SimpleNamespace(test_label="XSR"), result)  # type: ignore[arg-type]
    assert found.times == 2_465 / 320
    assert found.text == (
        "the slowest I/O took 2,465.000 ms, 7.7 times the average of its sample (minute 2 of XSR, SEQ 1024KiB 0/100)"
    )


def test_idle_time_that_is_enough_is_told_with_the_longest_that_brings_no_more() -> None:
    settings: Any = SimpleNamespace(burst_ns=5 * SECOND_NS, label="RND 4KiB 0/100")
    waits = [
        SimpleNamespace(idle_s=idle, over_baseline=over) for idle, over in ((5.0, 1.0), (10.0, 1.06), (50.0, 1.062))
    ]
    (found,) = idle_effects(settings, SimpleNamespace(states=waits))  # type: ignore[arg-type]
    assert found.text == (
        "10 s of idle time after each burst of 5 s bring +6.2 % IOPS, up to 50 s no more (RND 4KiB 0/100)"
    )


@pytest.mark.parametrize(("slowest", "said"), [(11.0, 0), (12.1, 1)])
def test_slow_ios_of_bursts_without_idle_time_are_told(slowest: float, said: int) -> None:
    def state(rested: tuple[float, ...], returned: tuple[float, ...]) -> Any:
        of = [SimpleNamespace(latency_ms_max=times) for times in (rested, returned)]
        return SimpleNamespace(bursts=of[0], returned=of[1])

    # The first burst of a wait state had no idle time before it.
    result: Any = SimpleNamespace(states=[state((11.4, 10.9), (10.9,)), state((10.9, 10.8), (slowest,))])
    told = "The slowest I/O of bursts without idle time before them took 12.100 ms against 10.900 ms"
    assert slow_returns(result) == (f"{told} at most after idle time.",) * said
