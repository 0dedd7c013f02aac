"""The sentences of the first page: their numbers are those of the tests, worked by hand here."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from assay.engine.records import Cell, Demand
from assay.procedures.grid.in_short import demand_in_short
from assay.procedures.loop.in_short import _mix_above, _slowest, _tail, _waiting, in_turn, loop_in_short
from assay.procedures.loop.result import loop_result
from assay.procedures.loop.settings import LoopSettings
from assay.procedures.loop.spread import cell_spreads
from assay.procedures.loop.values import headline_window
from assay.procedures.saturation.in_short import coarse_samples, saturation_in_short
from assay.procedures.studies.in_short import study_in_short
from assay.procedures.studies.readings import Change, Proposal, Stability
from assay.spec.units import KIB, SECOND_NS
from report_run import synthetic_test


def test_sixty_five_percent_of_reads_in_turn_are_the_weighted_harmonic_mean() -> None:
    assert in_turn(30_000, 3_000) == pytest.approx(7_228.9, abs=0.05)
    assert in_turn(500, 500) == pytest.approx(500)


def test_a_saturation_says_how_far_writes_fall_and_what_the_last_fill_changes() -> None:
    rates = [10_000.0] * 10 + [5_000.0] * 10 + [2_500.0] * 20
    fills = tuple(0.1 * (place + 1) for place in range(len(rates)))
    result: Any = SimpleNamespace(withheld=None, iops=tuple(rates), fills=fills)
    first, second = saturation_in_short("RND 4KiB 0/100", result)
    assert first.startswith("RND 4KiB 0/100: 10,000.0 IOPS fresh, 2,500.0 in the last sample, 25 % of it; below half")
    assert first.endswith(" of the first after 2.10 drive fills.")
    assert second == "Over the last drive fill IOPS changed by +0.0 %."
    *_, moving = saturation_in_short("RND 4KiB 0/100", result, 2_000.0)
    assert moving == (
        "Right behind the last sample, in the time of the histogram, it had 2,000.0 IOPS (-20 %): no level was reached."
    )
    falling: Any = SimpleNamespace(withheld=None, iops=(*rates[:-1], 2_000.0), fills=fills)
    (only,) = saturation_in_short("RND 4KiB 0/100", falling)
    assert "in the last sample, 20 % of it and still slowing (-20.0 % over the last drive fill); below half" in only
    dipped: Any = SimpleNamespace(withheld=None, iops=(*rates[:20], 2_000.0, *rates[21:]), fills=fills)
    _, lowest, _ = saturation_in_short("RND 4KiB 0/100", dipped)
    assert lowest == "The lowest sample has 2,000.0 IOPS, at 2.10 drive fills; later ones have more."
    silent: Any = SimpleNamespace(withheld=None, iops=(*rates[:-1], 0.0), fills=fills)
    assert len(list(saturation_in_short("RND 4KiB 0/100", silent, 2_000.0))) == 1
    slow: Any = SimpleNamespace(withheld=None, iops=tuple(rates), fills=tuple(fill + 1 for fill in fills))
    first, *_ = saturation_in_short("RND 4KiB 0/100", slow)
    assert "10,000.0 IOPS in the first sample (1.10 drive fills at its end), 2,500.0" in first
    minute: Any = SimpleNamespace(sample_ns=60 * SECOND_NS)
    assert list(coarse_samples(minute, result)) == []
    few: Any = SimpleNamespace(withheld=None, fills=(1.34, 2.49, 3.4, 4.0))
    (coarse,) = coarse_samples(minute, few)
    assert coarse.startswith("4 samples of 1 min, 1.00 drive fills each: what the drive does within a sample is in no")
    withheld: Any = SimpleNamespace(withheld="an I/O error", iops=tuple(rates), fills=fills)
    assert list(saturation_in_short("RND 4KiB 0/100", withheld)) == []


def test_a_grid_names_the_fewest_outstanding_that_are_enough() -> None:
    def cell(threads: int, depth: int, rate: int, mean: float) -> SimpleNamespace:
        demand = Demand(thread_count=threads, queue_depth=depth)
        return SimpleNamespace(demand=demand, iops=Fraction(rate), latency_ms_mean=Fraction(mean))

    cells = (cell(32, 32, 2_690, 385.0), cell(2, 1, 2_634, 0.759), cell(1, 1, 2_434, 0.411), cell(4, 8, 2_701, 11.0))
    (said,) = demand_in_short(SimpleNamespace(label="OLTP"), SimpleNamespace(cells=cells))  # type: ignore[arg-type]
    assert "95 % of the most IOPS of all 4 demands (2,701.0) are reached with 2 I/Os outstanding (" in said
    assert said.endswith(", 0.759 ms on average); 1,024 give 1.00 times the most, 385.000 ms on average.")


def test_a_loop_says_how_reads_writes_and_mixes_compare() -> None:
    matrix = {Cell(read_pct=share, transfer_bytes=4 * KIB): rate for share, rate in ((100, 30e3), (0, 3e3), (65, 9e3))}
    matrix |= {Cell(read_pct=100, transfer_bytes=8 * KIB): 20e3}
    test = synthetic_test()
    said = list(loop_in_short(test, replace(loop_result(test), matrix=matrix)))
    assert said[0] == "RND 4KiB: reads give 10.0 times the IOPS of writes."
    assert said[1] == (
        "RND 4KiB 65/35: 9,000.0 IOPS (7,201.3 to 7,902.8 in the rounds), +24 % against the 7,228.9 that it "
        "would have if its reads and writes took as long as alone."
    )
    assert said[2] == "Reads reach 95 % of their highest throughput (163.8 MB/s) from 8KiB on."
    assert len(said) == 3


@pytest.mark.parametrize(
    ("taken", "cut"),
    [
        ((10_000.0, 20_000.0), ""),
        ((9_900.0, 20_000.0), "; a full queue at their IOPS takes 10 s and 20 s"),
    ],
)
def test_times_of_a_long_queue_are_held_against_a_full_one(
    monkeypatch: pytest.MonkeyPatch, taken: tuple[float, float], cut: str
) -> None:
    cells = [Cell(read_pct=share, transfer_bytes=1024 * KIB) for share in (100, 0)]
    times = {cell: SimpleNamespace(latency_ms_mean=time) for cell, time in zip(cells, taken, strict=True)}
    monkeypatch.setattr("assay.procedures.loop.in_short.window_times", lambda *_: times)
    # 1,000 outstanding at 100 and 50 IOPS of 1 MiB.
    matrix = {cell: rate * 1024 * KIB / 1e6 for cell, rate in zip(cells, (100, 50), strict=True)}
    test: Any = SimpleNamespace(settings=SimpleNamespace(demand=Demand(thread_count=10, queue_depth=100)))
    (line,) = _waiting(test, SimpleNamespace(matrix=matrix), 1024 * KIB)  # type: ignore[arg-type]
    read, write = (f"{time / 1000:g} s" for time in taken)
    told = line.removesuffix(".").removesuffix(" (a time below that lacks the I/Os outstanding at the end of a round)")
    assert told == f"With 1,000 outstanding a read takes {read} on average, a write {write}, waiting included{cut}"


def test_a_tail_is_told_as_far_as_it_lies_above_the_average() -> None:
    assert _tail("99.99 %", 0.120, 0.120, 0.121) == "none takes longer than 0.121 ms"
    assert _tail("99.99 %", 0.123, 0.120, None) == "99.99 % end within 0.123 ms, 2.5 % above it"
    assert _tail("99.99 %", 5.951, 0.310, 6.0) == "99.99 % end within 5.951 ms, 19.2 times the average"
    assert _tail("99.99 %", 0.121, 0.120, 9.6) == (
        "99.99 % end within 0.121 ms, 0.8 % above it, the slowest takes 9.600 ms, 80.0 times the average"
    )


def test_a_loop_says_how_far_the_rounds_before_its_window_lay_from_it() -> None:
    test = synthetic_test()
    result = loop_result(test)
    window = headline_window(result)
    assert window is not None
    tracked = Cell(read_pct=0, transfer_bytes=4 * KIB)
    later = replace(window, rounds=tuple(number + 2 for number in window.rounds))
    values = (6_000.0, 2_000.0, *result.by_round[tracked])
    moved = replace(
        result, window=later, rounds=tuple(range(1, 8)), by_round={**result.by_round, tracked: values},
        matrix={tracked: 4_000.0},
    )  # fmt: skip
    assert next(loop_in_short(test, moved)) == (
        "Before the window, in rounds 1-2, RND 4KiB 0/100 had 2,000.0 to 6,000.0 IOPS, "
        "50 to 150 % of its average in it."
    )
    near = replace(moved, by_round={**result.by_round, tracked: (4_100.0, 3_900.0, *result.by_round[tracked])})
    assert list(loop_in_short(test, near)) == []


def test_a_mix_above_reads_and_writes_in_every_round_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    test = synthetic_test()
    result, settings = loop_result(test), test.settings_as(LoopSettings)
    tracked = settings.tracking[0]
    above, alone = (
        replace(cell_spreads(result, settings)[tracked], least=at, greatest=at) for at in (34_187.3, 33_333.3)
    )
    reads, mixed = (Cell(read_pct=share, transfer_bytes=4 * KIB) for share in (100, 95))
    found = replace(result, matrix={reads: 33_333.3, mixed: 34_187.3})
    monkeypatch.setattr("assay.procedures.loop.in_short.cell_spreads", lambda *_: {reads: alone, mixed: above})
    assert list(_mix_above(test, found)) == [
        "RND 4KiB 95/5: 34,187.3 IOPS, +2.6 % against the 33,333.3 of 100/0, and each of its rounds above all of those."
    ]
    monkeypatch.setattr("assay.procedures.loop.in_short.cell_spreads", lambda *_: {reads: alone, mixed: alone})
    assert list(_mix_above(test, found)) == []


def studied(**variants: dict[str, float]) -> list[Any]:
    return [
        SimpleNamespace(label=label.replace("_", " "), changes=(), stability=(), proposal=None, stages=[
            SimpleNamespace(label=at, settled=SimpleNamespace(iops=rate, mb_per_s=rate), second_iops=())
            for at, rate in stages.items()
        ])
        for label, stages in variants.items()
    ]  # fmt: skip


def said_of_study(variants: list[Any], withheld: str | None = None) -> list[str]:
    settings: Any = SimpleNamespace(recovered_share=0.95)
    result: Any = SimpleNamespace(variants=variants, withheld=withheld)
    return list(study_in_short(settings, result))


def test_a_study_names_the_variants_that_give_most_and_the_one_that_gives_least() -> None:
    variants = studied(AR_100={"W": 2_906.0}, AR_50={"W": 25_915.4}, AR_10={"W": 56_678.6}, AR_5={"W": 56_600.0})
    (said,) = said_of_study(variants)
    assert said == (
        "AR 10, AR 5: most IOPS (56,678.6, within 1 % of each other), 19.5 times those of AR 100 (2,906.0); AR 50 8.92 "
        "times."
    )
    assert said_of_study(variants, "an I/O error") == []
    alike = studied(on={"W": 1_000.0}, off={"W": 995.0})
    assert said_of_study(alike) == ["all 2 within 1 %, 995.0 to 1,000.0 IOPS."]


def test_a_study_of_several_stages_lays_those_of_each_variant_side_by_side() -> None:
    variants = studied(writes={"offset 0": 4_000.0, "offset 512": 2_000.0}, reads={"offset 4096": 9_000.0})
    assert said_of_study(variants) == [
        "writes: offset 0: most IOPS (4,000.0), 2.00 times those of offset 512 (2,000.0)."
    ]


def test_a_study_says_what_its_reading_found() -> None:
    (one,) = studied(AR_100={"SEQ": 1.0})
    change = Change(
        label="SEQ 128KiB W", number=3, before=172.5, after=16.8, drop_share=0.9026, lowest_share=0.09,
        recovery_minutes=None,
    )  # fmt: skip
    one.changes = (change,)
    assert said_of_study([one]) == [
        "AR 100: SEQ 128KiB W goes from 172.5 to 16.8 MB/s (-90 %) and does not return to 95 % of the first."
    ]
    one.changes = ()
    one.stability = (
        Stability(count=120, median=100.0, score=0.8, variation=0.2, worst=50.0, worst_second=5, latency_ms_max=None),
    )
    seconds = "100.0 IOPS in the median of 120 seconds; 80 % of them lie within 10 % of it; the worst has 50 % of it."
    assert said_of_study([one]) == [f"AR 100: {seconds}", "AR 100: 1.0 MB/s on average."]
    one.stages[0].second_iops = (10.0,) * 30 + (11.0,) * 10
    drift = "AR 100: 1.0 MB/s on average; the last quarter of its seconds moves 10.0 % more than the first."
    assert said_of_study([one])[1] == drift
    one.stability = (replace(one.stability[0], median=11.0, score=None),)
    assert said_of_study([one])[0] == (
        "AR 100: 11.0 IOPS in the median of 120 seconds, too few to judge seconds by (rule: 100)."
    )
    one.stability = ()
    demand = Demand(thread_count=2, queue_depth=4)
    one.proposal = Proposal(demand=demand, iops=96.0, latency_ms_mean=0.5, highest=100.0, share=0.96)
    assert said_of_study([one]) == [
        "AR 100: 96 % of the most IOPS (100.0) are reached with TC 2 x QD 4, 0.500 ms on average."
    ]


def test_a_maximum_far_above_the_tail_is_told_with_it() -> None:
    assert _slowest(6.257, 0.157, 0.156) == ", the slowest takes 6.257 ms, 40.1 times the average"
    assert _slowest(0.160, 0.157, 0.156) == ""
    assert _slowest(None, 0.157, 0.156) == ""
