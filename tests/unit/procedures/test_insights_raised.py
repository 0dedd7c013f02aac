"""Every kind of insight is raised by the code that is meant to, from results made by hand, and at its floor.

Simulated drives that have such traits: ``tests/whole/test_insights_planted.py``. Results are made by hand here, as a
physical drive has no trait of just half or twice a size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from assay.engine.records import AccessPattern, Cell, Demand
from assay.procedures.families.grid.measures import indistinct
from assay.procedures.families.loop.measures import limits, mixed_penalty, transfer_penalty, unstable
from assay.procedures.families.loop.result import loop_result
from assay.procedures.families.saturation.record import falls
from assay.procedures.five_steps.record import rules_missed
from assay.procedures.hir.record import idle_gain
from assay.procedures.studies.measures import setting_effect, slow_recovery, uneven_seconds
from assay.procedures.traits import Waited, depth_insights, not_steady, stalls, tails
from assay.procedures.workload.record import far_below, rate_kept, rate_missed
from assay.procedures.xsr.record import recovery
from assay.report import records_of_tests
from assay.report.first_page.insights import cross_insights
from assay.results.histogram import ResponseTimes
from assay.spec.units import KIB, SECOND_NS
from assay.summary.insights import KINDS, ordered
from assay.summary.pages import test_record
from assay.summary.record import Measure
from assay.words.coded import ALL_IOS, Subject, coded
from report_run import synthetic_run, synthetic_settings, synthetic_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.summary.insights import Insight, KindName
    from assay.summary.pages.test_record import Rated
    from assay.words.coded import Order

NEARS = (0.95, 1.0, 1.04)
"""How far from half and twice a floor a trait is made."""
LOOP = synthetic_settings()
WRITES = AccessPattern(sizes=((4 * KIB, 1.0),), read_share=0.0, random_share=1.0)
DEMAND = Demand(thread_count=1, queue_depth=8)


def cell(read_pct: int, kib: float) -> Cell:
    return Cell(read_pct=read_pct, transfer_bytes=int(kib * KIB))


def bucket(time_ns: int) -> int:
    octave = max(time_ns.bit_length() - 10, 0)
    return (time_ns >> octave) + octave * 512


def times(*pairs: tuple[float, int]) -> ResponseTimes:
    """Response times in ms with how many I/Os had them."""
    buckets = np.array([bucket(round(ms * 1e6)) for ms, _ in pairs], np.uint64)
    return ResponseTimes(buckets, np.array([count for _, count in pairs], np.uint64), max(pairs)[0], min(pairs)[0])


def planted_stalls(longest_ms: float) -> Iterable[Insight]:
    return stalls(ALL_IOS, [Waited(times=times((0.1, 3_000_000), (longest_ms, 80)), slots=8, span_ms=300_000)])


def planted_tail(slow_ms: float) -> Iterable[Insight]:
    return tails(ALL_IOS, times((slow_ms / 100, 8_000), (slow_ms, 2_000)))


def planted_unsteady(excursion: float) -> Iterable[Insight]:
    verdict: Any = SimpleNamespace(
        steady=excursion <= 0.2, average=100.0, excursion_measured=excursion * 100, excursion_allowed=20.0,
        slope_measured=0.0, slope_allowed=10.0,
    )  # fmt: skip
    return not_steady([(ALL_IOS, verdict)], 25)


def saturated(*iops: float, steady: bool, fills: float = 0.5) -> Any:
    each = tuple(fills * (place + 1) for place in range(len(iops)))
    return SimpleNamespace(
        samples=SimpleNamespace(iops=iops), fills=each, steady_iops=iops[-1] if steady else None, withheld=None
    )


def planted_recovery(lasting_ms: float, kept: float = 0.2) -> Iterable[Insight]:
    group: Any = SimpleNamespace(pattern=WRITES, span_ns=3600 * SECOND_NS)
    settings: Any = SimpleNamespace(groups=(group,) * 3, sample_ns=60 * SECOND_NS, sample_count=lambda _: 60)
    result: Any = SimpleNamespace(lowest_share=kept, recovery_minutes=lasting_ms / 60_000)
    return recovery(settings, result)


def planted_seconds(near: float) -> Iterable[Insight]:
    found = SimpleNamespace(score=near, worst=500.0, median=1000.0)
    step = SimpleNamespace(pattern=WRITES)
    return uneven_seconds(SimpleNamespace(measured=[step]), SimpleNamespace(stability=(found,)))  # type: ignore[arg-type]


def planted_rate(kept: float) -> Iterable[Insight]:
    side = SimpleNamespace(window_io_count=round(kept * 100_000), carried_in_io_count=0)
    step: Any = SimpleNamespace(offered_io_count=100_000, span_ns=SECOND_NS, sides=(side,))
    return rate_missed(ALL_IOS, step)


def planted_effect(times: float) -> Iterable[Insight]:
    stages = [(SimpleNamespace(label="x", settled=SimpleNamespace(iops=rate)),) for rate in (1000.0, 1000.0 * times)]
    variants = [SimpleNamespace(label=name, stages=one) for name, one in zip(("no trim", "trim"), stages, strict=True)]
    return setting_effect(SimpleNamespace(reading="stages"), SimpleNamespace(variants=variants))  # type: ignore[arg-type]


def planted_unstable(share: float, rounds: tuple[float, ...] = (100, 140, 100, 140, 100)) -> Iterable[Insight]:
    """So many of all cells move, in no round alone."""
    result = loop_result(synthetic_test())
    moved = [one for one in LOOP.cells if one not in LOOP.tracking][: round(share * len(LOOP.cells))]
    flat = dict.fromkeys(LOOP.cells, (100.0,) * 5)
    by_round = flat | dict.fromkeys(moved, tuple(map(float, rounds)))
    return unstable(LOOP, replace(result, by_round=by_round, matrix=dict.fromkeys(LOOP.cells, 100.0)))


def planted_points(apart: float) -> Iterable[Insight]:
    rates = {"Max": 1000.0, "Mid": 1000.0 * (1 - apart), "Min": 100.0}
    points = [SimpleNamespace(point=SimpleNamespace(name=name, iops=rate), step=None) for name, rate in rates.items()]
    return indistinct(points)  # type: ignore[arg-type]


def planted_idle(gain: float) -> Iterable[Insight]:
    states: Any = [SimpleNamespace(idle_s=idle, over_return=1 + gain) for idle in (5.0, 50.0)]
    return idle_gain(states)


def planted_pace(kept: float) -> Iterable[Insight]:
    asked: Any = SimpleNamespace()
    paced: Any = SimpleNamespace(spec=asked, offered=1000.0, all_per_s=1000 * kept, late_ms_max=0.02)
    free: Any = SimpleNamespace(
        spec=asked, offered=None, moves=True, iops=93_000.0, label="reads", latency_ms_p99=0.149
    )
    return rate_kept([paced, free])


def report(label: str, *rates: Rated, claim: float | None = None, name: str = "rnd_4k_write_iops") -> Any:
    measure = Measure(
        cell=(), key="iops", label="RND 4KiB W", unit="IOPS", value=claim, stat="mean", quoted=True, claim=name
    )
    return SimpleNamespace(
        label=label,
        test=synthetic_test(),
        rates=rates,
        measures=(measure,) if claim else (),
        key_results=(measure,) if claim else (),
        facts=SimpleNamespace(independent_label="none", test_range="100 %"),
    )


def crossed(*reports: Any, **plan: dict[str, float]) -> Iterable[Insight]:
    return cross_insights(replace(synthetic_run(), plan=plan), reports)


def rate(order: Order, depth: int, iops: float, kib: int = 1024) -> Rated:
    return Subject(order=order, read_pct=0, size_bytes=kib * KIB, depth=depth), iops


def study_stage(*minutes: float) -> Any:
    return SimpleNamespace(samples=SimpleNamespace(minutes=minutes))


def planted_change(kept: float) -> Insight:
    step = SimpleNamespace(pattern=WRITES)
    change: Any = SimpleNamespace(number=2, drop_share=1 - kept, recovery_minutes=None)
    planned: Any = SimpleNamespace(measured=[step, step], label="AR 100 %")
    return slow_recovery(planned, [study_stage(1.0), study_stage(2.0, 61.0)], change)


@dataclass(frozen=True)
class Trait:
    """How a trait of a size is planted; its floor, None where it has none; and whether less of it is graver."""

    plant: Callable[[float], Iterable[Insight]]
    floor: float | None = None


def lost(plant: Callable[[float], Iterable[Insight]]) -> Callable[[float], Iterable[Insight]]:
    """The same by what is lost of a share that is kept."""
    return lambda size: plant(1 - size)


TRAITS: dict[KindName, Trait] = {
    "held-against-missed": Trait(lambda _: crossed(report("IOPS", claim=90.0), claims={"rnd_4k_write_iops": 100.0})),
    "stalls": Trait(planted_stalls, 100),
    "not-steady": Trait(planted_unsteady, 0.2),
    "still-falling": Trait(
        lambda per_fill: falls(ALL_IOS, saturated(5000, 1000, 1000, 1000 * (1 - per_fill), steady=False)), 0.1
    ),
    "settled-fall": Trait(lambda size: falls(ALL_IOS, saturated(1000, 1000 * (1 - size), steady=True)), 0.2),
    "tail": Trait(planted_tail, 1),
    "mixed-penalty": Trait(
        lambda cost: mixed_penalty(LOOP, {cell(100, 4): 1000.0, cell(95, 4): 1000 * (1 - cost)}), 0.1
    ),
    "transfer-penalty": Trait(lambda size: transfer_penalty(LOOP, {cell(0, 4): 1000.0, cell(0, 0.5): 1000 / size}), 2),
    "slow-recovery": Trait(planted_recovery, 30_000),
    "uneven-seconds": Trait(lost(planted_seconds), 0.1),
    "rate-missed": Trait(lost(planted_rate), 0.01),
    "rate-kept": Trait(planted_pace),
    "idle-no-gain": Trait(lambda _: planted_idle(0.002)),
    "setting-effect": Trait(planted_effect),
    "tests-disagree": Trait(
        lambda apart: crossed(report("A", claim=100.0), report("B", claim=100.0 * (1 - apart))), 0.25
    ),
    "unstable-cells": Trait(planted_unstable),
    "baseline-change": Trait(
        lambda worse: crossed(report("A", claim=100.0 * (1 - worse)), baseline={"rnd_4k_write_iops": 100.0}), 0.05
    ),
    "limit": Trait(
        lambda share: limits(LOOP, {cell(100, 4): 30_000.0, cell(100, 128): share * 300e6 / (128 * KIB)}, 300.0)
    ),
    "far-below": Trait(lambda busy: far_below([busy])),
    "saturates": Trait(
        lambda _: depth_insights(ALL_IOS, [(1, 8_333.0, 0.1), (8, 33_332.0, 0.2), (256, 33_330.0, 7.7)])
    ),
    "no-gain-by-depth": Trait(lambda _: depth_insights(ALL_IOS, [(1, 3_000.0, 0.3), (256, 3_010.0, 85.0)])),
    "sequential-gain": Trait(
        lambda size: crossed(report("A", rate("RND", 8, 10.0)), report("B", rate("SEQ", 8, 10.0 * size)))
    ),
    "indistinct": Trait(planted_points),
    "idle-gain": Trait(planted_idle, 0.02),
}
HOST: dict[KindName, tuple[str, Any]] = {
    "withheld": ("withheld_reason", lambda _: coded("io-errors", count=41)),
    "unwritten-reads": ("unwritten_reads", lambda _: [SimpleNamespace(measured=0.4)]),
    "host-interference": ("disturbed_count", lambda _: (2, 5)),
}
"""Kinds that stand beside the numbers, with the fact that raises them."""


def kinds(found: Iterable[Insight]) -> set[str]:
    return {one.kind for one in ordered(found)}


def test_every_kind_is_raised_by_some_code() -> None:
    assert set(TRAITS) | set(HOST) == set(KINDS)


@pytest.mark.parametrize("near", NEARS)
@pytest.mark.parametrize(("kind", "floor"), [(kind, one.floor) for kind, one in TRAITS.items() if one.floor])
def test_a_trait_is_told_at_twice_its_floor_and_not_at_half(kind: KindName, floor: float, near: float) -> None:
    assert kind in kinds(TRAITS[kind].plant(2 * floor * near))
    assert kind not in kinds(TRAITS[kind].plant(floor / 2 * near))


@pytest.mark.parametrize(
    ("kind", "told", "silent"),
    [
        ("held-against-missed", 0.0, None),
        ("setting-effect", 1.4, 1.1),
        ("unstable-cells", 0.2, 0.0),
        ("limit", 0.9, 0.8),
        ("far-below", 0.05, 0.2),
        ("saturates", 0.0, None),
        ("no-gain-by-depth", 0.0, None),
        ("sequential-gain", 3.0, 0.75),
        ("indistinct", 0.025, 0.1),
    ],
)
def test_a_trait_without_a_size_of_its_own_is_told(kind: KindName, told: float, silent: float | None) -> None:
    assert kind in kinds(TRAITS[kind].plant(told))
    assert silent is None or kind not in kinds(TRAITS[kind].plant(silent))


@pytest.mark.parametrize(("kind", "name", "fact"), [(kind, *one) for kind, one in HOST.items()])
def test_what_stands_beside_the_numbers_is_told(
    kind: KindName, name: str, fact: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raised() -> list[Insight]:
        (record,) = records_of_tests(synthetic_run())
        return [one for one in record.insights if one.kind == kind]

    assert not raised()
    monkeypatch.setattr(test_record, name, fact)
    (one,) = raised()
    assert one.tests == ("IOPS",)


def test_ten_stalls_of_eight_slots_are_ten_and_cost_as_much_of_the_time() -> None:
    (one,) = planted_stalls(400)
    assert (one.values["count"], one.values["longest_ms"]) == (10, 400)
    assert one.values["share"] == pytest.approx(10 * 0.4 / 300, rel=0.01)


def test_a_queue_that_is_slow_throughout_does_not_stall() -> None:
    slow = Waited(times=times((300.0, 10_000), (900.0, 80)), slots=1024, span_ms=60_000)
    assert kinds(stalls(ALL_IOS, [slow])) == set()


def test_cells_that_move_in_round_1_alone_are_a_fact() -> None:
    (one,) = ordered(planted_unstable(0.5, (150, 100, 100, 100, 100)))
    assert (one.kind, one.values["only"], one.values["count"]) == ("unstable-cells", 1, round(0.5 * len(LOOP.cells)))


def test_a_saturation_that_still_falls_is_not_told_as_settled() -> None:
    assert kinds(falls(ALL_IOS, saturated(5000, 1000, 1000, 700, steady=False))) == {"still-falling"}
    assert kinds(falls(ALL_IOS, saturated(5000, 1000, 1000, 990, steady=False))) == {"settled-fall"}
    assert kinds(falls(ALL_IOS, saturated(5000, 1000, steady=True))) == {"settled-fall"}
    (worn,) = falls(ALL_IOS, saturated(5000, 1000, steady=True, fills=1.45))
    assert "kept" not in worn.values
    assert worn.values["kept_of_first"] == 0.2


@pytest.mark.parametrize("kept", [0.95, 0.85])
def test_a_drive_that_is_never_back_says_for_how_long_it_was_watched(kept: float) -> None:
    one = planted_change(kept)
    assert (one.values["within_ms"], one.values["recovered_ms"]) == (3_600_000, None)
    assert kinds([one]) == (set() if kept > 0.9 else {"slow-recovery"})


def test_a_depth_that_was_never_enough_is_no_saturation() -> None:
    assert kinds(depth_insights(ALL_IOS, [(1, 100.0, None), (8, 800.0, None), (64, 6_400.0, None)])) == set()


def test_rules_that_are_missed_are_counted() -> None:
    verdicts = [SimpleNamespace(name=name, finding=SimpleNamespace(level=level)) for name, level in
                (("settled", "pass"), ("holes", "warn"), ("stable", "n/a"))]  # fmt: skip
    (one,) = rules_missed(verdicts)  # type: ignore[arg-type]
    assert (one.values["failed"], one.values["of"], one.values["worst"], one.values["undecided"]) == (1, 3, "holes", 1)
    assert list(rules_missed(verdicts[:1])) == []  # type: ignore[arg-type]
