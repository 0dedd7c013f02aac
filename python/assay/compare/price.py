"""What drives cost, and their numbers per unit of money."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.spec.units import count_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.compare.numbers import Number

_PRICES = re.compile(r"\s*(\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*)\s*([^\W\d_]{1,3}|[$\u20ac\u00a3\u00a5])\s*")
_OPTION = "--prices"
_REMEDY = "name amounts in the order of the runs, then the currency: --prices '89,119.90 EUR'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a drive costs. amount : above 0. currency : as printed."""

    amount: float
    currency: str

    @property
    def text(self) -> str:
        """As printed. Worked: 119.9 of EUR -> ``119.90 EUR``."""
        return f"{self.amount:,.2f} {self.currency}"


def read_prices(text: str, count: int) -> list[Price]:
    """The prices of as many runs. Worked: ``89,119.90 EUR`` of two -> 89 and 119.9 of EUR.

    Raises UsageError where the text is none, a price is 0, or there is not one for each run.
    """
    match = _PRICES.fullmatch(text)
    if not match:
        raise UsageError(_OPTION, f"{text!r} is no list of prices", _REMEDY)
    amounts = [float(part) for part in match[1].split(",")]
    if len(amounts) != count:
        raise UsageError(_OPTION, f"has {count_label(len(amounts), 'price')} for {count_label(count, 'run')}", _REMEDY)
    if not all(amounts):
        raise UsageError(_OPTION, "has a price of 0", _REMEDY)
    return [Price(amount=amount, currency=match[2]) for amount in amounts]


def priced(numbers: Iterable[Number], price: Price) -> Iterator[Number]:
    """The quoted IOPS per unit of money, as numbers of their own. Worked: 33,333 IOPS of 89 EUR -> 374.5."""
    for number in numbers:
        if number.name.quoted and number.name.unit == "IOPS" and number.name.better == "higher":
            name = replace(
                number.name,
                name=f"{number.name.name}_per_price",
                label=f"{number.name.label} per {price.currency}",
                unit=f"IOPS per {price.currency}",
                per=price.currency,
            )
            value = None if number.value is None else number.value / price.amount
            yield replace(number, name=name, value=value, rounds=tuple(each / price.amount for each in number.rounds))
