"""Per-second series and response-time histograms of one sequence, as Parquet: written, and read back."""

from __future__ import annotations

import errno
import io
import os
from collections import defaultdict
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from assay.engine.records import DIRECTIONS, HistogramTable, SeriesTable
from assay.errors import StoreError
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from assay.engine.records import DirectionRecord, Stage, StepRecord


SERIES, HISTOGRAMS, INTENDED, LEAD_INS, LATENESS = "series", "histograms", "intended", "lead-ins", "lateness"
"""Folders of the tables."""
REPLAYS = "replays"
"""Folder of the I/Os that sequences issued again, named by the journal as the tables are."""
TABLE_KINDS = (SERIES, HISTOGRAMS, INTENDED, LATENESS, LEAD_INS, REPLAYS)
"""Every folder of what the journal names with a digest."""
TABLE_NAME = rf"(?:{'|'.join(TABLE_KINDS)})/[0-9]{{6,12}}\.parquet"
"""Regular expression of the name of such a file below the run folder."""
BUCKET_COUNT = 32 * 512 + 1
"""Of a histogram: 512 to an octave up to 2^40 ns, and one for all that is longer."""
SERIES_COLUMNS = ("step", "direction", "second", "io_count", "bytes", "latency_ns_sum", "latency_ns_max")
_HISTOGRAM_COLUMNS = ("step", "direction", "bucket", "count")
# Of a value, whatever its form in the file, and of what a column has beside its values.
_VALUE_BYTES_MAX, _COLUMN_BYTES_MAX = 16, 1 << 16
_DAMAGED = "the run was changed or damaged"
# A step that ends late has begun a second that it was not set to.
_SECONDS_BEYOND = 2
_LOOKED_INTO_BYTES, _UNACCOUNTED_BYTES = 16 << 20, 1 << 20


def trace_name(taken: Counter[str], test: str, stage: Stage, index: int) -> str:
    """Name the trace of the next sequence, in the order they run; ``taken`` counts those of one name.

    Worked: round 3 of the IOPS test -> ``iops-round-0003.parquet``; the second of a name ends in ``-2.parquet``.
    """
    name = f"{test}-{stage}-{index:04}"
    taken[name] += 1
    return f"{name}{f'-{taken[name]}' if taken[name] > 1 else ''}.parquet"


def warm_up() -> None:
    """Load what writing a table needs, so that the first one does not wait for it."""
    _parquet(("step",), [])


def series_table(steps: Sequence[StepRecord]) -> bytes:
    """Rows (step, direction, second, io_count, bytes, latency_ns_sum, latency_ns_max) as a Parquet file.

    step : index in the sequence. second : 0 is the first second of the step's window.
    """
    rows = [
        (index, name, second, *values)
        for index, step in enumerate(steps)
        for name, direction in step.named_sides
        for second, values in enumerate(
            zip(
                direction.series_io_count,
                direction.series_bytes,
                direction.series_latency_ns_sum,
                direction.series_latency_ns_max,
                strict=True,
            )
        )
    ]
    return _parquet(SERIES_COLUMNS, rows)


def histogram_table(steps: Sequence[StepRecord], histogram: str = "histogram") -> bytes:
    """Rows (step, direction, bucket, count) as a Parquet file; buckets as in ``DirectionRecord``.

    histogram : the field of ``DirectionRecord``.
    """
    rows = [
        (index, name, bucket, count)
        for index, step in enumerate(steps)
        for name, direction in step.named_sides
        for bucket, count in getattr(direction, histogram)
    ]
    return _parquet(_HISTOGRAM_COLUMNS, rows)


def sequence_tables(steps: Sequence[StepRecord]) -> dict[str, bytes]:
    """Every table of a sequence by its folder.

    Response times from when I/Os were due, and how late those were issued, only where a step states a rate of arrivals;
    those of I/Os issued before the windows opened only where there are any.
    """
    histograms = {HISTOGRAMS: "histogram"}
    if any(step.offered_io_count is not None for step in steps):
        histograms |= {INTENDED: "intended_histogram", LATENESS: "late_histogram"}
    if any(side.lead_in_histogram for step in steps for side in step.sides):
        histograms[LEAD_INS] = "lead_in_histogram"
    return {SERIES: series_table(steps), **{kind: histogram_table(steps, name) for kind, name in histograms.items()}}


def read_histograms(content: bytes, *, step_count: int, name: str) -> HistogramTable:
    """The columns of a histogram table that ``histogram_table`` wrote.

    step_count : of its sequence. name : of the file, for messages.
    Raises StoreError where it is no such table, or larger than those steps can have made it.
    """
    import numpy as np  # noqa: PLC0415 - with pyarrow, which is slow to import

    table = read_table(content, _HISTOGRAM_COLUMNS, rows_max=len(DIRECTIONS) * BUCKET_COUNT * step_count, name=name)
    steps, buckets, counts = (numbers(table[column]) for column in ("step", "bucket", "count"))
    if table.num_rows and (steps.max() >= step_count or buckets.max() >= BUCKET_COUNT or counts.min() == 0):
        raise StoreError(name, "holds a row that is of no step or in no bucket", _DAMAGED)
    if counts.sum(dtype=np.float64) >= 1 << 62:
        raise StoreError(name, "counts more I/Os than a run can have", _DAMAGED)
    return HistogramTable(
        step=steps.astype(np.uint32),
        direction=direction_places(table["direction"]).astype(np.int8),
        bucket=buckets.astype(np.uint32),
        count=counts,
    )


def series_rows_max(steps: Sequence[StepRecord]) -> int:
    """How many rows the series of these steps can have."""
    return len(DIRECTIONS) * sum(step.span_ns // SECOND_NS + _SECONDS_BEYOND for step in steps)


def table_bytes_max(name: str, steps: Sequence[StepRecord]) -> int:
    """How large the file of a table of these steps can be: rows for their seconds, or for buckets that their I/Os fill.

    Worked: histograms of one step with 10 reads -> 10 rows of 4 values of 16 bytes, and 64 KiB a column: 262,784.
    """
    if name.startswith(f"{SERIES}/"):
        return _bytes_max(len(SERIES_COLUMNS), series_rows_max(steps))
    sides = (side for step in steps for side in step.sides)
    counts = (one.latency_io_count + one.lead_in_io_count + one.window_io_count + one.tail_io_count for one in sides)
    return _bytes_max(len(_HISTOGRAM_COLUMNS), sum(min(BUCKET_COUNT, count) for count in counts))


def check_accounted(file: IO[bytes]) -> None:
    """Raise OSError where a large Parquet file has more bytes than its footer accounts for: they may be TBs of nothing.

    file : at its begin, where it is left.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    if (size := os.fstat(file.fileno()).st_size) <= _LOOKED_INTO_BYTES:
        return
    try:
        with pq.ParquetFile(pa.PythonFile(file, "r")) as table:
            groups = [table.metadata.row_group(number) for number in range(table.metadata.num_row_groups)]
            columns = (group.column(number) for group in groups for number in range(group.num_columns))
            known = table.metadata.serialized_size + sum(column.total_compressed_size for column in columns)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        raise OSError(errno.EINVAL, "is no Parquet file, or is damaged") from None
    file.seek(0)
    # Beside its data such a file has an index of their pages.
    if not known <= size <= known + known // 8 + _UNACCOUNTED_BYTES:
        raise OSError(errno.EFBIG, f"has {size:,} bytes where its footer accounts for {known:,}")


def numbers(column: Any) -> Any:
    """A column of pyarrow without empty fields, as one array of numpy.

    Its own ``to_numpy`` imports pandas where that is installed, which takes as long as the pictures of a report.
    """
    import numpy as np  # noqa: PLC0415 - with pyarrow, which is slow to import

    return np.from_dlpack(column.combine_chunks())


def direction_places(directions: Any) -> Any:
    """The place in ``DIRECTIONS`` of each row, of a column whose texts are read as one each."""
    import numpy as np  # noqa: PLC0415 - with pyarrow, which is slow to import

    column = directions.combine_chunks()
    places = np.array([DIRECTIONS.index(text) for text in column.dictionary.to_pylist()], dtype=np.int64)
    return places[np.from_dlpack(column.indices)]


def read_table(content: bytes, columns: Sequence[str], *, rows_max: int, name: str) -> Any:
    """A table of these columns as pyarrow has it. What the file says of itself is looked at before its data are.

    columns : all unsigned integers, but ``direction``, which is one of ``DIRECTIONS``. rows_max : it may have.
    Raises StoreError naming ``name`` where it cannot be read, is another table, or would be larger.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            _check_sizes(file.metadata, rows_max, name)
            _check_columns(file.schema_arrow, columns, name)
            known = file.metadata
        # A text that repeats is read as one, whatever its length.
        with pq.ParquetFile(pa.BufferReader(content), metadata=known, read_dictionary=["direction"]) as file:
            # Small tables: handing them to threads takes longer than reading them.
            table = file.read(use_threads=False)
        empty = [column for column in columns if table[column].null_count]
        strange = [text for text in pc.unique(table["direction"]).to_pylist() if text not in DIRECTIONS]
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        raise StoreError(name, "cannot be read: it is not a Parquet file, or is damaged", _DAMAGED) from None
    if empty or strange:
        raise StoreError(name, "holds a row without a value or direction", _DAMAGED)
    return table


def _check_sizes(metadata: Any, rows_max: int, name: str) -> None:
    """Raise StoreError where a file says that it has more rows or bytes than it may."""
    if not 0 <= metadata.num_rows <= rows_max:
        raise StoreError(name, f"has {metadata.num_rows} rows where at most {rows_max} can be", _DAMAGED)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    rows, size = sum(group.num_rows for group in groups), sum(group.total_byte_size for group in groups)
    bytes_max = _bytes_max(metadata.num_columns, rows_max)
    if rows != metadata.num_rows or any(group.num_rows < 0 for group in groups) or not 0 <= size <= bytes_max:
        raise StoreError(name, f"has {size} bytes of data where at most {bytes_max} can be", _DAMAGED)


def _bytes_max(columns: int, rows: int) -> int:
    return columns * (rows * _VALUE_BYTES_MAX + _COLUMN_BYTES_MAX)


def _check_columns(schema: Any, columns: Sequence[str], name: str) -> None:
    result = {column: str(schema.field(column).type) for column in schema.names}
    wanted = {column: "uint64" for column in columns if column != "direction"}
    text = result.pop("direction", "")
    if result != wanted or len(schema.names) != len(columns) or "string" not in text:
        raise StoreError(name, f"has not the columns {', '.join(columns)}", _DAMAGED)


def _parquet(names: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - slow to import, needed on the writer thread only
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    types = [pa.string() if name == "direction" else pa.uint64() for name in names]
    arrays = [pa.array(column, type=kind) for column, kind in zip(columns, types, strict=True)]
    buffer = io.BytesIO()
    pq.write_table(pa.table(arrays, names=list(names)), buffer, compression="zstd")
    return buffer.getvalue()


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
    """Steps with the seconds of such a table filled in."""
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
