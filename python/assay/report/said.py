"""What a report says of a test in sentences: what its numbers mean, and what was unusual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.headline import number_text
from assay.pages.label import host_label
from assay.pages.model import Table
from assay.pages.printed import one_decimal, outstanding_label, paragraph
from assay.report.claims import claims_text
from assay.report.findings import SEE_FINDINGS, checks_beyond
from assay.results import disturbed_count, missed_steady_state, void_places, withheld_reason
from assay.spec.units import count_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.finding import Checked
    from assay.pages.headline import Headline
    from assay.pages.test_report import TestReport

_NAMED = 3
_TWO = 2
_FOUND = "What was found"


def in_short_table(run: StoredRun, tests: Sequence[TestReport]) -> tuple[Table, ...]:
    """What the numbers of several tests say of the drive, none where no test says anything."""
    rows = tuple(("all", paragraph(line)) for line in run_in_short(run, tests))
    rows += tuple((name, line) for name, one in _named(tests) for line in map(paragraph, one.in_short()))
    return (_said("In short", "What the numbers say", rows),) if rows else ()


def run_in_short(run: StoredRun, tests: Sequence[TestReport]) -> tuple[str, ...]:
    """What the tests say together: how many claims are met, how two that measure one thing agree, what depth brings."""
    return (*claims_text(run, tests), *_twice_measured(tests), *_deeper(tests))


def _twice_measured(tests: Sequence[TestReport]) -> Iterator[str]:
    """What two tests give of that which a data sheet has one claim for; of one without a level, its last sample.

    Worked: 18,043.2 IOPS settled and 18,062.2 in the rounds -> ``"... 18,043.2 IOPS; ... 18,062.2 IOPS (+0.1 %)."``
    """
    found: dict[str, list[tuple[str, float]]] = {}
    for name, report in _named(tests):
        for one in () if missed_steady_state(report.test) else report.headlines():
            number = one.value or one.last
            if one.claim and number:
                found.setdefault(one.claim, []).append((f"{name} {_as_measured(one, number, report)}", number))
    for pair in found.values():
        if len(pair) == _TWO:
            (first, before), (second, behind) = pair
            yield f"Measured twice: {first}; {second} ({(behind / before - 1) * 100:+.1f} %)."


def _deeper(tests: Sequence[TestReport]) -> Iterator[str]:
    """What more outstanding I/Os bring, of accesses that two tests measured at different numbers of them.

    Worked: 33,332 IOPS with 8 and 8,333 with one -> ``"RND 4KiB R: 8 outstanding give 4.00 times the IOPS of 1"``
    """
    found: dict[str, dict[int, tuple[float, str]]] = {}
    for name, one in _named(tests):
        for label, outstanding, rate in () if missed_steady_state(one.test) else one.rates():
            found.setdefault(label, {})[outstanding] = rate, name
    for label, rates in found.items():
        fewest, most = min(rates), max(rates)
        (high, deep), (low, flat) = rates[most], rates[fewest]
        if fewest < most and low:
            times = f"{high / low:.2f}"
            both = f"{deep} {one_decimal(high)}, {flat} {one_decimal(low)}"
            yield f"{label}: {most:,} outstanding give {times} times the IOPS of {fewest:,} ({both})."


def _as_measured(one: Headline, number: float, report: TestReport) -> str:
    told = f"{number_text(number, one.unit)} {one.unit} with {outstanding_label(report.test.settings.demand)}"
    return (
        f"{one.item} {told}" if one.value else f"{one.item.partition(',')[0]}, not settled, {told} in the last sample"
    )


def unusual_table(tests: Sequence[TestReport], others: Iterable[tuple[str, str]]) -> Table:
    """What was unusual in several tests and, as ``others``, in their run."""
    rows = [(name, line) for name, one in _named(tests) for line in _of_test(one)]
    nothing = ("all", "Nothing: no round void, no result withheld, no cell that moved, no deviation.")
    return _said("What was unusual", "What happened", (*rows, *others) or (nothing,))


def found_table(test_report: TestReport) -> tuple[Table, ...]:
    """Both of one test, for its summary."""
    rows = [("In short", paragraph(line)) for line in test_report.in_short()]
    rows += [("Unusual", line) for line in _of_test(test_report)]
    return (Table(caption=_FOUND, columns=(_FOUND, ""), rows=tuple(rows), merged=(_FOUND,)),) if rows else ()


def _named(tests: Sequence[TestReport]) -> Iterator[tuple[str, TestReport]]:
    return ((one.test.settings.test.upper(), one) for one in tests)


def _said(caption: str, column: str, rows: tuple[tuple[str, str], ...]) -> Table:
    return Table(caption=caption, columns=("Test", column), rows=rows, merged=("Test",))


def _of_test(test_report: TestReport) -> Iterator[str]:
    withheld = withheld_reason(test_report.test)
    if withheld:
        yield f"results withheld, {paragraph(withheld)}"
    yield from unusual(test_report)


def unusual(test_report: TestReport) -> Iterator[str]:
    """What a reader must know of a test beside whether its results are withheld: findings, void parts, the host."""
    test = test_report.test
    voids = void_places(test)
    yield from (one.reason for one in test_report.result.findings)
    yield from (f"{place} void, {paragraph(reason)}" for place, reason in voids[:_NAMED])
    if voids[_NAMED:]:
        yield f"{len(voids) - _NAMED} more void"
    yield from test_report.remarks()
    moved = len(test_report.moved_cells())
    if moved:
        cells = "1 cell that is not tracked" if moved == 1 else f"{moved} cells that are not tracked"
        where = f"; {test_report.moved_where()}" if test_report.moved_where() else ""
        yield f"{cells} moved by more than 20 % of the average in the window{where}; see {SEE_FINDINGS}"
    beyond = checks_beyond(test_report)
    if beyond:
        named = ", ".join(map(_check_text, beyond[:_NAMED])) + (", and others" if beyond[_NAMED:] else "")
        yield f"{count_label(len(beyond), 'check')} beyond the limit: {named}; see {SEE_FINDINGS}"
    disturbed = disturbed_count(test)
    if disturbed and disturbed[0]:
        yield f"the host disturbed {host_label(test)} measured parts; see {SEE_FINDINGS}"


def _check_text(found: Checked) -> str:
    """A check by its title, and in how many places. Worked: ``"Gaps between sequences (5 of 17)"``."""
    places = f" ({found.marked:,} of {found.judged:,})" if found.judged > 1 else ""
    return f"{found.check.title}{places}"
