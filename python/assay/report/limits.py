"""Limits held against a run, as records, tables and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from assay.compare.limits.judge import ShownLimit  # noqa: TC001 - read by pydantic when the program runs
from assay.procedures.conformity import conformity_label
from assay.report.annex.summary import summary_header
from assay.report.first_page.page import OUTCOME_LEVELS
from assay.summary.forms import Facts
from assay.summary.measures import measure_words
from assay.summary.pages.model import Page, Report, Table, column_levels
from assay.words.printed import capacity_label, number_text, paragraph, printable, utc_datetime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun
    from assay.summary.pages.test_record import TestRecord


COLUMNS = ("Requirement", "Test", "Of", "Number", "Bound", "Found", "Verdict")
_NONE = "n/a"


class ShownLimits(Facts):
    """A run held against limits, as `assay limits RUN --json` prints it."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    run: str = Field(description="The run folder.")
    run_id: str = Field(description="The ID of the run.")
    title: str = Field(description="Of the limits.")
    capacity_bytes: int = Field(description="User capacity, by which bounds for each TB are multiplied.")
    passed: int = Field(description="Count of verdicts.")
    failed: int = Field(description="Likewise.")
    undecided: int = Field(description="Likewise.")
    exit_code: int = Field(description="8 if a limit failed, or is undecided where that does not pass; else 0.")
    limits: tuple[ShownLimit, ...] = Field(description="Every verdict, in the order of the limits; claims last.")


def shown_limits(run: StoredRun, judged: Sequence[ShownLimit], *, folder: str, title: str, code: int) -> ShownLimits:
    """Gather verdicts. folder : as the user named it. title : of the limits. code : the exit code."""
    verdicts = [limit.verdict for limit in judged]
    return ShownLimits(
        run=folder,
        run_id=run.run_id,
        title=title,
        capacity_bytes=run.identity.capacity_bytes,
        passed=verdicts.count("pass"),
        failed=verdicts.count("fail"),
        undecided=verdicts.count("not decided"),
        exit_code=code,
        limits=tuple(judged),
    )


def summary(shown: ShownLimits) -> str:
    """All verdicts in one line. Worked: ``"LIMITS NOT MET: 3 pass, 1 fail, 2 not decided"``."""
    counts = f"{shown.passed} pass, {shown.failed} fail, {shown.undecided} not decided"
    if shown.failed:
        return f"LIMITS NOT MET: {counts}"
    return f"LIMITS NOT DECIDED: {counts}" if shown.undecided else f"Limits met: {counts}"


def limit_row(shown_limit: ShownLimit) -> tuple[str, ...]:
    """The cells of a verdict under ``COLUMNS``."""
    label = ", ".join(filter(None, (shown_limit.id, shown_limit.text)))
    verdict = {"pass": "pass", "fail": "FAIL"}.get(shown_limit.verdict, f"not decided: {shown_limit.reason}")
    return (
        label,
        shown_limit.test.upper(),
        shown_limit.where,
        measure_words(shown_limit.name),
        _bound(shown_limit),
        _NONE if shown_limit.value is None else _number(shown_limit.value, shown_limit),
        verdict,
    )


def _bound(shown_limit: ShownLimit) -> str:
    parts = [
        f"{words} {_number(bound, shown_limit)}"
        for words, bound in (("at least", shown_limit.at_least), ("at most", shown_limit.at_most))
        if bound is not None
    ]
    tail = "" if shown_limit.per_tb is None else f" ({_number(shown_limit.per_tb, shown_limit)} per TB)"
    return " and ".join(parts) + (f" {shown_limit.unit}" if shown_limit.unit else "") + tail


def _number(value: float, shown_limit: ShownLimit) -> str:
    """A number as the report prints it, with all its digits where it would read as a bound that it is not."""
    text = _short(value, shown_limit.unit)
    near = [
        number
        for number in (shown_limit.value, shown_limit.at_least, shown_limit.at_most)
        if number is not None and number != value
    ]
    return repr(value) if any(_short(number, shown_limit.unit) == text for number in near) else text


def _short(value: float, unit: str) -> str:
    if unit:
        return number_text(value, unit)
    return f"{value:,.0f}" if value.is_integer() else repr(value)


_EXPLANATION = (
    """Numbers are compared unrounded, and a bound itself is allowed. Not decided, which is never a pass: the number is
    n/a, its results are withheld, or a required steady state was not reached.""",
    """A bound for each TB is multiplied by the user capacity, in TB of 10^12 bytes. Of a health value the worst of the
    run counts. A claim is what the plan states of the data sheet.""",
)


def limits_report(run: StoredRun, tests: Sequence[TestRecord], shown_limits: ShownLimits) -> Report:
    """Lay out verdicts as a report of their own; the same run and limits give the same pages."""
    rows = tuple(tuple(paragraph(text) if text else "" for text in row) for row in map(limit_row, shown_limits.limits))
    notes = tuple(paragraph(text) for text in _EXPLANATION)
    levels = column_levels(COLUMNS.index("Verdict"), (OUTCOME_LEVELS[limit.verdict] for limit in shown_limits.limits))
    drive = (
        f"{printable(run.identity.model_number or run.identity.path)}, {capacity_label(run.identity.capacity_bytes)}"
    )
    page = Page(
        title="Limits",
        chapter="Limits",
        subtitle=f"{drive} - {paragraph(shown_limits.title)}",
        header=summary_header(run, tests[0].edition),
        banner=None if shown_limits.failed + shown_limits.undecided == 0 else summary(shown_limits),
        blocks=(Table(caption=summary(shown_limits), columns=COLUMNS, rows=rows, notes=notes, levels=levels),),
        runs_on=True,
        place="1 of 1",
    )
    return Report(
        title=f"{printable(run.identity.model_number or run.identity.path)} {printable(run.identity.id)} - limits",
        label=conformity_label(run),
        colophon=f"{printable(run.platform.tool)} {printable(run.platform.tool_version)} - run {printable(run.run_id)}",
        date=utc_datetime(run.started_wall_ns).timetuple()[:6],
        pages=(page,),
    )
