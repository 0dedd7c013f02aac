"""A run in a few tables, as the terminal and ``--json`` show it: what the first page says, and the tables of results.

Nothing is computed here: verdicts, numbers and tables are those of the pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from assay.procedures.conformity_label import conformity_label, deviations
from assay.report.annex.level import level_label
from assay.report.first_page.insights import insights_of_test, run_sentences, sentences
from assay.report.first_page.run_summary import exit_codes
from assay.report.test_page.headline_tables import headline_tables
from assay.report.test_page.outcome import disturbed_label, verdict
from assay.report.test_page.unusual import unusual
from assay.results import driven_s, missed_steady_state, stated_limit_count, withheld_reason
from assay.spec.units import SECOND_NS
from assay.summary.breaks import break_texts
from assay.summary.forms import Facts, Quoted, ShownDrive
from assay.summary.pages.header import model_label
from assay.summary.pages.headline import claimed
from assay.words.printed import paragraph, utc
from assay.words.text import text_or_none
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun, StoredTest
    from assay.spec.edition import Edition
    from assay.summary.pages.headline import Headline
    from assay.summary.pages.model import Table
    from assay.summary.pages.test_report import TestReport
    from assay.summary.record import Held

__all__ = [
    "Facts",
    "Overview",
    "Quoted",
    "ShownDrive",
    "ShownTable",
    "ShownTest",
    "quoted",
    "run_overview",
    "shown_drive",
    "unicode_name",
]

_Texts = tuple[str, ...]


class ShownTable(Facts):
    """A table of a page, as printed."""

    caption: str = Field(description="What it shows.")
    spanner: str = Field(description="Title over all columns but the first, or empty.")
    columns: _Texts = Field(description="Headers; the first column names the row.")
    rows: tuple[_Texts, ...] = Field(description="Cells as printed, with separators of thousands.")
    notes: _Texts = Field(description="Footnotes.")


class ShownTest(Facts):
    """One test of a run."""

    test: str = Field(description="Its name.")
    demand: str = Field(description="Threads and outstanding I/Os of each, such as 2/16; varied where it varies them.")
    verdict: str = Field(description="How it came out, as the first page of the report says.")
    ended: str | None = Field(
        description="steady, round-limit, time, amount, no-completions, interrupted, or the name of an error; null "
        "where the run goes on or was cut."
    )
    reached: bool = Field(description="False where a required steady state was not reached.")
    withheld: str | None = Field(description="Why its results are in no report; null where they are.")
    extent: str = Field(description="Its rounds, or time and gigabytes, as the first page says.")
    disturbed: str = Field(description="How many of its measured parts the test system disturbed.")
    in_short: _Texts = Field(description="Key findings of the test, the worst first, at most three sentences.")
    unusual: _Texts = Field(description="What else a reader must know.")
    started_wall_ns: int = Field(description="Nanoseconds since the Unix epoch.")
    ended_wall_ns: int | None = Field(description="Likewise; null where it did not end.")
    headlines: tuple[Quoted, ...] = Field(description="The numbers that people quote, where the test has any.")
    tables: tuple[ShownTable, ...] = Field(description="The tables of its result.")


class Overview(Facts):
    """A run as `assay show RUN --json` and `assay run ... --json` print it."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    run: str = Field(description="The run folder.")
    run_id: str = Field(description="Identifier of the run.")
    exit_code: int = Field(description="The strongest of exit_codes, 0 where there is none.")
    exit_codes: tuple[int, ...] = Field(description="Every reason not to exit with 0, strongest first; 8 where a limit "
                                        "of the plan is not met.")  # fmt: skip
    limit_count: int = Field(description="How many limits its plan states; assay limits RUN judges them.")
    label: str = Field(description="How far the run conforms, as every page of the report says.")
    deviations: _Texts = Field(description="Every departure from the specification.")
    level: str = Field(description="Trust level: self-checked, not checked here, or what is known of another run.")
    edition: str = Field(description="Name of the edition.")
    edition_title: str = Field(description="Its title as printed.")
    drive: ShownDrive = Field(description="The drive.")
    seed: int | None = Field(description="Seed of addresses and segment places.")
    started: str = Field(description="When the run began, in UTC.")
    started_wall_ns: int = Field(description="The same in nanoseconds since the Unix epoch.")
    wall_s: float | None = Field(
        description="Seconds from the begin to the end of the last test, by the host's clock; null where that did not "
        "end."
    )
    driven_s: float = Field(description="Seconds from the first step of each test to its last, by the drive's clock.")
    complete: bool = Field(
        description="Whether the journal ends as that of a finished run; else it goes on or was cut."
    )
    journal_hash: str = Field(description="SHA-256 of the last line of the journal, which holds the whole run.")
    tests: tuple[ShownTest, ...] = Field(description="The tests in the order they ran.")
    headlines: tuple[ShownTable, ...] = Field(description="The numbers of all tests as the first page prints them.")
    in_short: _Texts = Field(description="Key findings of the run, the worst first, at most five sentences.")
    breaks: _Texts = Field(description="Where the run was cut short and resumed, a sentence each.")
    skipped: dict[str, str] = Field(description="Tests of the plan that this drive cannot run, each with the reason.")
    report: _Texts = Field(description="Files of its report that are there, tables included.")
    report_older: bool | None = Field(
        description="Whether that report was written from an earlier state of the folder; null where nothing tells."
    )


def run_overview(
    run: StoredRun,
    edition: Edition,
    tests: Sequence[TestReport],
    *,
    folder: str,
    files: Sequence[str],
    older: bool | None = False,
    held: Held | None = None,
) -> Overview:
    """Gather what the terminal shows of a run. folder : as the user named it. files, older : of its report.

    held : how the limits of its plan came out.
    """
    summaries = [test.summary for test in tests]
    codes, ends = exit_codes(summaries, held), [test.test.ended_wall_ns for test in tests]
    last_ns = ends[-1]
    return Overview(
        run=unicode_name(folder),
        run_id=run.run_id,
        exit_code=codes[0] if codes else 0,
        exit_codes=codes,
        limit_count=stated_limit_count(run.plan),
        label=conformity_label(run),
        deviations=deviations(run),
        level=level_label(run),
        edition=edition.name,
        edition_title=edition.title,
        drive=shown_drive(run),
        seed=run.plan.get("seed"),
        started=utc(run.started_wall_ns),
        started_wall_ns=run.started_wall_ns,
        wall_s=None if last_ns is None else (last_ns - run.started_wall_ns) / SECOND_NS,
        driven_s=driven_s(run),
        complete=run.journal is not None and run.journal.complete,
        journal_hash=run.journal.hash if run.journal else "",
        tests=tuple(_test(run, test) for test in tests),
        headlines=tuple(map(_table, headline_tables(run, tests))),
        in_short=tuple(line for _, line in run_sentences(run, tests)),
        breaks=tuple(break_texts(run)),
        skipped={one.test: paragraph(one.reason) for one in run.skipped},
        report=tuple(map(unicode_name, files)),
        report_older=older if files else False,
    )


def shown_drive(run: StoredRun) -> ShownDrive:
    """What is shown of the drive of a run."""
    identity = run.identity
    return ShownDrive(
        id=unicode_name(identity.id),
        path=unicode_name(identity.path),
        model=model_label(run),
        firmware=identity.firmware or None,
        capacity_bytes=identity.capacity_bytes,
        kind=identity.kind,
    )


def _test(run: StoredRun, test_report: TestReport) -> ShownTest:
    test = test_report.test
    withheld = withheld_reason(test)
    return ShownTest(
        test=test.settings.test,
        demand=_demand(test),
        verdict=verdict(test_report),
        ended=test.ended,
        reached=not missed_steady_state(test),
        withheld=text_or_none(withheld),
        extent=test_report.facts.extent,
        disturbed=disturbed_label(test_report),
        in_short=sentences(insights_of_test(test_report)),
        unusual=tuple(unusual(test_report)),
        started_wall_ns=test.started_wall_ns,
        ended_wall_ns=test.ended_wall_ns,
        headlines=tuple(quoted(run, test_report.headlines())),
        tables=tuple(map(_table, test_report.main_tables())),
    )


def _demand(test: StoredTest) -> str:
    """What was asked of threads and queue depth while it measured. Worked: two threads of 16 -> ``"2/16"``."""
    asked = {spec.demand for sequence in test.sequences if sequence.role == "measure" for spec in sequence.asked}
    result = {f"{one.thread_count}/{one.queue_depth}" for one in asked or {test.settings.demand}}
    return result.pop() if len(result) == 1 else "varied"


def quoted(run: StoredRun, headlines: Sequence[Headline]) -> Iterator[Quoted]:
    """The numbers that people quote, unrounded, with what their data sheet claims."""
    for headline in headlines:
        values = headline.values if headline.value is not None else ()
        yield Quoted(
            item=headline.item,
            unit=headline.unit,
            value=headline.value,
            least=min(values, default=None),
            greatest=max(values, default=None),
            basis=paragraph(headline.basis),
            claim=claimed(run, headline),
            bound=headline.bound,
            mark=headline.mark,
        )


def _table(table: Table) -> ShownTable:
    rows = tuple(
        tuple(f"{text}*" if (line, index) in table.marked else text for index, text in enumerate(row))
        for line, row in enumerate(table.rows)
    )
    return ShownTable(caption=table.caption, spanner=table.spanner, columns=table.columns, rows=rows, notes=table.notes)
