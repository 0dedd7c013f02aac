"""The per-second series of stored steps, put back from their table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.records import DirectionRecord, StepRecord

_COLUMNS = ("io_count", "bytes", "latency_ns_sum", "latency_ns_max")


def with_series(steps: Sequence[StepRecord], content: bytes) -> tuple[StepRecord, ...]:
    """The same steps with the series that ``series_table`` wrote of them."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns = pq.read_table(pa.BufferReader(content)).to_pydict()
    found: dict[tuple[int, str], list[tuple[int, ...]]] = defaultdict(list)
    for step, direction, *values in zip(*(columns[name] for name in ("step", "direction", *_COLUMNS)), strict=True):
        found[step, direction].append(tuple(values))
    return tuple(
        replace(step, read=_filled(step.read, found[index, "read"]), write=_filled(step.write, found[index, "write"]))
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
