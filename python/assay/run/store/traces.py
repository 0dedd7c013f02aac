"""The completions of a sequence that a run folder keeps, what they sum up to, and the I/Os that it issued again."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.engine.records import TraceSummary
from assay.errors import StoreError
from assay.run.store.tables import check_accounted, numbers
from assay.spec.files import open_inside
from assay.spec.lazy import LazyModule
from assay.spec.units import KIB, TRANSFER_BYTES_MAX
from assay.workloads.traces.records import WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from assay.engine.records import StepRecord
    from assay.workloads.traces import Batch
else:
    np = LazyModule("numpy")


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


_CELLS_MAX = 1 << 26
_BATCH_ROWS = 1 << 18
_FOLLOWED_MAX = 1 << 22


def trace_summary(
    folder: Path, name: str, *, step_count: int, capacity_bytes: int, in_order: AbstractSet[int] = frozenset()
) -> TraceSummary:
    """Sum up the captured completions of one sequence.

    Trims and flushes are counted, and neither their sizes nor their places.
    folder, name : of the Parquet file. step_count : steps of the sequence. capacity_bytes : of the drive.
    in_order : steps whose successors are counted, among their first four million captured I/Os.
    Places are kept on a grid of 4 KiB, or of a multiple where that would be more than 67 million cells.
    Raises StoreError where the file cannot be read, or names a step or place that there is not.
    Worked: I/Os of 4 KiB at 0, 4096 and again 0 touch 8,192 bytes.
    """
    grid = grid_bytes(capacity_bytes)
    touched = np.zeros(-(-capacity_bytes // grid), dtype=np.bool_)
    sizes: list[dict[int, int]] = [{} for _ in range(step_count)]
    counts = np.zeros(step_count, dtype=np.int64)
    followed = {step: _Followed() for step in in_order}
    with opened_trace(folder, name) as file:
        addressed = "offset_bytes" in file.schema_arrow.names
        columns = ["step", "operation", *(["offset_bytes", "length_bytes"] if addressed else [])]
        for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
            steps, operations, *places = (batch[name].to_numpy(zero_copy_only=False) for name in columns)
            moving = operations <= WRITE
            if not _are_inside(steps, moving, places, step_count, capacity_bytes):
                reason = "holds an I/O of no step, or outside the drive"
                raise StoreError(str(folder / name), reason, "the run was changed or damaged")
            counts += np.bincount(steps.astype(np.int64), minlength=step_count)
            if addressed:
                _count_sizes(sizes, steps[moving], places[1][moving])
                _touch(touched, grid, *(place[moving] for place in places))
                for step, result in followed.items():
                    result.add(*(place[moving & (steps == step)] for place in places))
    return TraceSummary(
        io_counts=tuple(counts.tolist()),
        sizes=tuple(tuple(sorted(size.items())) for size in sizes) if addressed else (),
        touched_bytes=int(touched.sum()) * grid if addressed else None,
        grid_bytes=grid,
        successors=tuple(followed[step].counts if step in followed else None for step in range(step_count)),
    )


class _Followed:
    """Starts and ends of a step's I/Os, of as many as fit into little memory."""

    def __init__(self) -> None:
        self._places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._count = 0

    def add(self, offsets: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        left = _FOLLOWED_MAX - self._count
        starts = offsets[:left].astype(np.int64)
        self._count += len(starts)
        self._places.append((starts, starts + lengths[:left].astype(np.int64)))

    @property
    def counts(self) -> tuple[int, int]:
        """I/Os that begin where another ended, whichever came first, and all I/Os."""
        if not self._places:
            return 0, 0
        starts, ends = (np.concatenate(part) for part in zip(*self._places, strict=True))
        return int(np.isin(starts, ends).sum()), len(starts)


def grid_bytes(capacity_bytes: int) -> int:
    """The grid on which touched places are kept. Worked: 256 GB -> 4096, 1 TB -> 16384."""
    grid = 4 * KIB
    while capacity_bytes // grid > _CELLS_MAX:
        grid *= 2
    return grid


def _are_inside(
    steps: NDArray[np.generic],
    moving: NDArray[np.bool_],
    places: list[NDArray[np.int64]],
    step_count: int,
    capacity_bytes: int,
) -> bool:
    """Whether all I/Os are of the sequence's steps and on the drive, reads and writes of at most 64 MiB each."""
    known = steps.astype(np.float64)
    if not ((known >= 0) & (known < step_count)).all():
        return False
    if not places:
        return True
    offsets, lengths = (place.astype(np.float64) for place in places)
    on_drive = (offsets >= 0) & (offsets + lengths <= capacity_bytes)
    sized = ~moving | ((lengths > 0) & (lengths <= TRANSFER_BYTES_MAX))
    return bool((on_drive & (lengths >= 0) & sized).all())


def _count_sizes(sizes: list[dict[int, int]], steps: NDArray[np.generic], lengths: NDArray[np.int64]) -> None:
    for step in np.unique(steps).tolist():
        for size, count in zip(*np.unique(lengths[steps == step], return_counts=True), strict=True):
            sizes[step][int(size)] = sizes[step].get(int(size), 0) + int(count)


def _touch(touched: NDArray[np.bool_], grid: int, offsets: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
    for size in np.unique(lengths).tolist():
        start = offsets[lengths == size].astype(np.int64)
        first, last = start // grid, (start + size - 1) // grid
        for nth in range(int((last - first).max()) + 1):
            touched[np.minimum(first + nth, last)] = True


def replayed_ios(folder: Path, name: str) -> Iterator[Batch]:
    """The I/Os of a file of the folder ``replays``, batch by batch; times are due times from the opening of the window.

    Raises StoreError where it cannot be read, or has another form.
    """
    # With numpy and pyarrow, which are slow to import.
    from assay.workloads.traces import read_replay  # noqa: PLC0415

    path = str(folder / name)
    try:
        source = os.fdopen(open_inside(folder, name), "rb")
    except OSError as error:
        raise StoreError(path, error.strerror or "cannot be read", "the run is damaged") from None
    with source:
        yield from read_replay(source, path)
