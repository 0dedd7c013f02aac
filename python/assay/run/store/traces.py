"""The completions of a sequence that a run folder keeps."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.errors import StoreError
from assay.run.store.tables import check_accounted, numbers
from assay.spec.files import open_inside

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from assay.engine.records import Stage, StepRecord

TRACES = "traces"

_TYPES = {
    "at_ns": "int64",
    "latency_ns": "int64",
    "operation": "int32",
    "step": "int32",
    "offset_bytes": "int64",
    "length_bytes": "int32",
}
# The engine writes a million rows and more, up to a chunk, as one group.
_GROUP_ROWS_MAX, _GROUP_BYTES_MAX = 1 << 24, 1 << 29


def trace_name(taken: Counter[str], test: str, stage: Stage, index: int) -> str:
    """Name the trace of the next sequence, in the order they run; ``taken`` counts those of one name.

    Worked: round 3 of the IOPS test -> ``iops-round-0003.parquet``; the second of a name ends in ``-2.parquet``.
    """
    name = f"{test}-{stage}-{index:04}"
    taken[name] += 1
    return f"{name}{f'-{taken[name]}' if taken[name] > 1 else ''}.parquet"


@contextmanager
def opened_trace(folder: Path, name: str) -> Iterator[Any]:
    """A trace as pyarrow's ParquetFile, once what it says of itself has been looked at.

    Raises StoreError where it is no trace, cannot be read, or would take too much memory.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    path = str(folder / name)
    try:
        with os.fdopen(open_inside(folder, name), "rb") as source:
            check_accounted(source)
            with pq.ParquetFile(source) as file:
                if fault := _fault(file):
                    raise StoreError(path, fault, "the run was changed or damaged")
                yield file
    except (OSError, pa.ArrowException, ValueError, MemoryError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        reason = f"cannot be read: {reason or 'it is not a Parquet file, or is damaged'}"
        raise StoreError(path, reason, "the run is damaged; remove the trace") from None


def latency_reader(
    folder: Path, name: str, steps: Sequence[StepRecord]
) -> Callable[[int], Iterator[NDArray[np.int64]]]:
    """What reads the response times in ns of what one step issued in its window, block by block.

    steps : of the sequence, in order.
    """
    return partial(_latencies, folder, name, [step.start_ns for step in steps])


def window_latencies(
    folder: Path, name: str, opened_ns: Sequence[int]
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Steps and response times in ns of the I/Os that were issued in the windows of their steps, block by block.

    opened_ns : where the window of each step opened. Raises StoreError as ``opened_trace``.
    """
    import numpy as np  # noqa: PLC0415 - with pyarrow, which is slow to import

    with opened_trace(folder, name) as file:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=["at_ns", "latency_ns", "step"])
            latency_ns, steps = numbers(rows["latency_ns"]), numbers(rows["step"])
            inside = numbers(rows["at_ns"]) - latency_ns >= np.asarray(opened_ns)[steps]
            yield steps[inside], latency_ns[inside]


def _latencies(folder: Path, name: str, opened_ns: Sequence[int], step: int) -> Iterator[NDArray[np.int64]]:
    for steps, latency_ns in window_latencies(folder, name, opened_ns):
        yield latency_ns[steps == step]


def _fault(file: Any) -> str | None:
    """Why a file is no trace that can be read; None where it is one."""
    result = {name: str(file.schema_arrow.field(name).type) for name in file.schema_arrow.names}
    if result not in (_TYPES, {name: kind for name, kind in _TYPES.items() if "_bytes" not in name}):
        return "has not the columns of a trace"
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    if any(not 0 <= group.num_rows <= _GROUP_ROWS_MAX or group.total_byte_size > _GROUP_BYTES_MAX for group in groups):
        return "has a group of rows that is larger than those that are written"
    return None
