"""The numbers that people quote in tables: rates below each other, the response times of a demand in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.test_page.claims import baseline_table, claims_table
from assay.summary.pages.model import Table, with_values
from assay.words.printed import NOT_AVAILABLE, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.pages.headline import Headline
    from assay.summary.pages.test_report import TestReport

_NUMBERS = ("Test", "Figure", "Value", "Unit", "Least - greatest", "From")
_ALWAYS = ("Test", "Figure", "Value", "Unit", "From")
_SPREAD = "Least - greatest"
RESPONSE_TIMES = "Response times (ms)"
_ALL_IOS = "Percentiles and maxima are of all I/Os of the rounds; n/a where fewer than ten I/Os lie beyond."


def headline_tables(run: StoredRun, tests: Sequence[TestReport]) -> tuple[Table, ...]:
    """The numbers that people quote, none where no test offers any, and what the data sheet claims of them.

    No column has no value in any row. A mean response time that belongs to the number before it stands in its row.
    Worked: a run of write saturation, IOPS and latency -> one table of six numbers, and one row for the reads and one
    for the writes of the latency test.
    """
    rows = tuple(row for test in tests for row in _numbers(test))
    table = Table(caption="The numbers that people quote", columns=_NUMBERS, rows=rows, merged=("Test", "From"))
    numbers = (with_values(table, kept=_ALWAYS),) if rows else ()
    return (*numbers, *_times_tables(tests), *claims_table(run, tests), *baseline_table(run, tests))


def _numbers(test_report: TestReport) -> Iterator[tuple[str, ...]]:
    for one, waited in with_mean_time(test_report.headlines()):
        yield test_report.label, one.item, one.text, one.unit, one.spread, f"{waited}{paragraph(one.basis)}"


def with_mean_time(headlines: Sequence[Headline]) -> Iterator[tuple[Headline, str]]:
    """The numbers that are no response times, each with the mean response time that belongs to it, in words.

    Worked: 2,624.8 IOPS, then 1.524 ms of it -> ``2,624.8`` with ``"1.524 ms on average "``.
    """
    times = {headline.of: headline for headline in headlines if headline.of}
    for one in headlines:
        # A ratio without one of its numbers would say once more that this is missing.
        if one.of or one.part or (one.unit == "x" and one.value is None):
            continue
        time = times.get(one.item)
        yield one, f"{time.text} ms on average " if time and time.value is not None else ""


def _times_tables(tests: Sequence[TestReport]) -> tuple[Table, ...]:
    """Response times of one demand in a row: average, percentiles, maximum."""
    tables = [(test.label, by_subject(test.headlines())) for test in tests]
    parts = tuple(dict.fromkeys(part for _, subjects in tables for times in subjects.values() for part in times))
    if not parts:
        return ()
    first, *others = (f"{part[:1].upper()}{part[1:]}" for part in parts)
    rows = tuple(
        (name, subject, *_of_times(times, parts)) for name, subjects in tables for subject, times in subjects.items()
    )
    columns = ("Test", "Figure", first, _SPREAD, *others)
    notes = tuple(dict.fromkeys(f"{name}: {_basis(subjects)}." for name, subjects in tables if subjects))
    return (Table(caption=RESPONSE_TIMES, columns=columns, rows=rows, merged=("Test",), notes=(*notes, _ALL_IOS)),)


def _of_times(times: dict[str, Headline], parts: Sequence[str]) -> Iterator[str]:
    first = times[parts[0]]
    yield from (first.text, first.spread)
    yield from (times[part].text if part in times else NOT_AVAILABLE for part in parts[1:])


def _basis(subjects: dict[str, dict[str, Headline]]) -> str:
    """What the first numbers come from, which those of one test have in common."""
    return paragraph(next(iter(next(iter(subjects.values())).values())).basis)


def by_subject(headlines: Sequence[Headline]) -> dict[str, dict[str, Headline]]:
    """The response times of each demand, by what part of them each is. Worked: ``average`` and ``99.9 %`` of one."""
    subjects: dict[str, dict[str, Headline]] = {}
    for headline in headlines:
        if headline.part:
            subjects.setdefault(headline.item.removesuffix(f", {headline.part}"), {})[headline.part] = headline
    return subjects
