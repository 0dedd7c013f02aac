"""Tables of numbers: as pages print them, and the table of a histogram for CSV files and the workbook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.results import kept_histograms, withheld_reason
from assay.summary.columns import IO_COUNT, LATENCY
from assay.summary.pages.histogram import histogram_times
from assay.summary.pages.model import Table
from assay.summary.table import Lines, Pivot, pivoted, table_of_columns
from assay.words.coded import Coded
from assay.words.printed import milliseconds_text, one_decimal, paragraph
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.results import ResponseTimes
    from assay.summary.table import Column, Raw, ResultTable


def printed_table(table: ResultTable, **more: Any) -> Table:
    """A table of numbers as pages print it. more : fields of the printed table; its caption is the title otherwise.

    Worked: a column of IOPS with 3147.046 and nothing -> ``"3,147.0"`` and ``"n/a"`` under ``"IOPS"``.
    """
    rows = (zip(table.columns, row, strict=True) for row in table.rows)
    return Table(
        columns=tuple(column.page_title or column.heading for column in table.columns),
        rows=tuple(tuple(printed_value(column, value) for column, value in row) for row in rows),
        **{"caption": table.title, **more},
    )


def printed_pivot(table: ResultTable, down: str, across: str, value: str, heading: str = "{}", **more: Any) -> Table:
    """A view of a table as pages print it: a row for each value of a column, a column for each of another.

    down, across, value : keys of columns. heading : of what stands across. more : as ``printed_table``, and ``corner``,
    what stands over the rows; the heading of their column otherwise.
    Raises ValueError where two rows would stand in one cell.
    Worked: two variants at 8 places -> eight rows of three texts.
    """
    view = pivoted(table, Pivot((down,), across, value))
    if view is None:
        raise ValueError(f"{table.key}: two rows in a cell")
    (rows,) = view.down
    return Table(
        columns=(
            more.pop("corner", rows.page_title or rows.heading),
            *(heading.format(printed_value(view.across, one)) for one in view.headings),
        ),
        rows=tuple(
            (printed_value(rows, one), *(printed_value(view.value, cell) for cell in cells))
            for (one,), cells in view.rows
        ),
        **{"caption": table.title, **more},
    )


def printed_value(column: Column, value: Raw) -> str:
    """A value of a column as pages print it: times as a histogram resolves them, other fractions with a decimal.

    Worked: 0.35 in ms -> ``"0.350"``, 1,200.04 MB/s -> ``"1,200.0"``, None in a column without a printer -> ``"n/a"``.
    """
    if value is None:
        return column.missing
    if column.printer:
        return column.printer(value)
    if isinstance(value, Coded):
        return text(value)
    if isinstance(value, str):
        return paragraph(value)
    if isinstance(value, int):
        return f"{value:,}" if not isinstance(value, bool) else ("no", "yes")[value]
    return milliseconds_text(value) if column.unit == "ms" else one_decimal(value)


def histogram_tables(test: StoredTest, suffix: str) -> Iterator[ResultTable]:
    """The table of the histogram behind a test, where it has one that may be printed."""
    if kept_histograms(test) and not withheld_reason(test):
        yield histogram_table(histogram_times(test), f"{test.settings.test.replace('-', '_')}_histogram{suffix}")


def histogram_table(times: ResponseTimes, key: str) -> ResultTable:
    """How many I/Os took how long."""
    columns = ((LATENCY, times.middles_ms.tolist()), (IO_COUNT, times.counts.tolist()))
    lines = Lines(LATENCY.key, IO_COUNT.key, log="x")
    return table_of_columns(key, "Histogram of response times", columns, lines=(lines,))
