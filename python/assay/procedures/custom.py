"""What a test of another package is written with; see ``docs/guide/own-tests.md``.

Everything that such a test needs is imported from here. It runs in the same loop, is stored, audited, withheld and
printed as the tests of this package are, and every page says that it is no test of the specification.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from assay.procedures.planned import refuse_deep, scaled_ns, unfit, whole_blocks
from assay.results import iops, max_latency_ns, mean_latency_ns, throughput, withheld_reason
from assay.spec.units import GIB, KIB, MIB, SECOND_NS, count_label
from assay.summary.columns import UNIT, named
from assay.summary.measures import quoted
from assay.summary.pages.facts import TestFacts, share_label
from assay.summary.pages.main_figure import time_figure
from assay.summary.pages.model import Figure, Series, Table
from assay.summary.pages.test_report import TestReport
from assay.summary.table import Column, ResultTable, table_of
from assay.words.coded import coded
from assay.words.printed import NOT_APPLICABLE, NOT_AVAILABLE, data_label, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import DriveIdentity, StoredRun, StoredTest
    from assay.results.finding import Finding
    from assay.spec.edition import Edition
    from assay.summary.pages.model import Entry, Page
    from assay.summary.record import Measure
    from assay.summary.table import Declared
    from assay.words.coded import Coded

__all__ = [
    "GIB",
    "IDLE",
    "KIB",
    "MIB",
    "SECOND_NS",
    "Context",
    "CustomReport",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomResult:
    """The values of a custom test, if it shows any; each is None where the test's results are withheld."""

    withheld: Coded | None
    values: tuple[Value, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomReport(TestReport):
    """The pages of a custom test: its values, its figures and its tables of numbers.

    title : over each page. settings_shown : what the disclosure prints of its settings, as item and text.
    """

    result: CustomResult
    title: str
    figures: tuple[Figure, ...] = ()
    data: tuple[ResultTable, ...] = ()
    settings_shown: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, run: StoredRun, test: StoredTest, edition: Edition, prefix: str, **parts: Any) -> CustomReport:
        """The report of a stored test. parts : ``title``, ``values`` and, where there are any, the other fields.

        No value is printed where the results are withheld, and no figure.
        """
        withheld = withheld_reason(test)
        values = tuple(replace(one, value=None) if withheld else one for one in parts.pop("values"))
        if withheld:
            parts["figures"] = ()
        result = CustomResult(values=values, withheld=withheld)
        return cls(run=run, test=test, edition=edition, prefix=prefix, result=result, **parts)

    @property
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries."""
        settings = self.test.settings
        share = share_label(self.run, settings.range_amount_bytes)
        names = [sequence.name for sequence in self.test.sequences if sequence.role == "measure"]
        return TestFacts(
            dependent="see the page of the test",
            test_area=share,
            test_range=share,
            step="see the page of the test",
            stimulus=(("Test Stimulus 1", self.title), ("RW Mix", "own"), ("Block Sizes", "own")),
            workload=self.title,
            extent=count_label(len(names), "measured sequence"),
            steady=NOT_APPLICABLE,
        )

    @property
    def outline(self) -> str:
        """What the test measured; its lengths are its own settings."""
        names = [sequence.name for sequence in self.test.sequences if sequence.role == "measure"]
        return f"{self.title}, {count_label(len(names), 'measured sequence')}."

    def report_pages(self) -> tuple[Page, ...]:
        """A page of values, and one per figure."""
        rows = tuple((value.item, _text(value.value), value.unit) for value in self.result.values)
        values = Table(caption=self.title, columns=("Value", "", "Unit"), rows=rows)
        figures = tuple((figure.alt, (figure,)) for figure in self.figures)
        return self.pages(
            f"{self.title} - Report Page (no test of the specification)",
            (("Values", (*self.strip(), values)), *figures),
        )

    def numbers(self) -> Iterator[Measure]:
        """Every value, each an item of its own."""
        for value in self.result.values:
            basis = coded("withheld", reason=self.result.withheld) if self.result.withheld else coded("own-value")
            yield quoted((("item", value.item),), value.unit, value.item, value.value, basis)
        yield from TestReport.numbers(self)

    def own_settings(self) -> tuple[Entry, ...]:
        """What the test says of its settings."""
        return self.settings_shown or (("Data", data_label(self.test.settings.data)),)

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """The values, and the test's own tables."""
        stem = self.test.settings.test.replace("-", "_")
        yield self._values(f"{stem}_values{suffix}")
        for table in self.data:
            yield replace(table, key=f"{stem}_{table.key}{suffix}")

    def _values(self, key: str = "values") -> ResultTable:
        value = Column("value", "Value")
        columns: Declared[Value] = [
            (Column("item", "Number", role="key"), lambda value: value.item),
            (value, lambda value: value.value),
            (UNIT, lambda value: value.unit),
        ]
        return table_of(key, self.title, columns, self.result.values, section="results")


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


def common_settings(request: Request[Any, Any], name: str, demand: Demand) -> dict[str, Any]:
    """What every test settles, as keywords of its settings: the whole drive, and no limits of steady state."""
    return {
        "procedure": name,
        "test": name,
        "edition": request.edition.name,
        "demand": demand,
        "data": request.data,
        "range_amount_bytes": whole_drive_bytes(request.drive),
        "segment_count": None,
        "range_limit": 1.0,
        "slope_limit": 1.0,
        "write_cache_required": request.edition.write_cache.value,
    }


def whole_drive_bytes(drive: DriveIdentity) -> int:
    """The capacity in whole blocks. Worked: 1,000 bytes in blocks of 512 -> 512."""
    return whole_blocks(drive.capacity_bytes, drive)


def _departures(
    settings: TestSettings, _table: object, _drive: DriveIdentity, _test: StoredTest | None
) -> Iterator[str]:
    yield f"{settings.test} is no test of the specification"


def _text(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else significant(value, decimals=1)
