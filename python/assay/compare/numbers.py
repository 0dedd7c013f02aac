"""The numbers of tests as a comparison knows them: how each is named, whether it counts, and how much money buys."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assay.errors import UsageError
from assay.spec.units import KIB, count_label
from assay.summary.measures import key_of_unit, measure_words, moved_share
from assay.words.coded import Subject
from assay.words.outcomes import ending_label, is_cut_short
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.summary.record import Better, Key, Measure, Stat, TestSummary
    from assay.words.coded import Order

State = Literal["ok", "not settled", "not steady", "withheld", "cut short", "no value", "not run"]
_ORDERS: dict[str, Order] = {"random": "RND", "sequential": "SEQ"}
_LOOP_CELL = {"block_kib", "read_pct"}
COUNTED: frozenset[State] = frozenset({"ok", "not settled"})
"""Those that are ranked, compared and gated. ``not settled`` : a steady state that was not required, as in a quick
look, was not reached."""

WITHOUT_RESULT: frozenset[State] = frozenset({"withheld", "cut short", "not run"})
"""Of a test as a whole: nothing of it is shown but that."""
NOT_RUN: tuple[State, str] = ("not run", "not run")
_PRICES = re.compile(r"\s*(\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*)\s*([^\W\d_]{1,3}|[$\u20ac\u00a3\u00a5])\s*")
_OPTION = "--prices"
_REMEDY = "name amounts in the order of the runs, then the currency: --prices '89,119.90 EUR'"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberName:
    """What tells a number apart in every run.

    test : the test and its place among those of its name, such as ``iops-1``. shown : the test as printed.
    name : its key. label : as printed. cell_label : of the cell as printed. stat : what it is of many.
    quoted : it is one of the few that people quote of a drive. about : the accesses of its cell, None where it is of
    no cell of a test loop. per : the currency of what it is divided by; empty for none.
    """

    test: str
    shown: str
    cell: Key
    name: str
    label: str
    cell_label: str
    unit: str
    better: Better
    stat: Stat
    quoted: bool
    about: Subject | None = None
    per: str = ""

    @property
    def key(self) -> tuple[str, Key, str]:
        """Equal for the same number of two runs."""
        return self.test, self.cell, self.name

    @property
    def text(self) -> str:
        """The number in words. Worked: ``IOPS: RND 4KiB R (IOPS)``."""
        return f"{self.shown}: {self.label}{self.what} ({self.unit})"

    @property
    def names(self) -> frozenset[str]:
        """The keys that patterns may have: its own, and of a number that people quote that of its unit."""
        return frozenset({self.name, *((key_of_unit(self.unit),) if self.quoted else ())})

    @property
    def kind(self) -> Literal["average", "percentile", "maximum"]:
        """What it is of many I/Os; a single value is an average."""
        return self.stat if self.stat in {"percentile", "maximum"} else "average"

    @property
    def what(self) -> str:
        """What of its cell it is, behind the label; empty of a number that people quote, whose label says it."""
        return "" if self.quoted else f", {measure_words(self.name)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number of one run. state : whether it counts, with the reason where it does not.

    host_share : by which share the host may have moved it, where it is marked; else 0.
    """

    name: NumberName
    value: float | None
    rounds: tuple[float, ...]
    state: State
    reason: str = ""
    host_share: float = 0.0


def numbers_of(test: TestSummary) -> Iterator[Number]:
    """Every number of a test once: those that people quote, then those of its cells and response times."""
    state, reason = test_state(test)
    order = _ORDERS.get(test.conditions.get("access", ""))
    for measure in test.measures:
        result, why = (state, reason) if state != "ok" else _value_state(test, measure)
        value = None if measure.value is None else float(measure.value)
        rounds = tuple(map(float, measure.rounds))
        yield Number(
            name=_name(test, measure, order),
            value=value,
            rounds=rounds,
            state=result,
            reason=why,
            host_share=moved_share(measure),
        )


def _name(test: TestSummary, measure: Measure, order: Order | None) -> NumberName:
    return NumberName(
        test=test.prefix,
        shown=test.label,
        cell=measure.cell,
        name=measure.key,
        label=measure.printed,
        cell_label=measure.label,
        unit=measure.unit,
        better=measure.better,
        stat=measure.stat,
        quoted=measure.quoted,
        about=_about(order, dict(measure.cell)),
    )


def _about(order: Order | None, cell: dict[str, str | int | float]) -> Subject | None:
    """The accesses of a cell of a test loop. Worked: 4 KiB and 0 % reads of IOPS -> random 4 KiB writes."""
    if order is None or cell.keys() != _LOOP_CELL:
        return None
    return Subject(order=order, read_pct=int(cell["read_pct"]), size_bytes=round(float(cell["block_kib"]) * KIB))


def test_state(test: TestSummary) -> tuple[State, str]:
    """How a test as a whole came out, with the reason where none of its numbers counts.

    Worked: one that was interrupted -> ``cut short``, whether or not a number was begun.
    """
    if is_cut_short(test.verdict.ended):
        return "cut short", ending_label(test.verdict.ended)
    if test.withheld:
        return "withheld", text(test.withheld)
    return ("not steady", "steady state not reached") if test.verdict.missed else ("ok", "")


def _value_state(test: TestSummary, measure: Measure) -> tuple[State, str]:
    """A number of rounds that a verdict denies is not steady; one that is none has no value."""
    if measure.rounds and test.held is False:
        return ("not steady" if test.verdict.required else "not settled"), "steady state not reached"
    return ("no value", "n/a in its report") if measure.value is None else ("ok", "")


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
