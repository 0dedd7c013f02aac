"""The numbers of tests as a comparison knows them: which are averages, percentiles and maxima, and how one is named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.endings import ending_label, is_cut_short
from assay.results import missed_steady_state, withheld_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.pages.measure import Better, Key, Measure
    from assay.pages.test_report import TestReport

NumberKind = Literal["average", "percentile", "maximum"]
State = Literal["ok", "not steady", "withheld", "unfinished", "no value", "not run"]
"""Whether a number counts: only ``ok`` is ranked, compared and gated."""

_PERCENTILE = re.compile(r", \d+(\.\d+)? %$")
_NAMES = {"iops": "IOPS", "mb_per_s": "MB/s", "latency_ms": "response time"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberName:
    """What tells a number apart in every run.

    test : the test and its place among those of its name, such as ``iops-1``. shown : the test as printed.
    label : of the cell as printed. quoted : it is one of the few that people quote of a drive.
    """

    test: str
    shown: str
    cell: Key
    name: str
    label: str
    unit: str
    better: Better
    kind: NumberKind
    quoted: bool

    @property
    def key(self) -> tuple[str, Key, str]:
        """Equal for the same number of two runs."""
        return self.test, self.cell, self.name

    @property
    def text(self) -> str:
        """The number in words. Worked: ``IOPS: RND 4KiB R (IOPS)``."""
        name = "" if self.quoted else f", {printed_name(self.name)}"
        return f"{self.shown}: {self.label}{name} ({self.unit})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number of one run. state : whether it counts, with the reason where it does not."""

    name: NumberName
    value: float | None
    rounds: tuple[float, ...]
    state: State
    reason: str = ""


def numbers_of(test_report: TestReport) -> Iterator[Number]:
    """Every number of a test once: those that people quote, then those of its cells and response times."""
    state, reason = _test_state(test_report.test)
    for measure in test_report.numbers():
        name = _name(test_report, measure, quoted=measure.is_quoted)
        found, why = (state, reason) if state != "ok" else _value_state(test_report.test, measure)
        yield Number(name=name, value=measure.value, rounds=measure.rounds, state=found, reason=why)


def printed_name(name: str) -> str:
    """The name of a number in words. Worked: ``latency_ms_p99.9`` -> ``99.9 % response time``."""
    if name.startswith("latency_ms_p"):
        return f"{name.removeprefix('latency_ms_p')} % response time"
    known = {**_NAMES, "latency_ms_max": "maximum response time"}
    if name.startswith("latency_ms_mean"):
        return f"average response time{' of I/Os' * name.endswith('_of_ios')}"
    return known.get(name, name.replace("_", " "))


def _name(test_report: TestReport, measure: Measure, *, quoted: bool) -> NumberName:
    return NumberName(
        test=test_report.prefix,
        shown=test_report.label,
        cell=measure.cell,
        name=measure.name,
        label=measure.label,
        unit=measure.unit,
        better=measure.better,
        kind=_kind(measure),
        quoted=quoted,
    )


def _kind(measure: Measure) -> NumberKind:
    """What a number is of many I/Os. Worked: ``latency_ms_max`` -> ``maximum``."""
    if measure.name.endswith("_max"):
        return "maximum"
    if measure.name.startswith("latency_ms_p") or _PERCENTILE.search(measure.label):
        return "percentile"
    return "average"


def _test_state(test: StoredTest) -> tuple[State, str]:
    if is_cut_short(test.ended):
        return "unfinished", ending_label(test.ended)
    reason = withheld_reason(test)
    if reason:
        return "withheld", reason
    return ("not steady", "steady state not reached") if missed_steady_state(test) else ("ok", "")


def _value_state(test: StoredTest, measure: Measure) -> tuple[State, str]:
    """A number of rounds that a verdict denies is not steady; one that is none has no value."""
    if measure.rounds and test.verdict is not None and not test.verdict.reached:
        return "not steady", "steady state not reached"
    return ("no value", "n/a in its report") if measure.value is None else ("ok", "")
