"""The per-second series of stored steps, put back from their table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.records import SeriesTable
from assay.errors import StoreError
from assay.run.store.tables import SERIES_COLUMNS, direction_places, numbers, read_table, series_rows_max

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import DirectionRecord, StepRecord

_READ = tuple(column for column in SERIES_COLUMNS if column != "second")


def series_rows(steps: Sequence[StepRecord], content: bytes, *, name: str) -> Any:
    """The table that ``series_table`` wrote of these steps, as pyarrow has it.

    name : of the file, for messages.
    Raises StoreError where it is no such table, or larger than those steps can have made it.
    """
    table = read_table(content, SERIES_COLUMNS, rows_max=series_rows_max(steps), name=name)
    if table.num_rows and numbers(table["step"]).max() >= len(steps):
        raise StoreError(name, "holds a row that is of no step", "the run was changed or damaged")
    return table


def completions(rows: Any) -> SeriesTable:
    """The completions per second of such a table."""
    step, count, second, moved = (numbers(rows[name]) for name in ("step", "io_count", "second", "bytes"))
    direction = direction_places(rows["direction"]).astype("int8")
    return SeriesTable(step=step, io_count=count, second=second, direction=direction, byte_count=moved)


def with_series(steps: Sequence[StepRecord], rows: Any) -> tuple[StepRecord, ...]:
    """The same steps with the seconds of such a table."""
    columns = rows.to_pydict()
    result: dict[tuple[int, str], list[tuple[int, ...]]] = defaultdict(list)
    for step, direction, *values in zip(*(columns[column] for column in _READ), strict=True):
        result[step, direction].append(tuple(values))
    return tuple(
        replace(
            step,
            read=_filled(step.read, result[index, "read"]),
            write=_filled(step.write, result[index, "write"]),
            other=None if step.other is None else _filled(step.other, result[index, "other"]),
        )
        for index, step in enumerate(steps)
    )


def _filled(side: DirectionRecord, seconds: Sequence[tuple[int, ...]]) -> DirectionRecord:
    counts, moved, sums, largest = zip(*seconds, strict=True) if seconds else ((), (), (), ())
    return replace(
        side,
        series_io_count=counts,
        series_bytes=moved,
        series_latency_ns_sum=sums,
        series_latency_ns_max=largest,
    )
