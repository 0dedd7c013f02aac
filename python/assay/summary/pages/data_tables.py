"""The table of a histogram, for CSV files and the workbook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results import kept_histograms, withheld_reason
from assay.summary.columns import IO_COUNT, LATENCY
from assay.summary.pages.histogram import histogram_times
from assay.summary.table import Lines, table_of_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.results import ResponseTimes
    from assay.summary.table import ResultTable


def histogram_tables(test: StoredTest, suffix: str) -> Iterator[ResultTable]:
    """The table of the histogram behind a test, where it has one that may be printed."""
    if kept_histograms(test) and not withheld_reason(test):
        yield histogram_table(histogram_times(test), f"{test.settings.test.replace('-', '_')}_histogram{suffix}")


def histogram_table(times: ResponseTimes, key: str) -> ResultTable:
    """How many I/Os took how long."""
    columns = ((LATENCY, times.middles_ms.tolist()), (IO_COUNT, times.counts.tolist()))
    lines = Lines(LATENCY.key, IO_COUNT.key, log="x")
    return table_of_columns(key, "Histogram of response times", columns, lines=(lines,))
