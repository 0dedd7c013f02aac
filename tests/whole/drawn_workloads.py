"""Plans of workloads drawn from a seed: whatever the schema can state, small enough to run in a moment."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

_CAPACITY_BYTES = 256_000_000
_DRIVES = ("ideal", "client-2011", "client-tlc", "client-qlc", "mlc-a", "mlc-b", "hdd-15k")
_SIZES = (512, 1536, 4096, 4096, 8192, 16384, 65536, 131072, 1 << 20)
_PERCENTS = (0.0, 100.0, 100.0, 50.0, 12.5)
_CONTENTS = (
    {"kind": "compressible", "stored_percent": 37.5},
    {"kind": "repeating", "pool_bytes": 65536},
    {"kind": "stamped"},
    {"kind": "addressed"},
)


def drawn_plan(seed: int) -> dict[str, Any]:
    """A plan of one to three stages, each of up to four streams, on one of the shipped drive models."""
    draw = random.Random(seed)  # noqa: S311 - the same every time
    drive = draw.choice(_DRIVES)
    operations = ["transfer"] * 6 + ["flush"] + ["trim"] * (drive != "hdd-15k")
    return {
        "drive": f"sim:{drive}?capacity={_CAPACITY_BYTES // 10**6}MB",
        "studies": ["workload"],
        "seed": seed,
        "capture": draw.choice(["none", "none", "times", "addresses"]),
        "workload": {
            "purge": draw.random() < 0.8,
            "prepare_fills": draw.choice([0, 0, 0.1, 1]),
            "stages": [_stage(draw, number, operations) for number in range(draw.choice([1, 1, 2, 3]))],
        },
    }


def _stage(draw: random.Random, number: int, operations: list[str]) -> dict[str, Any]:
    timed = draw.random() < 0.4
    streams = [_stream(draw, place, operations, timed=timed) for place in range(draw.choice([1, 1, 2, 2, 3, 4]))]
    amounts = {"amount_bytes": draw.choice([512, draw.randint(513, 1 << 24)]), "amount_fills": draw.uniform(1e-6, 0.05)}
    ends = {"io_count": draw.choice([1, 2, draw.randint(3, 3000)])}
    if {stream["operation"] for stream in streams} != {"flush"}:
        ends |= amounts
    end = draw.choice(list(ends))
    return {
        "name": f"stage {number}",
        "role": draw.choice(["measure", "measure", "measure", "prepare"]),
        "ramp_up_s": draw.choice([0, 0, draw.uniform(0.001, 0.05)]),
        **({"time_s": draw.uniform(0.001, 0.2)} if timed else {end: ends[end]}),
        # Without streams it is a pause.
        "streams": [] if timed and draw.random() < 0.1 else streams,
    }


def _stream(draw: random.Random, place: int, operations: list[str], *, timed: bool) -> dict[str, Any]:
    stream = {
        "name": f"stream {place}",
        "operation": draw.choice(operations),
        "thread_count": draw.choice([1, 1, 2, 4, 7]),
        "queue_depth": draw.choice([1, 1, 2, 8, 32]),
        "grid_from": draw.choice(["range", "range", "drive"]),
        "cursor": draw.choice(["shared", "shared", "per_thread", "fio", "iometer"]),
        **draw.choice([{}, {"start_percent": draw.uniform(0, 90)}, {"start_bytes": draw.randrange(1 << 27)}]),
        **draw.choice([{}, {"size_percent": draw.uniform(1, 100)}, {"size_bytes": draw.randint(1 << 20, 1 << 28)}]),
    }
    pauses = draw.random() < 0.3
    if not pauses and draw.random() < 0.4:
        stream["rate"] = _rate(draw, timed=timed)
    if stream["operation"] == "transfer":
        stream |= draw.choice([{}, {}, {"data": draw.choice(_CONTENTS)}])
    if not pauses and stream["operation"] == "transfer" and draw.random() < 0.2:
        return stream | _over_groups(draw)
    count = 1 if stream["operation"] == "flush" else draw.choice([1, 1, 2, 3])
    return {**stream, "lines": [_line(draw, share, pauses=pauses) for share in _shares(draw, count)]}


def _shares(draw: random.Random, count: int) -> list[float]:
    cuts = [0, *sorted(draw.sample(range(1, 100), count - 1)), 100]
    return [float(high - low) for low, high in pairwise(cuts)]


def _line(draw: random.Random, share: float, *, pauses: bool) -> dict[str, Any]:
    line = {
        "percent": share,
        "size_bytes": draw.choice(_SIZES),
        "read_percent": draw.choice(_PERCENTS),
        "random_percent": draw.choice(_PERCENTS),
        "align_bytes": draw.choice([0, 0, 0, 512, 4096, 12288]),
        "burst_io_count": draw.choice([1, 1, 3, 20]),
    }
    if pauses and draw.random() < 0.7:
        delay_ms = draw.uniform(0.001, 3)
        at_1_tb = {"delay_ms_at_1_tb": delay_ms * _CAPACITY_BYTES / 1e12}
        line |= draw.choice([{"delay_ms": delay_ms}, at_1_tb])
    return line


def _over_groups(draw: random.Random) -> dict[str, Any]:
    """Lines that differ in their sizes only, over parts of the range with unlike shares of the accesses."""
    read, count = draw.choice(_PERCENTS), draw.choice([1, 2, 3])
    sizes = [
        {"percent": share, "size_bytes": draw.choice(_SIZES[:6]), "read_percent": read}
        for share in _shares(draw, draw.choice([1, 2, 3]))
    ]
    pairs = zip(_shares(draw, count), _shares(draw, count), strict=True)
    return {"lines": sizes, "lba_groups": [{"access_percent": hit, "range_percent": part} for hit, part in pairs]}


def _rate(draw: random.Random, *, timed: bool) -> dict[str, Any]:
    rates = {
        "ios_per_s": draw.uniform(100, 50_000),
        "bytes_per_s": draw.uniform(1e6, 5e8),
        "ios_per_s_per_tb": draw.uniform(1e6, 2e8),
        "bytes_per_s_per_tb": draw.uniform(1e10, 1e12),
    }
    name = draw.choice(list(rates))
    end_factor = draw.choice([1.0, 0.2, 4.0]) if timed else 1.0
    return {name: rates[name], "arrivals": draw.choice(["fixed", "poisson"]), "end_factor": end_factor}
