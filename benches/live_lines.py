"""What it costs the engine that its seconds are published and written to ``live.bin``, as a ratio.

Goal: a ratio of 1 within the noise of alternating pairs, on a device that answers at once (time of the wall) and on a
simulated drive (virtual time, many seconds a second); and the time of a reader and of a writer per line. Non-goal: a
rate of a drive. The device runs one thread at queue depth 32, the worst case: nothing but the engine takes time.
``--smoke`` takes one short pair.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.simulated.model import parse_simulated
from assay.engine.live import LivePoint, LiveSecond
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.run.store.live import LiveFile, LiveReader
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable

    Seconds = Callable[[list[LiveSecond]], None] | None

PAIRS, SPAN_S, IO_COUNT, LINES = 5, 4.0, 20_000_000, 20_000


def main() -> None:
    """Print a line for each engine, and one for the file."""
    smoke = "--smoke" in sys.argv
    pairs, span_s, io_count = (1, 1.2, 200_000) if smoke else (PAIRS, SPAN_S, IO_COUNT)
    for name, rate in (
        ("answers at once", lambda seconds: null_rate(span_s, seconds)),
        ("simulated", lambda seconds: simulated_rate(io_count, seconds)),
    ):
        print(f"{name}: I/Os with a live file / without: {ratio(rate, pairs)}")
    print(f"a line: {', '.join(f'{name} {us:.1f} us' for name, us in line_costs(100 if smoke else LINES).items())}")


def ratio(rate: Callable[[Seconds], float], pairs: int) -> str:
    """Median over pairs that alternate, and their range."""
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for pair in range(pairs):
            file = LiveFile(Path(folder), time.time_ns, virtual=False)
            runs: list[Seconds] = [None, lambda seconds: file.add(1, seconds)]  # noqa: B023 - used in this turn
            if pair % 2:
                runs.reverse()
            rates = {seconds is not None: rate(seconds) for seconds in runs}
            ratios.append(rates[True] / rates[False])
            file.close()
    return f"{statistics.median(ratios):.4f} ({min(ratios):.4f} to {max(ratios):.4f})"


def null_rate(span_s: float, seconds: Seconds) -> float:
    """I/Os per CPU second of the engine's thread, of reads that come back at once. Wall time is the host's."""
    with Stimulus.null(seed=1) as stimulus:
        (record,) = stimulus.run([step(StopRule(time_ns=round(span_s * SECOND_NS)))], seconds=seconds)
    return record.read.window_io_count * SECOND_NS / (record.cpu_ns or record.span_ns)


def simulated_rate(io_count: int, seconds: Seconds) -> float:
    """Simulated I/Os a second of the wall clock."""
    model = parse_simulated("sim:ideal?capacity=1GB").drive_model
    with Stimulus.simulated(model, seed=1, epoch_wall_ns=0) as stimulus:
        begun = time.perf_counter()
        stimulus.run([step(StopRule(io_count=io_count))], seconds=seconds)
        return io_count / (time.perf_counter() - begun)


def step(stop: StopRule) -> StepSpec:
    """Random reads of 4 KiB, 32 outstanding."""
    return StepSpec(
        label="reads",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=32),
        active_range=leading_range(1 << 29),
        stop=stop,
    )


def line_costs(lines: int) -> dict[str, float]:
    """Microseconds that a line takes to be written, and to be read by a reader that follows."""
    written = read = 0.0
    with tempfile.TemporaryDirectory() as folder:
        file, reader = LiveFile(Path(folder), time.time_ns, virtual=False), LiveReader(Path(folder))
        for number in range(lines):
            seconds = [LiveSecond(0, number, SECOND_NS, (LivePoint(0, 0, 9, 9, 9, 9),))]
            begun = time.perf_counter()
            file.add(1, seconds)
            between = time.perf_counter()
            reader.lines()
            written, read = written + between - begun, read + time.perf_counter() - between
        file.close()
    return {"written": written / lines * 1e6, "read": read / lines * 1e6}


if __name__ == "__main__":
    main()
