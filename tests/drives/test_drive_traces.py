"""A blktrace of an emulated drive, recorded here: read event by event as blkparse prints it, and issued again."""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.workloads.traces import FLUSH, READ, TRIM, WRITE, open_trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulated import FindDrive

KIB = 1024
DEBUG = Path("/sys/kernel/debug")


@contextmanager
def recorded(device: str, folder: Path) -> Iterator[None]:
    """Record the I/Os of a device as ``trace.blktrace.*`` in a folder."""
    if not (DEBUG / "block").exists():
        mount = ["mount", "-t", "debugfs", "none", str(DEBUG)]
        subprocess.run(mount, check=True)
    name = Path(device).name
    command = ["blktrace", "-d", device, "-o", "trace"]
    tracer = subprocess.Popen(command, cwd=folder)
    try:
        end = time.monotonic() + 30
        while not (DEBUG / "block" / name / "trace0").exists():
            assert tracer.poll() is None, "blktrace did not begin"
            assert time.monotonic() < end, "blktrace did not begin within 30 s"
            time.sleep(0.1)
        # Its files are there before it records, and nothing tells when it does.
        time.sleep(3)
        yield
        time.sleep(1)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait(30)


def issue(device: str) -> None:
    """Reads and writes of several sizes past the page cache, a trim and a flush."""
    descriptor = os.open(device, os.O_RDWR | os.O_DIRECT)
    memory = mmap.mmap(-1, 64 * KIB)
    try:
        for nth in range(50):
            view = memoryview(memory)[: (4 * KIB, 8 * KIB, 64 * KIB)[nth % 3]]
            place = (nth * 7919 % 1000) * 64 * KIB
            (os.preadv if nth % 2 else os.pwritev)(descriptor, [view], place)
            view.release()
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
        memory.close()
    command = ["blkdiscard", "--force", "--offset", "1MiB", "--length", "2MiB", device]
    subprocess.run(command, check=True)


def printed(folder: Path) -> list[tuple[int, int, int, int]]:
    """Time, operation, place and size of every event D as blkparse prints it."""
    form = "%a %d %S %N %T %t\n"
    command = ["blkparse", "-q", "-i", "trace", "-f", form]
    text = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    rows = []
    for line in text.splitlines():
        words = line.split()
        if len(words) != 6 or words[0] != "D":
            continue
        _, kind, sector, size, seconds, nanoseconds = words
        operation = TRIM if "D" in kind else READ if "R" in kind else WRITE
        flush = int(size) == 0
        place = 0 if flush else int(sector) * 512
        rows.append((int(seconds) * 10**9 + int(nanoseconds), FLUSH if flush else operation, place, int(size)))
    return sorted(rows, key=lambda row: row[0])


@pytest.mark.skipif(shutil.which("blktrace") is None, reason="SKIPPED: needs blktrace (tools/debian-packages)")
def test_a_blktrace_of_a_drive_is_read_event_by_event_as_blkparse_prints_it(drive: FindDrive, tmp_path: Path) -> None:
    device = drive("Q-NVME-A").path
    with recorded(device, tmp_path):
        issue(device)
    expected = printed(tmp_path)
    counts = {kind: sum(1 for row in expected if row[1] == kind) for kind in (READ, WRITE, TRIM)}
    assert (counts[READ], counts[WRITE]) >= (25, 25)
    assert counts[TRIM] >= 1
    trace = open_trace(tmp_path / "trace.blktrace.0")
    found = [
        tuple(map(int, row))
        for batch in trace
        for row in zip(batch.time_ns, batch.operation, batch.offset_bytes, batch.length_bytes, strict=True)
    ]
    first = expected[0][0]
    assert found == [(at - first, *rest) for at, *rest in expected]
