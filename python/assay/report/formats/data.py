"""The numbers of a run as files: tables as CSV, and ``results.json``, which ``assay show --json`` prints as well.

One form for every kind of test: what a table, a measure or a verdict has is named here and nowhere else.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from assay.procedures.conformity import conformity_label
from assay.results.finding import facts
from assay.results.host import host_checks, sequence_host
from assay.results.measured import counted_sequences
from assay.results.reference import reference_checks
from assay.results.stall import void_reason
from assay.results.step import (
    effective_queue_depth,
    error_count,
    iops,
    issued_bytes,
    lead_in_latency_ns_max,
    max_latency_ns,
    mean_latency_ns,
    throughput,
    window_count,
)
from assay.summary.findings import break_texts
from assay.summary.forms import Facts
from assay.summary.insights import in_words
from assay.summary.record import Level, Mark, Stat, State, Window  # noqa: TC001 - pydantic reads them
from assay.summary.table import ERRORS, HOST, HOST_REASON, Column, table_of
from assay.summary.verdict import verdict_text
from assay.words.coded import Coded
from assay.words.text import text, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from assay.engine.records import StepRecord, StoredRun, StoredSequence, StoredTest
    from assay.results.finding import Finding
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure, RunSummary, Status, TestSummary
    from assay.summary.table import Declared, Raw, ResultTable, Words


class _Ran(NamedTuple):
    test: StoredTest
    sequence: StoredSequence
    counts: bool
    host: Finding

    @property
    def void(self) -> str | None:
        """What the drive did that takes it out of results."""
        accepted = self.sequence.on_void == "accept"
        return None if accepted else text_or_none(void_reason(self.sequence.steps, self.test.settings))


_SEQUENCE_COLUMNS: Declared[_Ran] = (
    (Column("sequence", "Sequence", role="key"), lambda ran: ran.sequence.name),
    (Column("stage", "Stage"), lambda ran: ran.sequence.stage),
    (Column("number", "Number"), lambda ran: ran.sequence.index),
    (Column("role", "Role"), lambda ran: ran.sequence.role),
    (Column("counts", "In the results"), lambda ran: ran.counts),
    (Column("step_count", "Steps"), lambda ran: len(ran.sequence.steps)),
    (ERRORS, lambda ran: sum(error_count(step) for step in ran.sequence.steps)),
    (HOST, lambda ran: None if ran.host.level == "unknown" else ran.host.level),
    (HOST_REASON, lambda ran: ran.host.words if ran.host.marked else None),
    (Column("void_reason", "Void because"), lambda ran: ran.void),
)


def sequence_table(test: StoredTest, suffix: str = "") -> ResultTable:
    """One row per sequence: name, stage, number, role, whether results come from it, and what befell it.

    number : of the round or variant that it is. counts : results come from it. host : ``pass``, ``warn`` or
    ``invalid`` with the gravest reason, None where nobody watched. void_reason : what the drive did that takes it out
    of results, None where it did nothing.
    Worked: a host stall of 1,502 ms in round 3 -> ``host`` ``invalid``, ``"the host stalled for 1,502 ms"``.
    """
    counted = {id(counted_sequence) for counted_sequence in counted_sequences(test)}
    result = (_Ran(test, sequence, id(sequence) in counted, sequence_host(sequence)[0]) for sequence in test.sequences)
    return table_of(f"{_stem(test)}_sequences{suffix}", "Sequences", _SEQUENCE_COLUMNS, result)


class _Step(NamedTuple):
    test: StoredTest
    sequence: StoredSequence
    number: int
    step: StepRecord


def step_table(test: StoredTest, *, is_virtual: bool) -> ResultTable:
    """Every step with exact numbers: rates are quotients of whole numbers.

    is_virtual : the drive has a clock of its own, which tells no wall time.
    Worked: 3,000 I/Os in 1 s -> ``iops_numerator`` 3000, ``iops_denominator`` 1.
    """
    start = Column("start_drive_ns" if is_virtual else "start_wall_ns", "Start", "ns")
    columns: Declared[_Step] = (
        (Column("sequence", "Sequence", role="key"), lambda ran: ran.sequence.name),
        (Column("number", "Number", role="key"), lambda ran: ran.sequence.index),
        (Column("step", "Step", role="key"), lambda ran: ran.number),
        (Column("role", "Role"), lambda ran: ran.sequence.role),
        (Column("label", "Accesses"), lambda ran: ran.step.label),
        (start, lambda ran: ran.step.start_wall_ns),
        *((Column(key), lambda ran, fill=fill: fill(ran.step)) for key, fill in _STEP_NUMBERS.items()),
        (Column("ended"), lambda ran: ran.step.ended),
        (Column("void"), lambda ran: text_or_none(void_reason([ran.step], ran.test.settings))),
    )
    sources = (
        _Step(test, sequence, number, step)
        for sequence in test.sequences
        for number, step in enumerate(sequence.steps, 1)
    )
    return table_of(f"{_stem(test)}_steps", "Steps", columns, sources)


_STEP_NUMBERS: dict[str, Callable[[StepRecord], Raw]] = {
    "iops": lambda step: float(iops(step)),
    "iops_numerator": lambda step: iops(step).numerator,
    "iops_denominator": lambda step: iops(step).denominator,
    "mb_per_s": lambda step: float(throughput(step)),
    **{name: attrgetter(name) for name in ("span_ns", "lead_in_ns", "carried_in_ns", "carried_out_ns")},
    "read_io_count": lambda step: window_count(step.read),
    "write_io_count": lambda step: window_count(step.write),
    "read_bytes_issued": lambda step: issued_bytes(step.read),
    "write_bytes_issued": lambda step: issued_bytes(step.write),
    "effective_queue_depth": effective_queue_depth,
    "latency_ns_mean": mean_latency_ns,
    "latency_ns_max": max_latency_ns,
    "lead_in_latency_ns_max": lead_in_latency_ns_max,
    **{
        name: attrgetter(name)
        for name in (
            "offered_io_count", "misaligned_io_count", "successor_io_count", "submission_gap_ns_max", "stall_ns_max",
            "cpu_ns",
        )
    },
    "error_count": error_count,
}  # fmt: skip
"""Of one step: what ``results.json`` says of it."""


def _stem(test: StoredTest) -> str:
    """What its files begin with. Worked: ``study-oio`` -> ``study_oio``."""
    return test.settings.test.replace("-", "_")


_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def table_csv(table: ResultTable) -> bytes:
    """Write a table as RFC 4180 text in UTF-8. Worked: a text ``"=1+1"`` is written ``'=1+1``."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(column.key for column in table.columns)
    writer.writerows([_cell_text(cell, table.words) for cell in row] for row in table.rows)
    return target.getvalue().encode("utf-8", "backslashreplace")


def _cell_text(value: Raw, words: Words) -> Any:
    """A number as it is, all else as text that no spreadsheet takes for a formula."""
    if value is None:
        return words.none
    if isinstance(value, bool):
        return words.yes if value else words.no
    cell = text(value) if isinstance(value, Coded) else value
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell


SCHEMA: Literal[4] = 4
"""Version of this form; 4: tables, measures and steps have one form in all tests, and ``show --json`` is the same."""
_Value = float | int | str | bool | None


class ColumnForm(Facts):
    """A column of a table."""

    key: str = Field(description="Its name, as in the CSV file.")
    title: str = Field(description="What it is.")
    unit: str = Field(description="Empty for names, counts and ratios.")
    is_key: bool = Field(description="Whether it tells the rows apart.")


class TableForm(Facts):
    """A table of numbers, the same as the CSV file of its name."""

    key: str = Field(description="Its name; the stem of its CSV file.")
    title: str = Field(description="What it shows.")
    columns: tuple[ColumnForm, ...] = Field(description="Its columns.")
    rows: tuple[tuple[_Value, ...], ...] = Field(description="A value per column, unrounded; null where there is none.")


class MeasureForm(Facts):
    """A number of a test."""

    cell: dict[str, str | int | float] = Field(description="Its subject, such as block_kib 4, read_pct 100.")
    key: str = Field(description="Its name in tables, limits and gates, such as iops.")
    name: str = Field(description="Its name as printed.")
    unit: str = Field(description="IOPS, MB/s, ms, min, GB, %, or x for a ratio.")
    value: float | None = Field(description="Unrounded; null where none may be printed, as the basis says.")
    stat: Stat = Field(description="What it is of many.")
    rounds: tuple[float, ...] = Field(description="The value of each round, oldest first; empty if measured once.")
    tracked: bool = Field(description="Whether steady state was judged by it.")
    quoted: bool = Field(description="Whether it is a key result.")
    basis: str | None = Field(description="What it comes from, or why there is none.")
    claim: str | None = Field(description="Its key among the claims of the plan.")
    bound: float | None = Field(
        description="The host's part: of a rate, a mean or a percentile a share, of a maximum its lateness in ms."
    )
    mark: Mark | None = Field(description="What the host's part makes of it; null where the host has none.")


class StatusForm(Facts):
    """A caveat."""

    level: Level = Field(description="Its gravity.")
    text: str = Field(description="In words.")


class VerdictForm(Facts):
    """How a test came out."""

    state: State = Field(description="In a word.")
    text: str = Field(description="The state with its window or reason, and its caveats.")
    required: bool = Field(description="Whether its procedure requires steady state.")
    missed: bool = Field(description="Whether a required steady state was not reached.")
    reason: str | None = Field(description="Why results are withheld, cut short or not judged.")
    windows: tuple[Window, ...] = Field(description="Rounds or minutes that it was taken over.")
    unstable_count: int = Field(description="Untracked cells that varied by more than 20 %.")
    void_count: int = Field(description="Rounds, samples or variants that no result comes from.")
    short_count: int = Field(description="Steps with fewer completions than I/Os in flight.")
    host: tuple[int, ...] | None = Field(
        description="Measured parts that the host disturbed, and all of them; null if not monitored."
    )


class TestForm(Facts):
    """One test of a run."""

    name: str = Field(description="Its name in the run.")
    label: str = Field(description="Its name as printed.")
    procedure: str = Field(description="The procedure of the test; several tests can share it.")
    settings: dict[str, Any] = Field(description="Everything that it was set to.")
    outstanding: tuple[int, ...] = Field(description="I/Os in flight in the steps that measured, each once.")
    extent: str = Field(description="What it measured whole, such as 5 rounds.")
    started_wall_ns: int = Field(description="Nanoseconds since the Unix epoch.")
    ended_wall_ns: int | None = Field(description="Likewise; null where it did not end.")
    ended: str | None = Field(description="How it ended, as in the journal; null where it goes on or was cut.")
    verdict: VerdictForm = Field(description="How it came out.")
    window: dict[str, Any] | None = Field(description="The measurement window with the exact verdict of each cell.")
    purge: dict[str, Any] | None = Field(description="The purge before it.")
    insights: tuple[str, ...] = Field(description="Key findings of the test, the worst first, at most three.")
    caveats: tuple[StatusForm, ...] = Field(description="What a reader must know of its numbers.")
    measures: tuple[MeasureForm, ...] = Field(description="Every number once, the key results first.")
    tables: tuple[TableForm, ...] = Field(description="Its tables, and last its steps, exact.")
    checks: tuple[dict[str, Any], ...] = Field(description="Checks of the tool on itself.")


class ResultsForm(Facts):
    """A run with all its results."""

    schema_version: Literal[4] = Field(default=SCHEMA, alias="schema", description="Version of this form.")
    run_id: str = Field(description="Identifier of the run.")
    journal: dict[str, Any] | None = Field(description="line_count, complete, and hash: SHA-256 of its last line.")
    label: str = Field(description="How far the run conforms, as every page of the report says.")
    label_class: str = Field(description="The label in a word.")
    deviations: tuple[str, ...] = Field(description="Every departure from the specification.")
    edition: str = Field(description="Name of the edition.")
    edition_title: str = Field(description="Its title as printed.")
    exit_codes: tuple[int, ...] = Field(
        description="Every reason not to exit with 0, strongest first: 5 withheld, 7 not steady, 8 a limit not met."
    )
    insights: tuple[str, ...] = Field(description="Key findings of the run, the worst first, at most five.")
    caveats: tuple[StatusForm, ...] = Field(description="What a reader must know of the run, gravest first.")
    breaks: tuple[str, ...] = Field(description="Where the run was cut short and resumed.")
    origin: dict[str, Any] | None = Field(description="The bundle that the run came with, and its signer.")
    findings: TableForm = Field(description="What the report's findings list.")
    model: str = Field(description="The drive as printed.")
    drive: dict[str, Any] = Field(description="Identity and facts of the drive.")
    platform: dict[str, Any] = Field(description="The test system.")
    certificate: dict[str, Any] | None = Field(description="The calibration of the host.")
    checks: tuple[dict[str, Any], ...] = Field(description="Checks of the host and of its reference drive.")
    description: dict[str, str] = Field(description="Texts of the plan: operator, lab, notes and others.")
    plan: dict[str, Any] = Field(description="The plan as it ran.")
    started_wall_ns: int = Field(description="When the run began, nanoseconds since the Unix epoch.")
    report_date_ns: int = Field(description="The date that its report bears, likewise.")
    wall_s: float | None = Field(description="Seconds from its begin to the end of the last test; null if not ended.")
    driven_s: float = Field(description="Seconds from the first step of each test to its last, by the drive's clock.")
    tables: tuple[TableForm, ...] = Field(description="Claims and baseline, where the plan states them.")
    tests: tuple[TestForm, ...] = Field(description="The tests in the order they ran.")
    skipped: dict[str, str] = Field(description="Tests of the plan that this drive cannot run, each with the reason.")
    not_begun: tuple[str, ...] = Field(description="Tests of the plan after the stopped test.")


class ShownForm(ResultsForm):
    """What ``assay show --json`` prints: the results, and where they are."""

    run: str = Field(description="The run folder.")
    exit_code: int = Field(description="The strongest of exit_codes, 0 where there is none.")
    level: str = Field(description="Trust level: self-checked, not checked here, or what is known of another run.")
    report: tuple[str, ...] = Field(description="Files of its report that are there, tables included.")
    report_older: bool | None = Field(
        description="Whether that report was written from an earlier state of the folder; null where nothing tells."
    )


def run_results(
    run: StoredRun,
    summary: RunSummary,
    tests: Sequence[tuple[TestRecord, Sequence[ResultTable]]],
    tables: Sequence[ResultTable],
) -> ResultsForm:
    """Everything that a run came to. tests : each with its tables. tables : of the run, its findings last."""
    reference = run.certificate.reference if run.certificate else None
    return ResultsForm.of_records(
        summary,
        run,
        journal=asdict(run.journal) if run.journal else None,
        label=conformity_label(run),
        insights=tuple(in_words(said) for _, said in summary.said),
        caveats=_caveats(summary.caveats),
        breaks=tuple(break_texts(run)),
        origin=asdict(run.origin) if run.origin else None,
        findings=_table(tables[-1]),
        drive=asdict(run.identity),
        platform=asdict(run.platform),
        certificate=asdict(run.certificate) if run.certificate else None,
        checks=tuple(facts(check) for check in (*host_checks(run), *reference_checks(reference))),
        tables=tuple(map(_table, tables[:-1])),
        tests=tuple(_test(*pair, own) for pair, own in zip(tests, summary.tests, strict=True)),
        skipped={name: str(reason) for name, reason in summary.skipped},
    )


def results_text(results: ResultsForm) -> bytes:
    """The file: JSON text, ASCII only, keys in a fixed order."""
    content = results.model_dump(by_alias=True)
    return (json.dumps(content, indent=1, default=str) + "\n").encode("ascii")


def _test(record: TestRecord, tables: Sequence[ResultTable], summary: TestSummary) -> TestForm:
    test, verdict = record.test, summary.verdict
    window = None if record.withheld or test.verdict is None else asdict(test.verdict)
    is_virtual = record.run.identity.kind == "simulated"
    words = {"text": verdict_text(verdict), "reason": text_or_none(verdict.reason)}
    return TestForm.of_records(
        summary,
        test,
        settings=asdict(test.settings),
        verdict=VerdictForm.of_records(verdict, **words),
        window=window,
        purge=asdict(test.purge) if test.purge else None,
        insights=tuple(map(in_words, summary.said)),
        caveats=_caveats(summary.caveats),
        measures=tuple(map(_measure, summary.measures)),
        tables=tuple(map(_table, (*tables, step_table(test, is_virtual=is_virtual)))),
        checks=tuple(facts(check) for check in record.checks),
    )


def _caveats(caveats: Iterable[Status]) -> tuple[StatusForm, ...]:
    return tuple(StatusForm(level=caveat.level, text=text(caveat.said)) for caveat in caveats)


def _measure(measure: Measure) -> MeasureForm:
    return MeasureForm.of_records(
        measure,
        cell=dict(measure.cell),
        name=measure.printed,
        value=None if measure.value is None else float(measure.value),
        rounds=tuple(map(float, measure.rounds)),
        basis=text_or_none(measure.basis),
    )


def _table(table: ResultTable) -> TableForm:
    columns = tuple(
        ColumnForm(key=column.key, title=column.title or column.key, unit=column.unit, is_key=column.role == "key")
        for column in table.columns
    )
    rows = tuple(tuple(text(value) if isinstance(value, Coded) else value for value in row) for row in table.rows)
    return TableForm.model_construct(key=table.key, title=table.title, columns=columns, rows=rows)
