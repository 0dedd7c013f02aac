"""What the OEM guide's method shows: the guide's table, its checks, the cycling of depths, and the comparison."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from assay.procedures.oem_guide.plan import ALIGNED, COMPRESSIBLE, CORNERS, OFF, STORED_SHARE
from assay.procedures.oem_guide.result import corner_row, guide_checks, guide_rows
from assay.procedures.studies.figures import study_figures
from assay.procedures.studies.plan import over_places
from assay.procedures.studies.record import IOPS_AND_MEAN, not_quoted, of_settled, study_shown
from assay.procedures.studies.result import StudyResult, study_result
from assay.procedures.studies.run import StudySettings
from assay.results.finding import Finding
from assay.summary import table as of
from assay.summary.measures import quoted
from assay.summary.pages.model import Table, Text
from assay.summary.pages.test_record import PagePart, Shown, Source
from assay.summary.table import Column, picked, printed_pivot, printed_table, table_of
from assay.words.coded import coded
from assay.words.printed import NOT_APPLICABLE, NOT_AVAILABLE, one_decimal, paragraph, rate_or_na

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.procedures.oem_guide.plan import Corner
    from assay.procedures.oem_guide.result import GuideRow
    from assay.summary.record import Measure
    from assay.summary.table import Declared, ResultTable

TITLE = "OEM Guide - Report Page (no test of the specification)"
_ROWS: Declared[Any] = (
    (of.VARIANT, attrgetter("variant")),
    (Column("access_specification", "Access specification", role="key"), attrgetter("corner.name")),
    (of.DEPTH, attrgetter("depth")),
    (replace(of.IOPS, page_title="IOps"), of_settled("iops")),
    (Column("mibps", "Throughput", "MiB/s", page_title="MBps (2^20 B)"), attrgetter("mibps")),
    (replace(of.MB_PER_S, page_title="MB/s"), of_settled("throughput")),
    (replace(of.MEAN, page_title="Average response (ms)"), of_settled("latency_ms_mean")),
    (replace(of.MAXIMUM, page_title="Maximum response (ms)"), of_settled("latency_ms_max")),
    (Column("errors", "Errors"), attrgetter("errors")),
    (Column("cpu_pct", "CPU", "%", page_title="% CPU", printer="{:.2f}".format), attrgetter("cpu_pct")),
    (
        Column("cpu_effectiveness", "CPU effectiveness", "IOPS/%", page_title="CPU effectiveness"),
        attrgetter("effectiveness"),
    ),
)
_GUIDE = (
    "access_specification", "iops", "mibps", "mb_per_s", "latency_ms_mean", "latency_ms_max", "errors", "queue_depth",
    "cpu_pct", "cpu_effectiveness",
)  # fmt: skip
_CHECKS: Declared[tuple[str, Finding]] = (
    (Column("check", "Demand of the guide", role="key", page_title="Check"), lambda check: check[0]),
    (Column("level", "Level", page_title="Result"), lambda check: check[1].level),
    (Column("reason", "Reason", page_title="Value", missing=""), lambda check: check[1].words or None),
    (Column("measured", "Measured"), lambda check: check[1].measured),
    (Column("limit", "Limit"), lambda check: check[1].limit),
)


def guide_table(rows: Sequence[GuideRow]) -> Table:
    """The four corner tests as the guide prints them."""
    notes = (
        "MBps is base 2, as Iometer prints it; MB/s is base 10. Queue depth: outstanding I/Os per worker.",
        "% CPU: share of a single CPU, used by the thread that issues the I/Os. CPU effectiveness: IOps per % CPU.",
    )
    corners = [row for corner in CORNERS if (row := corner_row(rows, ALIGNED, corner))]
    title = "The Guide's Table: Four Corner Tests, Aligned to 4KiB"
    return printed_table(table_of("guide", title, picked(_ROWS, *_GUIDE), corners), notes=notes)


def depth_table(rows: Sequence[GuideRow]) -> Table:
    """IOPS and mean response time of every corner at every depth."""
    note = (
        "The depths run from 1 to 32 without a new burn-in, as the guide has it: the first random writes find a drive "
        "that was written sequentially, and what falls with the depth may be the drive's change of state."
    )
    table = table_of("depths", "Queue Depth Cycling", (*_ROWS, IOPS_AND_MEAN), [row for row in rows if row.cycled])
    return printed_pivot(
        table,
        of.DEPTH.key,
        "access_specification",
        IOPS_AND_MEAN[0].key,
        spanner="IOPS / mean response time (ms)",
        notes=(note,),
    )


def comparison_table(rows: Sequence[GuideRow], not_run: Mapping[str, str]) -> Table:
    """The corners off the alignment and with data that compress, against those of the first table."""
    variants = (ALIGNED, OFF, COMPRESSIBLE)
    before = (
        "Before each of the last two columns the drive was purged and written sequentially with the column's data, as "
        "the burn-in leaves it. In brackets: share of the first column."
    )
    notes = (
        f"Entropy 0 %: data that compress to {STORED_SHARE * 100:g} %, the least that the stimulus makes.",
        before,
        *(f"{label} not run: {reason}." for label, reason in not_run.items()),
    )
    return Table(
        caption="Entropy and Alignment",
        columns=("Access specification", "", *(f"{variant[0].upper()}{variant[1:]}" for variant in variants)),
        rows=tuple(_comparison(rows, corner) for corner in CORNERS),
        notes=notes,
    )


def _comparison(rows: Sequence[GuideRow], corner: Corner) -> tuple[str, ...]:
    first = corner_row(rows, ALIGNED, corner)
    base = first.rate if first else None
    others = (_against(base, corner_row(rows, variant, corner)) for variant in (OFF, COMPRESSIBLE))
    return (corner.name, corner.unit, rate_or_na(base), *others)


def _against(base: float | None, row: GuideRow | None) -> str:
    if row is None:
        return NOT_APPLICABLE
    if row.rate is None:
        return NOT_AVAILABLE
    return one_decimal(row.rate) + (f" ({100 * row.rate / base:.1f} %)" if base else "")


_HOW = "the four corner tests at 1 to 32 outstanding I/Os"
_READINGS = {
    "1": f"How much does the drive gain from more outstanding I/Os? Shown are the IOPS of {_HOW}. Where a line is "
    "level, the drive is saturated. Random writes also change the drive from depth to depth.",
    "2": f"What does a deeper queue cost? Shown is the mean response time of {_HOW}. Above saturation it rises in "
    "proportion to the depth.",
}


def guide_shown(source: Source) -> Shown:
    """What a stored test of the guide's method shows; I/Os of others before it stand over every page."""
    test, measured = source.test, study_result(source.test)
    checks = guide_checks(source.run, test, measured.outstanding_error)
    others = checks["Idle before the test"]
    reason = coded("not-idle", what=others.reason)
    warned = (Finding(level="warn", reason=reason),) if others.level == "warn" else ()
    result = replace(measured, findings=(*measured.findings, *warned))
    study, rows = study_shown(source, result), guide_rows(test, result)
    return replace(
        study,
        title=TITLE,
        parts=_parts(source, result, rows, checks),
        readings=_READINGS,
        drawn=None,
        numbers=_numbers(rows, study.numbers),
        tables=lambda: chain(_tables(rows, checks, source.suffix), study.tables()),
    )


def _parts(
    source: Source, result: StudyResult, rows: Sequence[GuideRow], checks: Mapping[str, Finding]
) -> Iterator[PagePart]:
    """The guide's table, the cycling of queue depths, and the comparison of entropy and alignment."""
    settings = source.test.settings_as(StudySettings)
    asked = Text(paragraphs=(paragraph(settings.question), paragraph(settings.outline)))
    figures = study_figures(source.prefix, over_places("Queue Depth", "log", "iops", "response"), result)
    nothing = Text(paragraphs=("n/a: no test ran to its end",))
    printed = printed_table(table_of("checks", "Checks of the Guide", _CHECKS[:3], checks.items()))
    yield "The Guide's Table", (*source.plan_box(), guide_table(rows), printed, asked)
    yield "Queue Depth: IOPS and Response Time", figures or (nothing,)
    yield "Queue Depth: Table", (depth_table(rows),)
    yield "Entropy and Alignment", (comparison_table(rows, dict(settings.not_run)),)


def _numbers(rows: Sequence[GuideRow], of_study: Iterable[Measure]) -> Iterator[Measure]:
    """The four corners, the lowest share that is left off the alignment, and what every study has."""
    corners = [row for corner in CORNERS if (row := corner_row(rows, ALIGNED, corner))]
    for row in corners:
        corner, value = row.corner, row.rate
        basis = coded("not-whole-run") if value is None else coded("corner", name=corner.name, outstanding=32)
        cell = (("corner", corner.name),)
        yield quoted(cell, corner.unit, f"OEM guide, {corner.title}", value, basis, claim=corner.claim)
    pairs = [(corner_row(rows, OFF, row.corner), row.rate) for row in corners]
    if shares := [off.rate / rate for off, rate in pairs if off and off.rate is not None and rate]:
        name = "OEM guide, slowest corner off the alignment over aligned"
        yield quoted((), "x", name, min(shares), coded("off-alignment"))
    yield from not_quoted(of_study)


def _tables(rows: Sequence[GuideRow], checks: Mapping[str, Finding], suffix: str) -> Iterator[ResultTable]:
    """The guide's rows and demands."""
    yield table_of(f"study_oem_guide_table{suffix}", "The guide's tests", _ROWS, rows, section="results")
    yield table_of(f"study_oem_guide_checks{suffix}", "Demands of the guide", _CHECKS, checks.items())
