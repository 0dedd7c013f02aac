"""Per-second series and response-time histograms of one program, as Parquet."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from assay.records import HistogramTable, SeriesTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.records import DirectionRecord, StepRecord


def warm_up() -> None:
    """Load what writing a table needs, so that the first one does not wait for it."""
    _parquet(("step",), [])


def series_table(steps: Sequence[StepRecord]) -> bytes:
    """Rows (step, direction, second, io_count, bytes, latency_ns_sum, latency_ns_max) as a Parquet file.

    step : index in the program. second : 0 is the first second of the step's window.
    """
    names = ("step", "direction", "second", "io_count", "bytes", "latency_ns_sum", "latency_ns_max")
    rows = [
        (index, name, second, *values)
        for index, name, direction in _directions(steps)
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
    return _parquet(names, rows)


def histogram_table(steps: Sequence[StepRecord]) -> bytes:
    """Rows (step, direction, bucket, count) as a Parquet file; buckets as in ``DirectionRecord``."""
    return _counts([[step.read.histogram, step.write.histogram] for step in steps])


def intended_table(steps: Sequence[StepRecord]) -> bytes | None:
    """The same from when the I/Os were due; None where no step states a rate of arrivals."""
    if all(step.offered_io_count is None for step in steps):
        return None
    return _counts([[step.read.intended_histogram, step.write.intended_histogram] for step in steps])


def lead_in_table(steps: Sequence[StepRecord]) -> bytes | None:
    """The same of the I/Os issued before the windows opened; None where there are none."""
    found = [[step.read.lead_in_histogram, step.write.lead_in_histogram] for step in steps]
    return _counts(found) if any(map(any, found)) else None


def read_series(content: bytes) -> SeriesTable:
    """The completions per second of a table that ``series_table`` wrote."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pq.read_table(pa.BufferReader(content), columns=["step", "io_count"])
    return SeriesTable(step=table["step"].to_numpy(), io_count=table["io_count"].to_numpy())


def read_histograms(content: bytes) -> HistogramTable:
    """The columns of a histogram table that ``histogram_table`` wrote."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pq.read_table(pa.BufferReader(content))
    return HistogramTable(
        step=table["step"].to_numpy(),
        write=pc.equal(table["direction"], "write").to_numpy(),
        bucket=table["bucket"].to_numpy(),
        count=table["count"].to_numpy(),
    )


def _counts(steps: Sequence[Sequence[tuple[tuple[int, int], ...]]]) -> bytes:
    rows = [
        (index, name, bucket, count)
        for index, histograms in enumerate(steps)
        for name, histogram in zip(("read", "write"), histograms, strict=True)
        for bucket, count in histogram
    ]
    return _parquet(("step", "direction", "bucket", "count"), rows)


def _directions(steps: Sequence[StepRecord]) -> list[tuple[int, str, DirectionRecord]]:
    return [
        (index, name, direction)
        for index, step in enumerate(steps)
        for name, direction in (("read", step.read), ("write", step.write))
    ]


def _parquet(names: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - slow to import, needed on the writer thread only
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    types = [pa.string() if name == "direction" else pa.uint64() for name in names]
    arrays = [pa.array(column, type=kind) for column, kind in zip(columns, types, strict=True)]
    buffer = io.BytesIO()
    pq.write_table(pa.table(arrays, names=list(names)), buffer, compression="zstd")
    return buffer.getvalue()
