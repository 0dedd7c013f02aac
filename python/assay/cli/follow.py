"""``assay status --follow``: the lines of a run while it goes on."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from assay.cli.progress_lines import time_label
from assay.spec.units import MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from pathlib import Path

    from assay.run.store.live import LiveLine, LiveSums

_LOOK_S = 0.5


def follow_run(folder: Path, *, as_json: bool) -> None:
    """Print the lines of the last hour and every new one, until the run ends. Raises KeyboardInterrupt."""
    from assay.run.store.live import LiveReader, line_facts  # noqa: PLC0415
    from assay.run.store.lock import is_going  # noqa: PLC0415

    reader, goes_on = LiveReader(folder), True
    while goes_on:
        # The lock before the lines: those of a run that ends in between are still there, or gone with it.
        goes_on = is_going(folder)
        for line in reader.lines():
            click.echo(json.dumps(line_facts(line)) if as_json else line_text(line))
        if goes_on:
            time.sleep(_LOOK_S)


def line_text(line: LiveLine) -> str:
    """A line for people: rates over the device time that it covers.

    Worked: ``2026-01-02 03:04:05  read 16,700 IOPS, 68.4 MB/s, mean 0.48 ms, max 3.20 ms``; a line without an I/O says
    ``no I/O completed``.
    """
    sides = (("read", line.read), ("write", line.write), ("trim or flush", line.other))
    parts = [f"{name} {sums_label(sums, line.covered_ns)}" for name, sums in sides if sums.io_count]
    covered = "" if line.covered_ns == SECOND_NS else f"; {line.covered_ns / SECOND_NS:,.1f} s of device time"
    return f"{time_label(line.wall_ns)}  {'; '.join(parts) or 'no I/O completed'}{covered}"


def sums_label(sums: LiveSums, covered_ns: int) -> str:
    """Rate, throughput (MB, base 10), mean and maximum response time.

    Worked: 500 I/Os of 4,096 bytes in 1 s, 1 s of response time -> ``500 IOPS, 2.05 MB/s, mean 2.00 ms, max 5.00 ms``.
    """
    iops = sums.io_count * SECOND_NS / covered_ns
    megabytes = sums.transfer_bytes * SECOND_NS / covered_ns / 1e6
    mean_ms, max_ms = (ns / MILLISECOND_NS for ns in (sums.latency_ns_sum / sums.io_count, sums.latency_ns_max))
    return f"{iops:,.0f} IOPS, {megabytes:,.2f} MB/s, mean {mean_ms:,.2f} ms, max {max_ms:,.2f} ms"
