"""Every table of numbers of a run, unrounded, for CSV files and the workbook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.histogram import histogram_times
from assay.pages.model import DataTable
from assay.results import NINES, kept_histograms, withheld_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest

PERCENTILE_COLUMNS = tuple(f"latency_ms_p{share * 100:g}" for share in NINES)


def histogram_tables(test: StoredTest, suffix: str) -> Iterator[DataTable]:
    """The table of the histogram behind a test, where it has one that may be printed."""
    if kept_histograms(test) and not withheld_reason(test):
        yield _histogram(test, f"{test.settings.test.replace('-', '_')}_histogram{suffix}")


def _histogram(test: StoredTest, name: str) -> DataTable:
    times = histogram_times(test)
    rows = zip(times.middles_ms.tolist(), times.counts.tolist(), strict=True)
    return DataTable(name=name, columns=("latency_ms", "io_count"), rows=tuple(rows))
