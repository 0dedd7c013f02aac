"""Our own captures: the Parquet files that a run folder keeps of every completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import StoreError, UsageError
from assay.workloads.traces.records import BATCH_ROWS, OPERATIONS, Batch
from assay.workloads.traces.text import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAGIC = b"PAR1"

_TYPES = {
    "at_ns": "int64",
    "latency_ns": "int64",
    "operation": "int32",
    "offset_bytes": "int64",
    "length_bytes": "int32",
}
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
                for rows in file.iter_batches(BATCH_ROWS, columns=list(_TYPES), use_threads=False):
                    yield _batch(path, row, rows)
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
    if any(result.get(name) != kind for name, kind in _TYPES.items()):
        reason = f"has not the columns {', '.join(_TYPES)} of a capture"
        raise UsageError(str(path), reason, "name a file of the folder traces of a run")
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    if any(not 0 <= group.num_rows <= _GROUP_ROWS_MAX or group.total_byte_size > _GROUP_BYTES_MAX for group in groups):
        raise StoreError(str(path), "has a group of rows that is larger than those that are written", "copy it anew")


def _batch(path: Path, row: int, rows: Any) -> Batch:
    if any(rows[name].null_count for name in _TYPES):
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
