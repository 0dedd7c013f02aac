"""The file of I/Os that a sequence issues again: written in batches, read by the engine and for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.errors import StoreError
from assay.workloads.traces.records import BATCH_ROWS, FLUSH, OPERATIONS, TRIM, Batch

if TYPE_CHECKING:
    import io
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

COLUMNS = ("due_ns", "operation", "offset_bytes", "length_bytes")
TRIM_BYTES_MAX = 1 << 30
"""Larger trims are issued as several of at most this size, all of them due at once. Captures keep sizes in 31 bits."""
_TYPES = {"due_ns": "int64", "operation": "int32", "offset_bytes": "int64", "length_bytes": "int64"}
_GROUP_BYTES_MAX = 1 << 29


def write_replay(path: Path, batches: Iterable[Batch]) -> int:
    """Write the I/Os in their order, times being due times in ns from the opening of the window; returns their count.

    Raises StoreError where the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in _TYPES.items()])
    count = 0
    try:
        with pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=["operation", "length_bytes"],
            column_encoding={"due_ns": "DELTA_BINARY_PACKED", "offset_bytes": "PLAIN"},
        ) as file:
            for batch in batches:
                columns = (batch.time_ns, batch.operation.astype(np.int32), batch.offset_bytes, batch.length_bytes)
                file.write_table(pa.table(dict(zip(COLUMNS, columns, strict=True)), schema=schema))
                count += len(batch)
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise StoreError(str(path), reason, "free space or name another run folder") from None
    return count


def issued(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The I/Os as they are issued: none of no bytes but flushes, and no trim that is too large for one command.

    Worked: a trim of 2.5 GiB is issued as three, of 1, 1 and 0.5 GiB.
    """
    for batch in batches:
        yield _issued(batch)


def _issued(batch: Batch) -> Batch:
    kept = batch.taken((batch.length_bytes > 0) | (batch.operation == FLUSH))
    pieces = np.where(kept.operation == TRIM, -(-kept.length_bytes // TRIM_BYTES_MAX), 1)
    if not len(kept) or pieces.max() <= 1:
        return kept
    source = np.repeat(np.arange(len(kept)), pieces)
    nth = np.arange(len(source)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    parts = kept.taken(source)
    start = nth * TRIM_BYTES_MAX * (parts.operation == TRIM)
    length = np.where(
        parts.operation == TRIM, np.minimum(parts.length_bytes - start, TRIM_BYTES_MAX), parts.length_bytes
    )
    return Batch(parts.time_ns, parts.operation, parts.offset_bytes + start, length)


def read_replay(source: Path | io.BufferedIOBase, name: str) -> Iterator[Batch]:
    """The I/Os of such a file, batch by batch. name : of the file, for messages.

    Raises StoreError where it is none, or damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(source) as file:
            result = {field.name: str(field.type) for field in file.schema_arrow}
            groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
            if result != _TYPES or any(group.total_byte_size > _GROUP_BYTES_MAX for group in groups):
                raise StoreError(name, "has not the form of a replay", "the run was changed or damaged")
            for rows in file.iter_batches(BATCH_ROWS, use_threads=False):
                yield _batch(*(rows[column].to_numpy(zero_copy_only=False) for column in COLUMNS))
    except (OSError, pa.ArrowException, ValueError, MemoryError):
        raise StoreError(
            name, "cannot be read: it is not a Parquet file, or is damaged", "the run is damaged"
        ) from None


def _batch(
    due_ns: NDArray[np.int64], operation: NDArray[np.int32], offset: NDArray[np.int64], length: NDArray[np.int64]
) -> Batch:
    return Batch(due_ns, operation.astype(np.uint8), offset, length)


def replay_fault(batches: Iterable[Batch], capacity_bytes: int) -> str | None:
    """What is wrong with the I/Os of such a file; None where nothing is."""
    last_ns = 0
    for batch in batches:
        if not len(batch):
            continue
        end = batch.offset_bytes + batch.length_bytes
        empty = (batch.length_bytes == 0) & (batch.operation != FLUSH)
        if (batch.operation >= len(OPERATIONS)).any() or empty.any():
            return "holds an I/O of no operation or no bytes"
        if (batch.offset_bytes < 0).any() or (batch.length_bytes < 0).any() or end.max() > capacity_bytes:
            return "holds an I/O that is not on the drive"
        times = np.concatenate([[last_ns], batch.time_ns])
        if (np.diff(times) < 0).any():
            return "holds an I/O that is due before its predecessor"
        last_ns = int(times[-1])
    return None


def at_speed(batches: Iterable[Batch], speed: float) -> Iterator[Batch]:
    """The same I/Os at another speed. Worked: at 2.0 an I/O of 10 us is due at 5 us."""
    for batch in batches:
        due_ns = batch.time_ns if speed == 1 else np.asarray(batch.time_ns / speed, np.int64)
        yield Batch(due_ns, batch.operation, batch.offset_bytes, batch.length_bytes)
