"""Completions in every second of a step, from the series of its sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.lazy import LazyModule
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    import numpy as np

    from assay.engine.records import StoredSequence
else:
    np = LazyModule("numpy")


def completions_per_second(sequence: StoredSequence, index: int) -> tuple[float, ...]:
    """Completions in each whole second of the window of a step; empty where the series was not read.

    index : of the step in its sequence, from 0. The last second may be cut short and is left out.
    Worked: a window of 2.5 s -> two values.
    """
    table, whole = sequence.series, sequence.steps[index].span_ns // SECOND_NS
    if table is None or table.second is None or not whole:
        return ()
    own = (table.step == index) & (table.second < whole)
    counts = np.bincount(table.second[own].astype(np.int64), table.io_count[own].astype(np.float64), whole)
    return tuple(counts.tolist())
