"""The tables of numbers of samples that are written until saturated."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.results import NINES
from assay.summary import columns as of
from assay.summary.columns import percentile_columns
from assay.summary.pages.data_tables import histogram_tables
from assay.summary.table import Column, Lines, table_of, table_of_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.families.saturation.result import Mark, SaturationResult
    from assay.summary.table import Declared, Raw, ResultTable


class _Marked(NamedTuple):
    key: str
    name: str
    mark: Mark | None


def _of_mark(fill: Callable[[Mark], Raw]) -> Callable[[_Marked], Raw]:
    return lambda marked: None if marked.mark is None else fill(marked.mark)


_MARKS: Declared[_Marked] = (
    (Column("mark", "Mark", role="key"), lambda marked: marked.name),
    (Column("sample", "Sample"), _of_mark(lambda mark: mark.sample)),
    (Column("minute", "Time", "min"), _of_mark(lambda mark: mark.minutes)),
    (of.WRITTEN, _of_mark(lambda mark: mark.written_gb)),
    (of.FILLS, _of_mark(lambda mark: mark.fills)),
    (of.IOPS, _of_mark(lambda mark: mark.iops)),
)


_BRIEF = ("mark", of.IOPS.key, "minute", of.WRITTEN.key, of.FILLS.key)


def saturation_tables(test: StoredTest, result: SaturationResult, suffix: str) -> Iterator[ResultTable]:
    """The tables of a write saturation test."""
    name = test.settings.test.replace("-", "_")
    yield samples_table(result, f"{name}_samples{suffix}")
    yield marks_table(result, f"{name}_marks{suffix}")
    yield from histogram_tables(test, suffix)


def samples_table(result: SaturationResult, key: str) -> ResultTable:
    """Every complete sample of a write saturation test."""
    samples = result.samples
    missing = (None,) * len(samples.minutes)
    columns = (
        (of.MINUTE, samples.minutes),
        (of.IOPS, samples.iops),
        (of.MB_PER_S, samples.throughput),
        (of.WRITTEN, result.written_gb),
        (of.FILLS, result.fills),
        (of.MEAN, samples.latency_ms_mean),
        *zip(percentile_columns(NINES), (result.percentiles.get(share, missing) for share in NINES), strict=True),
        (of.MAXIMUM, samples.latency_ms_max),
    )
    lines = (Lines(of.MINUTE.key, of.IOPS.key, log="y"), Lines(of.FILLS.key, of.IOPS.key, log="y"))
    return table_of_columns(key, "Samples", columns, lines=lines)


def marks_table(result: SaturationResult, key: str = "marks") -> ResultTable:
    """What is read off the curve."""
    return table_of(key, "Marks of the curve", _MARKS, _marked(result), section="results", brief=_BRIEF)


def _marked(result: SaturationResult) -> tuple[_Marked, ...]:
    return (
        _Marked("first", "first sample", result.first),
        _Marked("peak", "peak", result.peak),
        _Marked("peak_drop", "peak drop", result.peak_drop),
        _Marked("level_reached", "level reached", result.steady),
        _Marked("first_steady", "five-point rule first held", result.first_steady),
    )
