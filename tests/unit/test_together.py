"""What the tests of a run say together, and under which conditions each measured it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from assay.pages.headline import Headline
from assay.pages.rate import Rate
from assay.report.together import together
from assay.spec.units import KIB
from report_run import synthetic_test


def read(outstanding: int, *values: float, order: str = "RND", size: int = 4, side: str = "R") -> Rate:
    return Rate(order=order, side=side, transfer_bytes=size * KIB, outstanding=outstanding, values=values)


def claimed(value: float) -> tuple[Headline, ...]:
    return (Headline(item="RND 4KiB W", unit="IOPS", value=value, basis="", claim="rnd_4k_write_iops"),)


def told(
    *rates: Rate,
    numbers: tuple[Headline, ...] = (),
    independent: str = "2X SEQ/128KiB",
    segments: int | None = None,
    name: str = "iops",
) -> Any:
    test = synthetic_test()
    return SimpleNamespace(
        label=name.upper(),
        test=replace(test, settings=replace(test.settings, test=name, segment_count=segments)),
        facts=SimpleNamespace(independent=independent, test_range="100 %"),
        rates=lambda: rates,
        headlines=lambda: numbers,
    )


def said(*tests: Any) -> list[str]:
    return list(together(tests))


def test_more_outstanding_are_told_with_what_they_bring() -> None:
    assert said(told(read(1, 8_333.0), name="lat"), told(read(8, 33_332.0))) == [
        "RND 4KiB, 8 outstanding against 1: R 4.00 times the IOPS (IOPS 33,332.0, LAT 8,333.0)."
    ]
    sides = [told(read(depth, 100.0), read(depth, rate, side="W")) for depth, rate in ((1, 100.0), (8, 150.0))]
    (both,) = said(*sides)
    assert both == (
        "RND 4KiB, 8 outstanding against 1: R no more IOPS beyond the spread of the rounds (IOPS 100.0, IOPS 100.0), "
        "W 1.50 times the IOPS (IOPS 150.0, IOPS 100.0)."
    )
    assert said(told(read(8, 33_332.0)), told(read(8, 33_332.0))) == []


@pytest.mark.parametrize(("rounds", "printed"), [((90.0, 101.0), "no more IOPS beyond"), ((90.0, 99.0), "0.90 times")])
def test_what_lies_within_the_rounds_is_no_difference(rounds: tuple[float, ...], printed: str) -> None:
    (line,) = said(told(read(1, 100.0, 110.0)), told(read(8, *rounds)))
    assert f"8 outstanding against 1: R {printed}" in line


def test_the_order_of_accesses_is_told_where_it_changes_their_throughput() -> None:
    random, sequential = read(8, 13.0, size=1024), read(1024, 91.0, order="SEQ", size=1024)
    (line,) = said(told(random), told(sequential, name="tp-1024", segments=2048))
    assert line == (
        "1024KiB R: SEQ with 1,024 outstanding moves 7.0 times the MB/s of RND with 8 (TP-1024 95.4, IOPS 13.6; "
        "active range 100 % in 2,048 segments against 100 %)."
    )
    assert said(told(random), told(replace(sequential, values=(19.0,)))) == []


def test_one_claim_by_two_tests_names_every_condition_in_which_they_differ() -> None:
    two = told(numbers=claimed(110.0))
    (line,) = said(told(numbers=claimed(100.0)), two)
    assert line.endswith("110.0 IOPS with 8 outstanding (+10.0 %).")
    (line,) = said(told(numbers=claimed(100.0), independent="None", segments=2048), two)
    assert line.endswith(
        "(+10.0 %; preconditioning none against 2X SEQ/128KiB, active range 100 % in 2,048 segments against 100 %)."
    )
