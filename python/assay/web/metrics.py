"""``/metrics`` for Prometheus, in its text format: the runs that go on, and the server; see docs/guide/web-metrics.md.

Every series is made at the request, so that those of an ended run are gone at the next one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from assay.archive.index.folders import address_of
from assay.run.store.live import LiveReader
from assay.run.store.status import GoingRuns
from assay.spec.units import SECOND_NS
from assay.version import tool_version
from assay.web.pages.shell import aside
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from starlette.requests import Request

    from assay.run.store.progress_file import KeptProgress
    from assay.run.store.status import GoingRun
    from assay.web.site import Site

METRICS = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NAMES = {
    "assay_run_info": "Run that goes on, with its labels; always 1.",
    "assay_run_suspended": "1 where the process of the run was stopped by a signal.",
    "assay_run_elapsed_seconds": "Wall time since the start of the run.",
    "assay_run_updated_timestamp_seconds": "When the run last kept its progress, since the Unix epoch.",
    "assay_run_test_number": "Number of the running test, from 1.",
    "assay_run_test_count": "Tests of the run.",
    "assay_run_phase_ratio": "Share of the current phase that is done, 0 to 1.",
    "assay_run_left_seconds": "Time left: earliest and latest end of the phase, the test and the run.",
    "assay_run_iops": "I/Os per second of device time, by direction, in the last line of the run.",
    "assay_run_bytes_per_second": "Bytes per second of device time, likewise.",
    "assay_drive_temperature_celsius": "Temperature of the drive.",
    "assay_server_info": "Version of the server; always 1.",
    "assay_server_jobs_waiting": "Jobs that wait for the child process.",
    "assay_server_memory_bytes": "Resident memory of the server.",
}
"""Every metric with its help text; all are gauges."""
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A value of a metric. labels : pairs of a name and any text."""

    name: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()


async def metrics_page(site: Site, _: Request) -> Response:
    """All metrics of now."""
    runs = await aside(GoingRuns(site.folders).look)
    samples = [
        *(sample for run in runs for sample in run_samples(run, identity=site.metrics_identity)),
        *server_samples(site),
    ]
    return Response(metrics_text(samples), media_type=CONTENT_TYPE)


def run_samples(run: GoingRun, *, identity: bool) -> Iterator[Sample]:
    """The samples of a run. identity : with the serial number of the drive and the folder of the run."""
    progress, address = run.progress, address_of(run.folder)
    label = (("run", address),)
    yield Sample(name="assay_run_info", value=1, labels=(*label, *_identity(run, identity=identity)))
    values = {
        "assay_run_suspended": float(run.state == "suspended"),
        "assay_run_elapsed_seconds": progress.elapsed_ns / SECOND_NS,
        "assay_run_updated_timestamp_seconds": progress.wall_ns / SECOND_NS,
        "assay_run_test_number": float(progress.test_number),
        "assay_run_test_count": float(progress.test_count),
        "assay_run_phase_ratio": progress.share,
        "assay_drive_temperature_celsius": progress.watched.temperature_c if progress.watched else None,
    }
    yield from (Sample(name=name, value=value, labels=label) for name, value in values.items() if value is not None)
    yield from _left(progress, address)
    yield from _rates(run.folder, address)


def server_samples(site: Site) -> Iterator[Sample]:
    """The samples of the server."""
    yield Sample(name="assay_server_info", value=1, labels=(("version", tool_version()),))
    yield Sample(name="assay_server_jobs_waiting", value=site.jobs.waiting_count)
    with suppress(OSError, ValueError, IndexError):
        yield Sample(name="assay_server_memory_bytes", value=_memory_bytes())


def metrics_text(samples: Iterable[Sample]) -> str:
    r"""Samples in the text format, those of a metric together below its help and type.

    Worked: a sample of 1 with label ``a="x\"y"`` -> ``name{a="x\"y"} 1``.
    """
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.name, []).append(sample)
    return "".join(line for name in NAMES if name in by_name for line in _lines(name, by_name[name]))


def label_value(text: str) -> str:
    r"""A text as the value of a label: backslash, quote and line break are escaped. Worked: ``a"b`` -> ``a\"b``."""
    return unicode_name(text).translate(_ESCAPES)


def _lines(name: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {NAMES[name]}\n# TYPE {name} gauge\n"
    for sample in samples:
        labels = ",".join(f'{key}="{label_value(text)}"' for key, text in sample.labels)
        yield f"{name}{{{labels}}} {sample.value!r}\n" if labels else f"{name} {sample.value!r}\n"


def _identity(run: GoingRun, *, identity: bool) -> Iterator[tuple[str, str]]:
    drive = run.progress.drive
    yield "model", (drive and drive.model_number) or ""
    yield "firmware", (drive and drive.firmware) or ""
    yield "kind", drive.kind if drive else ""
    yield "test", run.progress.test
    yield "phase", run.progress.phase
    if identity:
        yield "serial", (drive and drive.serial) or ""
        yield "folder", str(run.folder)


def _left(progress: KeptProgress, address: str) -> Iterator[Sample]:
    for scope, left in (("phase", progress.left), ("test", progress.test_left), ("run", progress.run_left)):
        if left is None:
            continue
        for bound, time_ns in (("earliest", left.earliest_ns), ("latest", left.latest_ns)):
            if time_ns is not None:
                labels = (("run", address), ("scope", scope), ("bound", bound))
                yield Sample(name="assay_run_left_seconds", value=time_ns / SECOND_NS, labels=labels)


def _rates(folder: Path, address: str) -> Iterator[Sample]:
    """The rates in the last line of a run; none before its first line."""
    for line in LiveReader(folder).lines()[-1:]:
        for direction in ("read", "write", "other"):
            sums = getattr(line, direction)
            labels = (("run", address), ("direction", direction))
            amounts = {"assay_run_iops": sums.io_count, "assay_run_bytes_per_second": sums.transfer_bytes}
            for name, amount in amounts.items():
                yield Sample(name=name, value=amount * SECOND_NS / line.covered_ns, labels=labels)


def _memory_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
