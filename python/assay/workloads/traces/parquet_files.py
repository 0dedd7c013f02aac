"""Parquet files of I/Os of our own: captures of a run, and what a sequence issues again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.errors import StoreError, UsageError
from assay.spec.lazy import LazyModule
from assay.workloads.traces.records import BATCH_ROWS, FLUSH, OPERATIONS, Batch
from assay.workloads.traces.text import opened

if TYPE_CHECKING:
    import io
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import numpy as np
else:
    np = LazyModule("numpy")


MAGIC = b"PAR1"

_CAPTURE_TYPES = {
    "at_ns": "int64",
    "latency_ns": "int64",
    "operation": "int32",
    "offset_bytes": "int64",
    "length_bytes": "int32",
}
_REPLAY_TYPES = {"due_ns": "int64", "operation": "int32", "offset_bytes": "int64", "length_bytes": "int64"}
# As the engine writes them.
_GROUP_ROWS_MAX, _GROUP_BYTES_MAX = 1 << 24, 1 << 29
_BUFFER_BYTES = 1 << 20


def capture_batches(path: Path) -> Iterator[Batch]:
    """The I/Os of a capture with the times at which they were issued, in the order of the file.

    Raises UsageError where it is no capture with addresses, StoreError where it is damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    row = 0
    with opened(path) as source:
        try:
            with pq.ParquetFile(source, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
                _check(path, file)
                for rows in file.iter_batches(BATCH_ROWS, columns=list(_CAPTURE_TYPES), use_threads=False):
                    yield _capture_batch(path, row, rows)
                    row += rows.num_rows
        except (OSError, pa.ArrowException, ValueError, MemoryError):
            raise StoreError(
                str(path), f"cannot be read after row {row}", "the file is damaged; copy it anew"
            ) from None


def _check(path: Path, file: Any) -> None:
    schema = file.schema_arrow
    result = {name: str(schema.field(name).type) for name in schema.names}
    if "at_ns" in result and "offset_bytes" not in result:
        raise UsageError(str(path), "was captured without addresses", "run again with --capture addresses")
    if any(result.get(name) != kind for name, kind in _CAPTURE_TYPES.items()):
        reason = f"has not the columns {', '.join(_CAPTURE_TYPES)} of a capture"
        raise UsageError(str(path), reason, "name a file of the folder traces of a run")
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    if any(not 0 <= group.num_rows <= _GROUP_ROWS_MAX or group.total_byte_size > _GROUP_BYTES_MAX for group in groups):
        raise StoreError(str(path), "has a group of rows that is larger than those that are written", "copy it anew")


def _capture_batch(path: Path, row: int, rows: Any) -> Batch:
    if any(rows[name].null_count for name in _CAPTURE_TYPES):
        raise StoreError(str(path), f"has rows without values after row {row}", "the file is damaged; copy it anew")
    at_ns, latency_ns, offset = (rows[name].to_numpy() for name in ("at_ns", "latency_ns", "offset_bytes"))
    length = rows["length_bytes"].to_numpy().astype(np.int64)
    operation = rows["operation"].to_numpy()
    known = (operation >= 0) & (operation < len(OPERATIONS))
    wrong = ~known | (latency_ns < 0) | (offset < 0) | (length < 0) | (at_ns < latency_ns)
    if wrong.any():
        place = row + int(np.argmax(wrong))
        raise StoreError(
            f"{path}, row {place}", "has an unknown operation, or a negative time, offset or size", "copy the file anew"
        )
    return Batch(at_ns - latency_ns, operation.astype(np.uint8), offset, length)


def write_replay(path: Path, batches: Iterable[Batch]) -> int:
    """Write a replay: I/Os in their order, with due times in ns from the opening of the window. Returns their count.

    Raises StoreError where the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in _REPLAY_TYPES.items()])
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
                file.write_table(pa.table(dict(zip(_REPLAY_TYPES, columns, strict=True)), schema=schema))
                count += len(batch)
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise StoreError(str(path), reason, "free space or name another run folder") from None
    return count


def read_replay(source: Path | io.BufferedIOBase, name: str) -> Iterator[Batch]:
    """The I/Os of a replay, batch by batch. name : of the file, for messages.

    Raises StoreError where it is none, or damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(source) as file:
            result = {field.name: str(field.type) for field in file.schema_arrow}
            groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
            if result != _REPLAY_TYPES or any(group.total_byte_size > _GROUP_BYTES_MAX for group in groups):
                raise StoreError(name, "has not the form of a replay", "the run was changed or damaged")
            for rows in file.iter_batches(BATCH_ROWS, use_threads=False):
                due_ns, operation, *place = (rows[name].to_numpy(zero_copy_only=False) for name in _REPLAY_TYPES)
                yield Batch(due_ns, operation.astype(np.uint8), *place)
    except (OSError, pa.ArrowException, ValueError, MemoryError):
        raise StoreError(
            name, "cannot be read: it is not a Parquet file, or is damaged", "the run is damaged"
        ) from None


def replay_fault(batches: Iterable[Batch], capacity_bytes: int) -> str | None:
    """What is wrong with the I/Os of a replay; None where nothing is."""
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
