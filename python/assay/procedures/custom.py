"""What a test of another package is written with; see ``docs/guide/own-tests.md``.

Everything that such a test needs is imported from here. It runs in the same loop, is stored, audited, withheld and
printed as the tests of this package are, and every page says that it is no test of the specification.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from assay.engine.pattern import cell_pattern, leading_range, segmented_range
from assay.engine.records import (
    IDLE,
    Demand,
    Ending,
    Purge,
    StepSequence,
    StepSpec,
    StopRule,
    TestSettings,
    Trim,
)
from assay.plan.options import DemandOptions, Options
from assay.plan.phases import PlannedPhase
from assay.plan.procedure import Context, PlannedTest, PlanSummary, Procedure, Request
from assay.procedures.planned import common_settings, refuse_deep, scaled_ns, unfit, whole_drive_bytes
from assay.results.outcome import withheld_reason
from assay.results.step import iops, max_latency_ns, mean_latency_ns, throughput
from assay.spec.units import GIB, KIB, MIB, SECOND_NS, count_label
from assay.summary.measures import quoted
from assay.summary.pages.figures import time_figure
from assay.summary.pages.header import TestFacts, share_label
from assay.summary.pages.model import Figure, Series, Table
from assay.summary.pages.test_record import Shown, Source
from assay.summary.table import UNIT, Column, ResultTable, named, table_of
from assay.words.coded import coded
from assay.words.printed import NOT_APPLICABLE, NOT_AVAILABLE, data_label, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import DriveIdentity, StoredTest
    from assay.summary.pages.model import Entry
    from assay.summary.table import Declared

__all__ = [
    "GIB",
    "IDLE",
    "KIB",
    "MIB",
    "SECOND_NS",
    "Context",
    "DataTable",
    "Demand",
    "DemandOptions",
    "Ending",
    "Figure",
    "Options",
    "PlanSummary",
    "PlannedPhase",
    "PlannedTest",
    "Procedure",
    "Purge",
    "Request",
    "Series",
    "Source",
    "StepSequence",
    "StepSpec",
    "StopRule",
    "Table",
    "TestSettings",
    "Trim",
    "Value",
    "cell_pattern",
    "common_settings",
    "custom_procedure",
    "iops",
    "leading_range",
    "max_latency_ns",
    "mean_latency_ns",
    "refuse_deep",
    "scaled_ns",
    "segmented_range",
    "shown",
    "throughput",
    "time_figure",
    "unfit",
    "whole_drive_bytes",
    "withheld_reason",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One figure of a custom test. item : what it is. value : None where it was not measured."""

    item: str
    unit: str
    value: float | None


def shown(
    source: Source,
    *,
    title: str,
    values: Iterable[Value],
    figures: tuple[Figure, ...] = (),
    data: Iterable[ResultTable] = (),
    settings: tuple[Entry, ...] = (),
) -> Shown:
    """What a stored custom test shows: a page of values, and one for each figure; no value of a withheld test.

    title : over each page. values : each a measure of its own. data : tables of numbers. settings : what the disclosure
    prints of its settings, as item and text.
    """
    withheld, stem = withheld_reason(source.test), source.test.settings.test.replace("-", "_")
    listed = [replace(value, value=None) if withheld else value for value in values]
    rows = tuple((value.item, _text(value.value), value.unit) for value in listed)
    page = Table(caption=title, columns=("Value", "", "Unit"), rows=rows)
    key = f"{stem}_values{source.suffix}"
    tables = (
        table_of(key, title, _VALUES, listed, section="results"),
        *(replace(table, key=f"{stem}_{table.key}{source.suffix}") for table in data),
    )
    basis = coded("own-value")
    return Shown(
        **source.origin,
        facts=custom_facts(source, title),
        outline=f"{title}, {_extent(source)}.",
        title=f"{title} - Report Page (no test of the specification)",
        parts=(
            ("Values", (*source.plan_box(), page)),
            *((figure.alt, (figure,)) for figure in figures if not withheld),
        ),
        numbers=[quoted((("item", one.item),), one.unit, one.item, one.value, basis) for one in listed],
        settings=settings or (("Data", data_label(source.test.settings.data)),),
        tables=lambda: tables,
    )


_VALUES: Declared[Value] = (
    (Column("item", "Number", role="key"), attrgetter("item")),
    (Column("value", "Value"), attrgetter("value")),
    (UNIT, attrgetter("unit")),
)


def custom_facts(source: Source, title: str) -> TestFacts:
    """A test that headers have no words for."""
    share = share_label(source.run, source.test.settings.range_amount_bytes)
    return TestFacts(
        dependent="see the page of the test",
        test_area=share,
        test_range=share,
        step="see the page of the test",
        stimulus=(("Test Stimulus 1", title), ("RW Mix", "own"), ("Block Sizes", "own")),
        workload=title,
        extent=_extent(source),
        steady=NOT_APPLICABLE,
    )


def _extent(source: Source) -> str:
    return count_label(sum(sequence.role == "measure" for sequence in source.test.sequences), "measured sequence")


def DataTable(*, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> ResultTable:  # noqa: N802
    """A table of numbers of a test: name of its file, names of its columns, a value per column in each row.

    None is printed as n/a, true and false as yes and no.
    """
    return ResultTable(key=name, title=name, columns=named(columns), rows=tuple(map(tuple, rows)))


def custom_procedure(**parts: Any) -> Procedure[Any, Any]:
    """A procedure of another package. parts : the fields of ``Procedure`` but for ``kind``, ``table`` and
    ``departures``, which are the same for all of them.
    """  # noqa: D205 - one sentence
    return Procedure(kind="custom", table=None, departures=_departures, **parts)


def _departures(
    settings: TestSettings, _table: object, _drive: DriveIdentity, _test: StoredTest | None
) -> Iterator[str]:
    yield f"{settings.test} is no test of the specification"


def _text(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else significant(value, decimals=1)
