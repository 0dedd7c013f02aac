"""The completions of a program that a run folder keeps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assay.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from assay.records import Phase

TRACES = "traces"


def trace_name(test: str, phase: Phase, index: int) -> str:
    """Name of the trace of a program. Worked: ``"dirth-oltp-point-0001"``."""
    return f"{test}-{phase}-{index:04}"


def latency_reader(folder: Path, name: str) -> Callable[[int], Iterator[NDArray[np.int64]]] | None:
    """What reads the response times in ns of one step of a trace, block by block; None where there is no trace."""
    path = folder / TRACES / f"{name}.parquet"
    return partial(_latencies, path) if path.exists() else None


def _latencies(path: Path, step: int) -> Iterator[NDArray[np.int64]]:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=["latency_ns", "step"])
                yield rows["latency_ns"].to_numpy()[rows["step"].to_numpy() == step]
    except (OSError, pa.ArrowException) as error:
        raise StoreError(str(path), f"cannot be read ({error})", "the run is damaged; remove the trace") from None
