"""The tables of numbers of samples that are written until saturated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.pages.data_tables import PERCENTILE_COLUMNS, histogram_tables
from assay.pages.model import DataTable
from assay.pages.printed import NOT_AVAILABLE, or_na
from assay.results import NINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.saturation.result import Mark, SaturationResult


SAMPLE_COLUMNS = (
    "minute",
    "iops",
    "mb_per_s",
    "tgbw_gb",
    "drive_fills",
    "latency_ms_mean",
    *PERCENTILE_COLUMNS,
    "latency_ms_max",
)


MARK_COLUMNS = ("mark", "sample", "minute", "tgbw_gb", "drive_fills", "iops")


def saturation_tables(test: StoredTest, result: SaturationResult, suffix: str) -> Iterator[DataTable]:
    """The tables of a write saturation test."""
    name = test.settings.test.replace("-", "_")
    yield samples_table(result, f"{name}_samples{suffix}")
    yield _marks(result, f"{name}_marks{suffix}")
    yield from histogram_tables(test, suffix)


def samples_table(result: SaturationResult, name: str) -> DataTable:
    """Every complete sample of a write saturation test."""
    nines = [result.percentiles.get(share, (None,) * len(result.minutes)) for share in NINES]
    columns = (result.minutes, result.iops, result.throughput, result.written_gb, result.fills, result.latency_ms_mean)
    rows = zip(*columns, *nines, result.latency_ms_max, strict=True)
    return DataTable(name=name, columns=SAMPLE_COLUMNS, rows=tuple(tuple(map(or_na, row)) for row in rows))


def _marks(result: SaturationResult, name: str) -> DataTable:
    found = {
        "first sample": result.first,
        "peak": result.peak,
        "peak drop": result.peak_drop,
        "level reached": result.steady,
        "five-point rule first held": result.first_steady,
    }
    return DataTable(
        name=name, columns=MARK_COLUMNS, rows=tuple((label, *_mark(mark)) for label, mark in found.items())
    )


def mark_facts(mark: Mark | None) -> dict[str, Any] | None:
    """A mark under the names of the columns, None for None."""
    return None if mark is None else dict(zip(MARK_COLUMNS[1:], _mark(mark), strict=True))


def _mark(mark: Mark | None) -> tuple[Any, ...]:
    if mark is None:
        return (NOT_AVAILABLE,) * (len(MARK_COLUMNS) - 1)
    return (mark.sample, mark.minutes, mark.written_gb, mark.fills, mark.iops)
