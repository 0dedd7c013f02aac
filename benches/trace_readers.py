"""How fast traces are read and how much memory that takes, each form in a process of its own.

Goal: I/Os per second from the file to the facts of its stream map, and the largest memory, which stays under 300 MB
with 10 million I/Os. Non-goal: the disk. ``--smoke`` reads 200,000 I/Os, ``--count N`` N million. Times of the traces
are out of order over a few I/Os, as those of several CPUs are.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from assay.workloads import traces
from synthetic_traces import PART, parts, write_blktrace

if TYPE_CHECKING:
    from collections.abc import Callable


MILLION = 1_000_000
BYTES_MAX = 300_000_000


def main() -> None:
    """Write a trace of each form, read it, and print the facts."""
    if "--read" in sys.argv:
        read(Path(sys.argv[sys.argv.index("--read") + 1]))
        return
    count = int(sys.argv[sys.argv.index("--count") + 1]) * MILLION if "--count" in sys.argv else 10 * MILLION
    count = 2 * PART if "--smoke" in sys.argv else count
    for form, write in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace"
            write(path, count)
            command = [sys.executable, __file__, "--read", str(path)]
            # Where what is shared by benchmarks is found.
            places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=places)
            found, seconds, memory, outcome = done.stdout.split()
        if int(found) != count or int(memory) >= BYTES_MAX:
            raise SystemExit(f"{form}: {found} of {count} I/Os, {memory} bytes of memory")
        rate = count / float(seconds) / MILLION
        print(f"{form}: {rate:.2f} M I/Os per s, {int(memory) / 1e6:.0f} MB of memory, outcome {outcome}")


def read(path: Path) -> None:
    """Print count, seconds, bytes of memory and a number that all facts enter."""
    begun = time.perf_counter()
    found = traces.stream_map(traces.open_trace(path))
    seconds = time.perf_counter() - begun
    # What getrusage says is not less than what the parent had when it started this process.
    status = Path("/proc/self/status").read_text("ascii", "replace")
    memory = int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) * 1024
    outcome = found.footprint_bytes + found.span_ns + sum(found.sequential_count.values())
    print(found.total_count, seconds, memory, outcome)


def write_csv(path: Path, count: int) -> None:
    """Alibaba's form."""
    with path.open("w", encoding="ascii") as file:
        for times, sectors, writes in parts(count):
            for at, sector, is_write in zip(times.tolist(), sectors.tolist(), writes.tolist(), strict=True):
                file.write(f"1,{'W' if is_write else 'R'},{sector * 512},4096,{at}\n")


def write_iolog(path: Path, count: int) -> None:
    """Version 3 of fio's log."""
    with path.open("w", encoding="ascii") as file:
        file.write("fio version 3 iolog\n0 x add\n0 x open\n")
        for times, sectors, writes in parts(count):
            for at, sector, is_write in zip(times.tolist(), sectors.tolist(), writes.tolist(), strict=True):
                file.write(f"{at} x {'write' if is_write else 'read'} {sector * 512} 4096\n")


def write_capture(path: Path, count: int) -> None:
    """As the engine keeps completions."""
    names = ("at_ns", "latency_ns", "operation", "step", "offset_bytes", "length_bytes")
    kinds = (pa.int64(), pa.int64(), pa.int32(), pa.int32(), pa.int64(), pa.int32())
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with pq.ParquetWriter(path, schema) as file:
        for times, sectors, writes in parts(count):
            ones = np.ones(PART, np.int32)
            columns = (times * 1000 + 90_000, times % 7, writes.astype(np.int32), ones, sectors * 512, ones * 4096)
            file.write_table(pa.table([pa.array(column) for column in columns], schema=schema), row_group_size=MILLION)


FORMS: dict[str, Callable[[Path, int], None]] = {
    "CSV": write_csv,
    "iolog": write_iolog,
    "blktrace": write_blktrace,
    "capture": write_capture,
}

if __name__ == "__main__":
    main()
