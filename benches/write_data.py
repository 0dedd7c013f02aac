"""How fast one core makes what is written: fresh, of a stated share, addressed, the old stamp, beside a plain copy.

Goal: bytes per second of each over those of a copy of as many bytes, in alternating turns of one run, so that a busy
host changes both. At least 0.7 of a copy is expected for random data, whose bytes are written and not read. The stamp
changes 16 of every 512 bytes and is no bar. Ends with the SHA-256 of the beginning of what a run with data origin 1
writes: it is the same on every host. Non-goal: what a drive takes. ``--smoke`` takes one short turn.
"""

from __future__ import annotations

import hashlib
import statistics
import sys
import time

import numpy as np
from assay.engine.records import DataPattern
from assay.engine.stimulus import fill_rate, written_data
from assay.spec.units import KIB, MB

SIZES = (4 * KIB, 128 * KIB, 1024 * KIB)
KINDS = {
    "random": DataPattern(),
    "compressible to 50 %": DataPattern(kind="compressible", stored_share=0.5),
    "stamped": DataPattern(kind="stamped"),
    "addressed": DataPattern(kind="addressed"),
}
SLOTS = 32
TURNS, SECONDS = 7, 0.3
HASHED_WRITES = 1024


def main() -> None:
    """Print a line per size and kind, then the hash."""
    turns, seconds = (1, 0.01) if "--smoke" in sys.argv else (TURNS, SECONDS)
    for size in SIZES:
        rates = [(copy_rate(size, seconds), *fill_rates(size, seconds)) for _ in range(turns)]
        copied = statistics.median(rate[0] for rate in rates)
        print(f"{size // KIB} KiB: a copy {copied / MB:,.0f} MB/s")
        for place, kind in enumerate(KINDS, start=1):
            ratios = [rate[place] / rate[0] for rate in rates]
            made = statistics.median(rate[place] for rate in rates)
            print(
                f"  {kind:20} {made / MB:9,.0f} MB/s, {size / made * 1e9:9,.0f} ns a write, "
                f"{statistics.median(ratios):6.2f} of a copy ({min(ratios):.2f} to {max(ratios):.2f})"
            )
    print(f"outcome {outcome()}")


def fill_rates(size: int, seconds: float) -> list[float]:
    """Bytes per second of each kind."""
    return [fill_rate(data, size, seconds) for data in KINDS.values()]


def copy_rate(size: int, seconds: float) -> float:
    """Bytes per second of copying as many bytes as the slots hold."""
    source, target = (np.full(SLOTS * size, value, np.uint8) for value in (1, 2))
    np.copyto(target, source)
    count, began = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds or not count:
        np.copyto(target, source)
        count += 1
    return count * SLOTS * size / elapsed


def outcome() -> str:
    """Of what the first writes hold, all kinds."""
    digest = hashlib.sha256()
    for data in KINDS.values():
        digest.update(written_data(data, 1, 4 * KIB, 0, HASHED_WRITES))
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    main()
