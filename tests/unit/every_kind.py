"""One short stored run of every kind of test on an ideal simulated drive, and a host that stalled in any of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.engine.records import HostRecord
from assay.procedures.registry import known_studies
from assay.report import build_report
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run
from assay.summary.pages.model import Table
from session_runs import copied_run, session_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StoredRun, StoredSequence
    from assay.run.plan_file import Plan

_SHORT = str(Path(__file__).with_name("short_recovery.toml"))
_STREAMS = [
    {"name": "reads", "queue_depth": 4, "lines": [{"size_bytes": 4096}]},
    {"name": "writes", "lines": [{"size_bytes": 8192, "read_percent": 0}], "rate": {"ios_per_s": 1000}},
]
_WORKLOAD = {"prepare_fills": 1, "stages": [{"name": "mixed", "time_s": 6000, "streams": _STREAMS}]}
TRACE = Path(__file__).with_name("short-trace.iolog")
"""400 reads, writes, trims and flushes over about 2.5 s, drawn with a seed and written as fio logs them."""
_GRID = {"thread_counts": [2, 1], "queue_depths": [2, 1]}
REAL_ONLY = ("integrity", "integrity-quick")
"""Studies that need a drive that holds data."""
KINDS: dict[str, dict[str, Any]] = {
    "wsat": {"tests": ["wsat"], "wsat": {"histogram_minutes": 20}},
    "iops": {"tests": ["iops"]},
    "tp": {"tests": ["tp"]},
    "lat": {"tests": ["lat"], "lat": {"histogram_minutes": 20}},
    "hir": {"tests": ["hir"], "edition": _SHORT},
    "xsr": {"tests": ["xsr"], "edition": _SHORT},
    "ecw": {"tests": ["ecw"], "ecw": _GRID},
    "dirth": {"tests": ["dirth"], "dirth": _GRID},
    **{f"study-{name}": {"studies": [name]} for name in known_studies() if name not in REAL_ONLY},
    "study-replay": {"studies": ["replay"], "replay": {"trace": str(TRACE)}},
    "study-workload": {"studies": ["workload"], "workload": _WORKLOAD},
}
"""What a plan says of each kind, by its name: every test, with grids and recovery made short, and every study."""

_IDEAL, _WITH_CACHE_AND_TRIM = "sim:ideal?capacity=1GB", "sim:client-2011?capacity=1GB"

_BASIC = ("wsat", "iops", "tp", "lat")
EVERY = [kind if kind in _BASIC else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]
"""Parameters of a test of every kind: `make test` takes the basic ones, `make test-all` all."""

FAMILIES = (
    "wsat", "iops", "lat", "hir", "xsr", "ecw",
    "study-oio", "study-oem-guide", "study-five-steps", "study-workload", "study-replay",
)  # fmt: skip
"""A kind of each family: the others share run, result and pages with one of these."""
OF_FAMILIES = [kind if kind in _BASIC else pytest.param(kind, marks=pytest.mark.long) for kind in FAMILIES]
"""Parameters of a test of what all kinds of a family share."""
FEW = ["wsat", "iops", pytest.param("hir", marks=pytest.mark.long)]
"""Parameters of a second look at numbers that tests/frozen holds of every kind."""

_SECOND_NS = 10**9


def stored_of(kind: str, **more: Any) -> StoredRun:
    """A run of one kind of test with steps of 60 ms, with its histograms. more : keys of the plan."""
    return read_run(session_run(plan_of(kind, **more)), histograms=True)


def run_of(kind: str, folder: Path, **more: Any) -> StoredRun:
    """The same in a folder that the test may change."""
    copied_run(plan_of(kind, **more), folder)
    return read_run(folder, histograms=True)


def plan_of(kind: str, *, options: str = "", **more: Any) -> Plan:
    """The plan of one kind of test. options : of the simulated drive, such as ``&faults=FILE``."""
    drive = _WITH_CACHE_AND_TRIM if kind in {"study-trim", "study-write-cache"} else _IDEAL
    keys = {"drive": drive + options, "edition": "pts-e-1.1", "seed": 1, "scale": 0.001}
    return load_plan(None, {**keys, **KINDS[kind], **more})


def selected(run: StoredRun) -> list[str]:
    """The figures of the summary of selected performance."""
    (table,) = (
        block
        for page in build_report(run).pages
        if page.title == "Summary Performance - Selected"
        for block in page.all_blocks
        if isinstance(block, Table) and block.caption == "Select Performance Data"
    )
    place = table.columns.index("Measured")
    return [row[place] for row in table.rows]


def with_stall(run: StoredRun, where: Callable[[StoredSequence], bool]) -> StoredRun:
    """The same run with a host that stood still for 5 s in the sequences that are chosen, and still nowhere else."""
    tests = tuple(
        replace(test, sequences=tuple(replace(one, host=_host(one, stalled=where(one))) for one in test.sequences))
        for test in run.tests
    )
    return replace(run, tests=tests)


def _host(sequence: StoredSequence, *, stalled: bool) -> HostRecord:
    span_ns = 5 * _SECOND_NS if stalled else 0
    return HostRecord(
        span_ns=sum(step.span_ns for step in sequence.steps) + span_ns,
        late_ns_p999=span_ns,
        late_ns_max=span_ns,
        stalled_ns=span_ns,
        gauge_cpu_ns=0,
        cpu_count=1,
    )
