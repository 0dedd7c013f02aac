"""Prices of drives, and IOPS per unit of money."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.compare.comparison import compare_runs
from assay.compare.numbers import Price, read_prices
from assay.errors import UsageError
from assay.report.comparison.tables import number_label, number_phrase, subject_table
from compared_runs import short_run, variant

if TYPE_CHECKING:
    from assay.engine.records import StoredRun


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return short_run(tmp_path_factory.mktemp("price") / "run", test="iops")


def test_prices_are_read_in_the_order_of_the_runs() -> None:
    assert read_prices("89,119.90 EUR", 2) == [Price(amount=89, currency="EUR"), Price(amount=119.9, currency="EUR")]
    assert read_prices("89\N{EURO SIGN}", 1)[0].text == "89.00 \N{EURO SIGN}"


@pytest.mark.parametrize(
    ("text", "reason"), [("89", "is no list"), ("0 EUR", "of 0"), ("1,2 EUR", "2 prices for 1 run")]
)
def test_prices_that_say_nothing_are_refused(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        read_prices(text, 1)


def test_a_drive_of_half_the_price_leads_per_unit_of_money(run: StoredRun) -> None:
    cheap = variant(run, 1, slower=0.2, price=Price(amount=50, currency="EUR"))
    dear = variant(run, 2, price=Price(amount=100, currency="EUR"))
    found = compare_runs([cheap, dear])
    rows = {number_label(one.name, one.name.unit): one for one in found.ranked}
    plain, per = rows["Random read 4 KiB (IOPS)"], rows["Random read 4 KiB (IOPS per EUR)"]
    assert (plain.ranked[0].subject.letter, per.ranked[0].subject.letter) == ("B", "A")
    assert per.sides[0].value == pytest.approx((plain.sides[0].value or 0) / 50)
    assert number_phrase(per.name) == "random 4 KiB reads per EUR"
    table = subject_table(found.subjects)
    assert [row[table.columns.index("GB per EUR")] for row in table.rows] == ["0.02", "0.01"]
    assert "Price" not in subject_table(compare_runs([variant(run, 1), variant(run, 2)]).subjects).columns
