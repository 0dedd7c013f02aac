"""A run as a workbook: its tests as blocks, and what it was run on, from the records of the run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.procedures.conformity_label import conformity_label, deviations
from assay.procedures.run_findings import gathered_data
from assay.report.annex.level import level_label
from assay.report.formats.workbook.book import Book
from assay.report.formats.workbook.results import Block
from assay.summary.pages.header import model_label
from assay.summary.table import UNIT, Column, table_of
from assay.summary.verdict import verdict_text
from assay.words.printed import demand_label, paragraph, printable, utc, utc_datetime, words
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.findings import Found
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure
    from assay.summary.table import Declared, Raw, ResultTable

_QUOTED: Declared[Measure] = (
    (Column("number", "Key result", role="key"), lambda measure: measure.printed),
    (Column("value", "Value"), lambda measure: None if measure.value is None else float(measure.value)),
    (UNIT, lambda measure: measure.unit),
    (Column("least", "Least round"), lambda measure: float(min(measure.rounds)) if measure.rounds else None),
    (Column("greatest", "Greatest round"), lambda measure: float(max(measure.rounds)) if measure.rounds else None),
    (Column("basis", "From"), lambda measure: measure.basis),
    (Column("bound", "Host's part"), lambda measure: measure.bound),
    (Column("mark", "Host"), lambda measure: measure.mark),
)


class _Fact(NamedTuple):
    part: str
    name: str
    value: Raw


_FACTS: Declared[_Fact] = (
    (Column("part", "Part", role="key"), lambda fact: fact.part),
    (Column("fact", "Fact", role="key"), lambda fact: fact.name),
    (Column("value", "Value"), lambda fact: fact.value),
)


def run_book(
    run: StoredRun,
    tests: Sequence[tuple[TestRecord, Sequence[ResultTable]]],
    tables: Sequence[ResultTable],
    found: Sequence[Found],
) -> Book:
    """The workbook of a run. tests : each with its tables. tables : those of the whole run. found : in it."""
    of_run = Block("All tests", (), tuple(tables), gathered_data(found))
    reports = [one for one, _ in tests]
    return Book(
        title=f"{model_label(run)} - results",
        label=conformity_label(run),
        footer=f"{printable(run.platform.tool)} {printable(run.platform.tool_version)} - run {printable(run.run_id)}",
        date=utc_datetime(run.report_date_ns),
        blocks=(*(_block(one, found) for one, found in tests), of_run),
        facts=table_of("run", "Run", _FACTS, _facts(run, reports)),
    )


def _block(test_record: TestRecord, tables: Sequence[ResultTable]) -> Block:
    quoted = (measure for measure in test_record.measures if measure.quoted)
    key_results = table_of("key_results", "Key results", _QUOTED, quoted, section="results")
    return Block(test_record.name.upper(), tuple(_lines(test_record)), tuple(tables), key_results)


def _lines(test_record: TestRecord) -> Iterator[tuple[str, str]]:
    """What was asked of the drive, how the test came out, and what a reader must know of it."""
    yield "Verdict", verdict_text(test_record.verdict)
    yield "Demand", demand_label(test_record.test.settings.demand)
    yield "Test", paragraph(test_record.outline)
    if test_record.banner:
        yield "Warning", test_record.banner
    yield from (("Remark", text(line)) for line in test_record.remarks)


def _facts(run: StoredRun, tests: Iterable[TestRecord]) -> Iterator[_Fact]:
    yield _Fact("Run", "run", printable(run.run_id))
    yield _Fact("Run", "conformity", conformity_label(run))
    yield _Fact("Run", "level", level_label(run))
    yield _Fact("Run", "started", utc(run.started_wall_ns))
    yield from (_Fact("Run", words(name), paragraph(said)) for name, said in run.description.items())
    yield from (
        _Fact("Deviation", str(number), paragraph(deviation)) for number, deviation in enumerate(deviations(run), 1)
    )
    yield from _values("Drive", asdict(run.identity))
    yield from _values("Test system", asdict(run.platform))
    yield from _values("I/O", run.engine)
    for test in tests:
        yield from _values(test.name.upper(), asdict(test.test.settings))


def _values(part: str, facts: Mapping[str, Any]) -> Iterator[_Fact]:
    """Those of a record that are one value."""
    for name, value in facts.items():
        if isinstance(value, bool | int | float):
            yield _Fact(part, words(name), value)
        elif isinstance(value, str) and value:
            yield _Fact(part, words(name), paragraph(value))
