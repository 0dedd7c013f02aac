"""One trace, whatever its form: told what it is by its content, read as often as it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.workloads.traces.blktrace import blktrace_batches, cpu_files, is_blktrace
from assay.workloads.traces.csv_files import columns_of, csv_batches
from assay.workloads.traces.parquet_files import MAGIC, capture_batches
from assay.workloads.traces.records import in_order
from assay.workloads.traces.text import HEADS, beginning, biosnoop_batches, iolog_batches, is_biosnoop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from assay.workloads.traces.blktrace import Event
    from assay.workloads.traces.records import Batch
    from assay.workloads.traces.text import Wait

_PAIR_LENGTH = 2


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace that can be read from its beginning any number of times.

    form : which kind of file it is. told : how it is read, a sentence each, for the report. has_times : False where
    the file has none, and all I/Os stand at 0. files : that it is made of. guessed : the columns that it was taken to
    have by its look alone, in the words of ``--columns``.
    """

    path: Path
    form: str
    told: tuple[str, ...]
    has_times: bool
    source: Callable[[], Iterator[Batch]]
    files: tuple[Path, ...]
    guessed: str | None = None

    def __iter__(self) -> Iterator[Batch]:
        """Its I/Os by the times of issue, which count from the first; those of one time as they stand in the file."""
        return in_order(self.source())


def open_trace(
    path: Path,
    columns: str | None = None,
    *,
    event: Event = "issue",
    device: str | None = None,
    wait: Wait | None = None,
) -> Trace:
    """Look at a file and say how it will be read; the I/Os are read when the trace is iterated.

    columns : of a CSV, as ``time=1:us,op=2,offset=3:bytes,size=4:bytes``; None to go by the public forms.
    event : of blktrace. device : where a trace has several; ``8,0`` of blktrace, else as its lines name it.
    wait : how waits of an iolog of version 2 count.
    Raises UsageError with line or byte for what is wrong, StoreError where the file cannot be read.
    """
    # A CPU that saw no event has an empty file beside those of the others.
    head = beginning(path) or next(filter(None, map(beginning, cpu_files(path))), b"")
    if not head:
        raise UsageError(str(path), "is empty", "name a trace with I/Os")
    if head.startswith(MAGIC):
        told = ("issued at the completion less the response time",)
        return Trace(
            path, "capture of Assay", told, has_times=True, source=partial(capture_batches, path), files=(path,)
        )
    if is_blktrace(head):
        return _blktrace(path, event, device)
    if version := HEADS.get(head.split(b"\n", 1)[0].strip()):
        return _iolog(path, version, wait, device)
    if columns is None and is_biosnoop(head):
        return _biosnoop(path, device)
    result = columns_of(path, head, columns)
    read_as = (result.told, "lines without an operation are left out")
    source = partial(csv_batches, path, result, device)
    return Trace(path, result.form, read_as, has_times=True, source=source, files=(path,), guessed=result.guessed)


def _biosnoop(path: Path, device: str | None) -> Trace:
    told = ("issued at TIME(s) less LAT(ms), as exactly as these are printed",)
    return Trace(path, "biosnoop", told, has_times=True, source=partial(biosnoop_batches, path, device), files=(path,))


def _iolog(path: Path, version: int, wait: Wait | None, device: str | None) -> Trace:
    times = {None: "the log has no times", "us_since_previous": "a wait counts microseconds since the previous line"}
    told = times.get(wait, "a wait counts milliseconds since the start") if version == 2 else "times in microseconds"  # noqa: PLR2004
    has_times = version == 3 or wait is not None  # noqa: PLR2004 - the version with times
    source = partial(iolog_batches, path, version, wait, device)
    return Trace(path, f"fio iolog version {version}", (told,), has_times, source, (path,))


def _blktrace(path: Path, event: Event, device: str | None) -> Trace:
    files = cpu_files(path)
    numbers = None if device is None else _numbers(device)
    told = {
        "issue": "events D: requests to the driver, after merges and splits",
        "queue": "events Q: requests of applications, before merges and splits",
    }[event]
    form = f"blktrace, {len(files)} file{'s' * (len(files) > 1)}"
    return Trace(
        path, form, (told,), has_times=True, source=partial(blktrace_batches, files, event, numbers), files=tuple(files)
    )


def _numbers(device: str) -> tuple[int, int]:
    parts = device.split(",")
    if len(parts) != _PAIR_LENGTH or not all(part.strip().isdigit() and len(part) < 9 for part in parts):  # noqa: PLR2004
        raise UsageError(f"device {device[:40]!r}", "is no pair of numbers", "write major and minor number, as 8,0")
    return int(parts[0]), int(parts[1])
