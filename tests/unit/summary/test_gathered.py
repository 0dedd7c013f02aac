"""Findings that repeat are one row for people, with every place and the range of their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.summary.findings import Found, gathered
from assay.words.coded import NOWHERE, Coded, Place, coded, joined_places

if TYPE_CHECKING:
    from assay.results.finding import Level

MS = 10**6


def stalled(number: int, *late_ms: int, level: Level = "warn") -> Found:
    more = {"count": len(late_ms), "in_all_ns": sum(late_ms) * MS} if late_ms[1:] else {}
    found = (coded("host-stalled", late_ns=late_ms[0] * MS, **more),)
    return Found(test="IOPS", kind="host", where=Place("round", number), level=level, what=said(*found))


def said(*found: Coded) -> Coded:
    return coded("host-found", found=found, no_result=None)


def other(where: Place, what: Coded, kind: str = "host") -> Found:
    return Found(test="IOPS", kind=kind, where=where, what=what)


def test_a_finding_of_many_rounds_is_one_row_with_its_rounds_and_the_range_of_its_figures() -> None:
    (row,) = gathered([stalled(number, 1000 + number) for number in (2, 3, 4, 9)])
    assert (row.where, row.count) == ("rounds 2-4, 9", 4)
    assert row.what == "the host stalled for 1,002 to 1,009 ms"


def test_figures_that_are_printed_alike_are_printed_once() -> None:
    exact = [other(Place("round", 1), said(coded("host-stolen", share=share))) for share in (0.0101, 0.0102)]
    assert [row.what for row in gathered(exact)] == ["the hypervisor took 1.0% of the processors"]


def test_several_figures_of_a_finding_have_a_range_each() -> None:
    (row,) = gathered([stalled(1, 30, 2), stalled(2, 20, 3, 4)])
    assert row.what == "the host stalled for 20 to 30 ms, 2 to 3 times 27 to 32 ms in all"


def test_what_differs_in_more_than_figures_stays_apart_and_no_place_is_lost() -> None:
    listed = [
        stalled(1, 3),
        stalled(2, 3, 4),
        stalled(3, 1500, level="invalid"),
        other(Place("round", 4), said(coded("swapped", count=3))),
        other(Place("8KiB 0/100"), coded("reason", reason="1 to 2 (20 %)"), "moved"),
        other(Place("4KiB 0/100"), coded("reason", reason="1 to 2 (20 %)"), "moved"),
        other(Place("round", 5), coded("gate-says", event="reset, 32 commands"), "void"),
        other(Place("round", 6), coded("gate-says", event="reset, 31 commands"), "void"),
    ]
    rows = gathered(listed)
    assert len(rows) == sum(row.count for row in rows) == len(listed)


ROUNDS = tuple(Place("round", number) for number in (2, 3, 7))


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        (ROUNDS[:1], "round 2"),
        ((*ROUNDS[:2], Place("group A"), ROUNDS[2]), "rounds 2-3, 7; group A"),
        ((Place("samples 1 to 31"), Place("samples 32 to 62")), "samples 1 to 31; samples 32 to 62"),
        ((NOWHERE, NOWHERE), ""),
    ],
)
def test_places_are_named_in_few_words(places: tuple[Place, ...], shown: str) -> None:
    assert joined_places(places) == shown
