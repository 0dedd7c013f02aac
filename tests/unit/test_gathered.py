"""Findings that repeat are one row for people, with every place and the span of their figures."""

from __future__ import annotations

import pytest
from assay.report.gathered import Found, gathered, joined_names, ranged


def found(where: str, what: str, kind: str = "host") -> Found:
    return Found(test="IOPS", kind=kind, where=where, what=what)


def test_a_finding_of_many_rounds_is_one_row_with_its_rounds_and_the_span_of_its_figures() -> None:
    listed = [found(f"round {number}", f"the host stalled for {1000 + number:,} ms") for number in (2, 3, 4, 9)]
    (row,) = gathered(listed)
    assert (row.where, row.count) == ("rounds 2-4, 9", 4)
    assert row.what == "the host stalled for 1,002 to 1,009 ms"


def test_what_differs_in_more_than_figures_stays_apart_and_no_place_is_lost() -> None:
    listed = [
        found("round 1", "stalled for 3 ms"),
        found("round 2", "runs late by 3 ms"),
        found("8KiB 0/100", "1 to 2 (20 %)", "moved"),
        found("4KiB 0/100", "1 to 2 (20 %)", "moved"),
        found("round 5", "reset, 32 commands", "void"),
        found("round 6", "reset, 31 commands", "void"),
    ]
    rows = gathered(listed)
    assert len(rows) == sum(row.count for row in rows) == len(listed)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["round 2"], "round 2"),
        (["round 2", "round 3", "group A", "round 7"], "rounds 2-3, 7; group A"),
        (["", ""], ""),
    ],
)
def test_places_are_named_in_few_words(names: list[str], shown: str) -> None:
    assert joined_names(names) == shown


def test_equal_texts_stay_as_they_are() -> None:
    assert ranged(["99.9 % within 1.2 ms"] * 3) == "99.9 % within 1.2 ms"
