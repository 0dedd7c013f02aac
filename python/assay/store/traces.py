"""The completions of a program that a run folder keeps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assay.errors import StoreError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from assay.records import Phase, StepRecord

TRACES = "traces"


def trace_name(taken: Counter[str], test: str, phase: Phase, index: int) -> str:
    """Name the trace of the next program, in the order they run; ``taken`` counts those of one name.

    Worked: round 3 of the IOPS test -> ``iops-round-0003.parquet``; the second of a name ends in ``-2.parquet``.
    """
    name = f"{test}-{phase}-{index:04}"
    taken[name] += 1
    return f"{name}{f'-{taken[name]}' if taken[name] > 1 else ''}.parquet"


def latency_reader(path: Path, steps: Sequence[StepRecord]) -> Callable[[int], Iterator[NDArray[np.int64]]] | None:
    """What reads the response times in ns of what one step issued in its window, block by block.

    steps : of the program, in order. None where there is no trace.
    """
    return partial(_latencies, path, [step.start_ns for step in steps]) if path.exists() else None


def _latencies(path: Path, opened_ns: Sequence[int], step: int) -> Iterator[NDArray[np.int64]]:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=["at_ns", "latency_ns", "step"])
                latency_ns = rows["latency_ns"].to_numpy()
                issued_ns = rows["at_ns"].to_numpy() - latency_ns
                yield latency_ns[(rows["step"].to_numpy() == step) & (issued_ns >= opened_ns[step])]
    except (OSError, pa.ArrowException) as error:
        raise StoreError(str(path), f"cannot be read ({error})", "the run is damaged; remove the trace") from None
