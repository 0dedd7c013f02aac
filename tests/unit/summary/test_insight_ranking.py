"""Ranking of insights: floors, order, silence, merging, what leads; and that no word takes part in any of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest
from assay.summary.insights import (
    KINDS,
    Insight,
    KindName,
    harm,
    in_words,
    insight,
    is_raised,
    lead,
    level,
    magnitude,
    ordered,
    rank,
    said,
)
from assay.words import digits
from assay.words.coded import Subject, coded

if TYPE_CHECKING:
    from typing import Any

NEARS = (0.93, 1.0, 1.06)
"""How far from half and twice a floor a value is taken."""
WRITES = Subject(order="RND", read_pct=0, size_bytes=4096, depth=8)
FULL: dict[KindName, dict[str, Any]] = {
    "withheld": {"test": "IOPS", "reason": "41 I/O errors in the test", "share": 1.0},
    "unwritten-reads": {"share": 0.4},
    "host-interference": {"count": 2, "of": 5, "share": 0.4, "worst_ms": 12},
    "held-against-missed": {
        "failed": 2, "of": 9, "share": 2 / 9, "held": "limits", "worst": "p99", "measured": coded("time", value=4),
        "bound": coded("time", value=2), "undecided": None,
    },
    "stalls": {"count": 10, "longest_ms": 400, "share": 0.0133, "ratio": 900},
    "not-steady": {
        "rounds": 25, "worst": 0.31, "excursion": 0.31, "allowed": 0.2, "drift": None, "drift_allowed": 0.1,
    },
    "still-falling": {"kept": 0.16, "lost": 0.84, "per_fill": 0.25},
    "settled-fall": {"kept": 0.1605, "lost": 0.8395, "first": 24632, "settled": 3953},
    "tail": {"median_ms": 0.06, "share": 0.9, "slow_ms": 17.8, "ratio": 297, "slowest_ms": None},
    "mixed-penalty": {"writes": 0.05, "cost": 0.31},
    "transfer-penalty": {"times": 4.94, "other": 4096},
    "slow-recovery": {
        "before": Subject(order="RND", read_pct=0), "kept": 0.1313, "lost": 0.8687, "lasting_ms": 780_000,
        "recovered_ms": 780_000, "within_ms": None,
    },
    "uneven-seconds": {"near": 0.62, "uneven": 0.38, "band": 0.1, "worst": 0.52},
    "rate-missed": {"kept": 0.82, "lost": 0.18, "rate": 489.9},
    "setting-effect": {"best": "half trimmed", "worst": "no trim", "times": 6.55, "high": 18_900, "low": 2_886},
    "tests-disagree": {"first": "IOPS", "second": "WSAT", "apart": 0.4, "conditions": None},
    "unstable-cells": {"count": 5, "limit": 0.2, "only": 1, "worst": 0.66, "share": 0.1},
    "baseline-change": {"worse": 3, "of": 9, "better": None, "worst": 0.069, "name": "RND 4KiB R"},
    "limit": {"rate": 274.9, "link": 300, "share": 0.916, "size": 8192},
    "far-below": {"busy": 0.012},
    "saturates": {"depth": 8, "rate": 33_332, "gain": 4, "shallow": 1, "deepest": 256, "wait_ms": 7.68},
    "no-gain-by-depth": {"depth": 256, "shallow": 1},
    "sequential-gain": {"times": 7.2},
    "indistinct": {"names": ("Max", "Mid")},
    "idle-gain": {"idle_ms": 5_000, "gain": 0.049, "same_ms": 50_000},
    "idle-no-gain": {"longest_ms": 50_000, "least": -0.002, "most": 0.005},
    "rate-kept": {"count": 2, "kept": 0.999, "late_ms": 0.02, "stream": "reads", "rate": 93_323, "p99_ms": 0.149},
}  # fmt: skip
"""An insight of each kind that is raised."""
SENTENCES: dict[KindName, str] = {
    "withheld": "Results of IOPS are withheld: 41 I/O errors in the test.",
    "unwritten-reads": "40 % of the reads met blocks never written.",
    "host-interference": "Host interference in 2 of 5 measured parts, worst 12 ms.",
    "held-against-missed": "2 of 9 limits missed, worst p99: 4 ms for 2 ms.",
    "stalls": "Random 4 KiB writes at QD 8 stall: 10 times for up to 400 ms, 1.3 % of the time.",
    "not-steady": "Random 4 KiB writes at QD 8 did not get steady in 25 rounds: varied by 31 %, 20 % is allowed.",
    "still-falling": "Random 4 KiB writes at QD 8 drop to 16 % of fresh and still fall by 25 % per drive fill.",
    "settled-fall": "Sustained random 4 KiB writes at QD 8 keep 16 % of fresh speed (24.6k to 3.95k IOPS).",
    "tail": "Random 4 KiB writes at QD 8 wait: median 60 \N{MICRO SIGN}s, p90 17.8 ms (297x).",
    "mixed-penalty": "5 % writes cost 31 % of the IOPS of random 4 KiB writes at QD 8.",
    "transfer-penalty": "Random 4 KiB writes at QD 8 take 4.9x as long as those of 4 KiB.",
    "slow-recovery": "After random writes, random 4 KiB writes at QD 8 restart at 13 % and recover in 13 min.",
    "uneven-seconds": "Random 4 KiB writes at QD 8: only 62 % of seconds lie within 10 % of the median, "
    "the worst at 52 %.",
    "rate-missed": "Random 4 KiB writes at QD 8 kept 82 % of the target rate of 490 IOPS.",
    "setting-effect": "Half trimmed: 6.5x the IOPS of no trim (18.9k to 2.89k).",
    "tests-disagree": "IOPS and WSAT differ by 40 % in random 4 KiB writes at QD 8.",
    "unstable-cells": "5 untracked cells varied by more than 20 %, in round 1 only, most 66 %.",
    "baseline-change": "3 of 9 numbers worse than the baseline, most RND 4KiB R by 6.9 %.",
    "limit": "Random 4 KiB writes at QD 8 run at the link: 275 of 300 MB/s from 8 KiB up.",
    "far-below": "The drive was busy at most 1.2 % of the time.",
    "saturates": "Random 4 KiB writes at QD 8 saturate at QD 8 (33.3k IOPS, 4x QD 1); "
    "QD 256 only adds latency (7.68 ms).",
    "no-gain-by-depth": "Random 4 KiB writes at QD 8 gain nothing from QD 256 over QD 1.",
    "sequential-gain": "Random 4 KiB writes at QD 8 move 7.2x the MB/s of random ones.",
    "indistinct": "Max and Mid are indistinguishable: the drive is saturated.",
    "idle-gain": "5 s idle gains 4.9 %; up to 50 s idle gains nothing more.",
    "idle-no-gain": "Idle up to 50 s gains nothing (\N{MINUS SIGN}0.2 % to +0.5 %).",
    "rate-kept": "2 paced streams kept the target rate, at most 20 \N{MICRO SIGN}s late; "
    "reads reached 93.3k IOPS, p99 0.149 ms.",
}


def of(kind: KindName, test: str = "IOPS", **changed: Any) -> Insight:
    return replace(insight(kind, WRITES, **{**FULL[kind], **changed}), tests=(test,))


def test_every_kind_has_an_entry_an_example_and_a_sentence() -> None:
    assert len(KINDS) == 27
    assert set(get_args(KindName)) == set(KINDS) == set(FULL) == set(SENTENCES)
    assert {name: in_words(said(of(name))) for name in KINDS} == SENTENCES


@pytest.mark.parametrize("kind", KINDS)
def test_a_rank_is_the_class_and_a_magnitude_below_one(kind: KindName) -> None:
    one = of(kind)
    assert is_raised(one)
    assert 0 <= magnitude(one) < 1
    assert rank(one) == harm(one) + magnitude(one)


FLOORS = [(name, value, floor) for name, kind in KINDS.items() for value, floor in kind.least.items()]
CEILINGS = [(name, value, most) for name, kind in KINDS.items() for value, most in kind.most.items()]


@pytest.mark.parametrize("near", NEARS)
@pytest.mark.parametrize(("kind", "value", "floor"), FLOORS)
def test_nothing_is_raised_at_half_its_floor_and_everything_at_twice(
    kind: KindName, value: str, floor: float, near: float
) -> None:
    assert not is_raised(of(kind, **{value: floor / 2 * near}))
    assert is_raised(of(kind, **{value: floor * 2 * near}))
    assert is_raised(of(kind, **{value: floor}))


@pytest.mark.parametrize("near", NEARS)
@pytest.mark.parametrize(("kind", "value", "most"), CEILINGS)
def test_what_must_stay_below_a_value_is_raised_at_twice_the_distance_only(
    kind: KindName, value: str, most: float, near: float
) -> None:
    # Of a share that is kept the floor is on what is lost; of a busy share on the share itself.
    kept = value != "busy"
    raised, silent = (1 - (1 - most) * times * near if kept else most / times * near for times in (2, 0.5))
    assert is_raised(of(kind, **{value: raised}))
    assert not is_raised(of(kind, **{value: silent}))
    assert not is_raised(of(kind, **{value: most}))


def test_the_gravest_comes_first_whatever_the_order_they_were_found_in() -> None:
    found = [of(name, f"T{place}") for place, name in enumerate(KINDS) if name != "not-steady"]
    expected = ordered(found)
    assert [harm(one) for one in expected] == sorted((harm(one) for one in expected), reverse=True)
    for turned in (found[::-1], found[7:] + found[:7], found[1::2] + found[::2]):
        assert [one.kind for one in ordered(turned)] == [one.kind for one in expected]


def test_class_follows_the_values_where_it_must() -> None:
    assert harm(of("host-interference")) == 2
    assert harm(of("host-interference", count=5)) == 6
    assert harm(of("unstable-cells", share=0.5)) == 1
    assert harm(of("unstable-cells", share=0.5, only=None)) == 2
    assert harm(of("unstable-cells", share=0.1, only=None)) == 1


def test_a_test_that_is_not_steady_has_no_costs_and_no_facts() -> None:
    found = ordered([of("not-steady"), of("mixed-penalty"), of("far-below"), of("stalls"), of("tail", "WSAT")])
    assert [one.kind for one in found] == ["stalls", "not-steady", "tail"]


def test_one_of_a_kind_is_shown_and_names_the_others() -> None:
    reads = replace(of("tail", "WSAT", slow_ms=5), subject=Subject(read_pct=100))
    (one,) = ordered([reads, of("tail")])
    assert one.tests == ("IOPS", "WSAT")
    assert in_words(said(one)).endswith("p90 17.8 ms (297x); also reads (p90 5 ms).")


def test_a_strength_leads_where_nothing_is_worse_than_a_fact() -> None:
    good = coded("good-for", name="RND 4KiB R", value=coded("amount", value=33_333, unit="IOPS"), share=None)
    assert lead([], good) == good
    assert lead([of("far-below")], good) == good
    assert lead([of("tail"), of("far-below")], good) == said(of("tail"))
    assert lead([]) is None
    assert in_words(good) == "RND 4KiB R: 33.3k IOPS."


def test_no_word_changes_rank_order_class_or_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [of(name, f"T{place}") for place, name in enumerate(KINDS)]
    before = [(one.kind, rank(one), level(one), is_raised(one)) for one in ordered(found)]
    sentences = [in_words(said(one)) for one in ordered(found)]
    for name, kind in list(KINDS.items()):
        monkeypatch.setitem(KINDS, name, replace(kind, words=f"xyz {name}"))
    assert [(one.kind, rank(one), level(one), is_raised(one)) for one in ordered(found)] == before
    changed = [in_words(said(one)) for one in ordered(found)]
    assert not set(changed) & set(sentences)
    assert all(one.startswith("Xyz ") for one in changed)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (digits.span(0.06), "60 \N{MICRO SIGN}s"),
        (digits.span(0.09996), "0.1 ms"),
        (digits.span(2588), "2.59 s"),
        (digits.span(74_400), "74.4 s"),
        (digits.span(780_000), "13 min"),
        (digits.span(7_200_000), "2 h"),
        (digits.si(33_332), "33.3k"),
        (digits.si(999_900), "1M"),
        (digits.si(274.96), "275"),
        (digits.si(0), "0"),
        (digits.share(0.0491), "4.9 %"),
        (digits.share(0.0996), "10 %"),
        (digits.share(0.0002), "0.02 %"),
        (digits.times(9.96), "10x"),
        (digits.times(4.0), "4x"),
        (digits.nth(0.999), "p99.9"),
        (digits.block(1024 * 1024), "1 MiB"),
        (digits.block(512), "0.5 KiB"),
    ],
)
def test_digits(printed: str, expected: str) -> None:
    assert printed == expected
