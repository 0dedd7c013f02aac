"""Columns of stored tables become arrays of numpy without pandas, which is slow to import where it is installed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
from assay.run.store.tables import histogram_table, numbers, read_histograms
from report_run import TRACKED, synthetic_step

_PROGRAM = """
import sys
from pathlib import Path
from assay.run.store.tables import read_histograms
read_histograms(sys.stdin.buffer.read(), step_count=1, name="x")
assert "pandas" not in sys.modules
"""


def test_a_column_in_parts_is_one_array() -> None:
    parts = [pa.array([1, 2], pa.uint64()), pa.array([3], pa.uint64())]
    assert numbers(pa.chunked_array(parts)).tolist() == [1, 2, 3]
    assert numbers(pa.chunked_array([], pa.uint64())).tolist() == []


def test_a_histogram_is_read_as_it_was_written_without_pandas() -> None:
    step = synthetic_step(TRACKED, 1000)
    content = histogram_table([replace(step, write=replace(step.write, histogram=((100, 5), (200, 7))))])
    found = read_histograms(content, step_count=1, name="x")
    assert (found.direction.dtype, found.direction.tolist()) == (np.int8, [1, 1])
    assert (found.bucket.tolist(), found.count.tolist()) == ([100, 200], [5, 7])
    subprocess.run([sys.executable, "-c", _PROGRAM], input=content, check=True)
