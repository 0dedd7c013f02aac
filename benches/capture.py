"""What it costs to keep every completion: the null device with and without a capture, in alternating runs.

Goal: rate with over rate without, bytes per I/O on disk, the memory taken, and completions lost, at the full rate of
one thread at queue depth 32. Non-goal: a drive. ``--smoke`` captures one million completions, ``--count N`` N million.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Capture, Stimulus
from assay.results.step import completed_count

PAIRS = 5
MILLION = 1_000_000


def main() -> None:
    """Print the cost of alternating pairs, then of one long capture."""
    smoke = "--smoke" in sys.argv
    count = int(sys.argv[sys.argv.index("--count") + 1]) * MILLION if "--count" in sys.argv else 300 * MILLION
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.parquet"
        each, repeats = (MILLION, 1) if smoke else (20 * MILLION, PAIRS)
        pairs = [(rate(run(each)), rate(run(each, Path(folder) / f"{turn}.parquet"))) for turn in range(repeats)]
        shares = [captured / plain for plain, captured in pairs]
        spread = f"{min(shares):.3f} to {max(shares):.3f}"
        print(f"rate with capture over without: median {statistics.median(shares):.3f}, {spread}")
        record = run(MILLION if smoke else count, path)
        rows, size = pq.read_metadata(path).num_rows, path.stat().st_size
    kept = completed_count(record)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{rows / MILLION:.0f} M of {kept / MILLION:.0f} M completions at {rate(record) / MILLION:.2f} M/s:")
    print(f"{size / rows:.2f} bytes per I/O, {megabytes:.0f} MB of memory in all")


def run(count: int, path: Path | None = None) -> StepRecord:
    """One step of so many reads on the null device."""
    step = StepSpec(
        label="null",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=32),
        active_range=leading_range(1 << 30),
        stop=StopRule(io_count=count),
    )
    with Stimulus.null(seed=1) as stimulus:
        return stimulus.run([step], None, Capture(path=path) if path else None)[0]


def rate(record: StepRecord) -> float:
    """Completions per second."""
    return record.read.window_io_count / record.span_ns * 1e9


if __name__ == "__main__":
    main()
