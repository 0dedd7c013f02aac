"""Traces made up for benchmarks: random reads and writes of 4 KiB, a little out of order as several CPUs' are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

PART = 100_000
SEED = 1


def parts(count: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]]:
    """Times in us, sectors, and which are writes, some at a time."""
    draw = np.random.default_rng(SEED)
    for start in range(0, count, PART):
        times = np.arange(start, start + PART) * 10 + draw.integers(0, 100, PART)
        yield times, draw.integers(0, 1 << 31, PART) * 8, draw.random(PART) < 0.3  # noqa: PLR2004 - three of ten


def write_blktrace(path: Path, count: int) -> None:
    """Version 7, issued I/Os only."""
    kinds = [("magic", "<u4"), ("sequence", "<u4"), ("time", "<u8"), ("sector", "<u8"), ("bytes", "<u4")]
    kinds += [("action", "<u4"), ("pid", "<u4"), ("device", "<u4"), ("cpu", "<u4"), ("rest", "<u4")]
    with path.open("wb") as file:
        for times, sectors, writes in parts(count):
            records = np.zeros(PART, kinds)
            records["magic"], records["bytes"] = 0x65617407, 4096
            records["time"], records["sector"] = times * 1000, sectors
            records["action"] = 7 | np.where(writes, 2, 1) << 16
            file.write(records.tobytes())
