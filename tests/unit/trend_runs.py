"""Runs of a drive model with given numbers, put into an index without any run folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.archive.index.folders import kept_name, site
from assay.archive.index.write import ReadRun, store_runs, writing
from assay.summary.forms import ListedDrive, ListedRun, ListedTest
from assay.summary.record import Measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.archive.index.location import Place
    from assay.summary.forms import Verdict
    from assay.summary.record import Mark

DAY_NS = 86_400 * 10**9
BEGIN_NS = 1_790_000_000 * 10**9
READ_CELL = (("block_kib", 4), ("read_pct", 100))
WRITE_CELL = (("block_kib", 4), ("read_pct", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A run of one test with one number of two cells. day : of its start. value : of the reads; None for none."""

    folder: str
    day: float
    value: float | None
    model: str = "Model M"
    firmware: str | None = "A"
    host: str = "host-1"
    tags: tuple[str, ...] = ()
    capacity_bytes: int = 10**12
    verdict: Verdict = "steady"
    withheld: str | None = None
    edition: str = "1.1"
    test: str = "iops"
    fault: str | None = None
    missing: bool = False
    run_id: str = ""
    name: str = ""
    mark: Mark | None = None
    conditions: Mapping[str, Any] | None = None


def store(place: Place, given: Iterable[Given], *, where: str = "", parent: str = "/runs") -> None:
    """Put runs into the index. where : the site; empty for this host."""
    with writing(place) as connection:
        store_runs(connection, where or site(), kept_name(parent), [_read(run) for run in given])


def several(values: Iterable[float | None], **more: Any) -> list[Given]:
    """A run a day with each value. Worked: two values -> folders ``r00`` and ``r01``."""
    return [Given(folder=f"r{at:02}", day=at, value=value, **more) for at, value in enumerate(values)]


def _read(run: Given) -> ReadRun:
    rounds = () if run.value is None else (run.value * 0.99, run.value, run.value * 1.01)
    reads = Measure(
        cell=READ_CELL, key="iops", label="RND 4KiB 100/0", unit="IOPS", value=run.value, stat="mean", rounds=rounds,
        mark=run.mark, bound=0.02 if run.mark else None, tracked=True,
    )  # fmt: skip
    writes = replace(reads, cell=WRITE_CELL, label="RND 4KiB 0/100", value=run.value and run.value / 2)
    latency = replace(
        writes, key="latency_ms_p99.9", unit="ms", stat="percentile", value=run.value and 100 / run.value, rounds=()
    )
    return ReadRun(
        folder=run.folder,
        look="",
        listed=_listed(run),
        measures=((reads, writes, latency),),
        conditions=(dict(run.conditions or {}),),
    )


def _listed(run: Given) -> ListedRun:
    begin_ns = BEGIN_NS + round(run.day * DAY_NS)
    drive = ListedDrive(
        id=f"{run.model} S1", path="/dev/x", model=run.model, firmware=run.firmware, serial="S1",
        capacity_bytes=run.capacity_bytes, kind="block",
    )  # fmt: skip
    test = ListedTest(
        test=run.test, edition=run.edition, measured="5 rounds", ended="steady", reached=run.verdict == "steady",
        withheld=run.withheld, procedure="iops", verdict=run.verdict, cut_short=run.verdict == "cut-short",
        started_wall_ns=begin_ns, ended_wall_ns=begin_ns + 10**9, headlines=(),
    )  # fmt: skip
    return ListedRun(
        run=f"/runs/{run.folder}", run_id=run.run_id or f"id-{run.folder}", name=run.name, tags=run.tags,
        started="2026-09-21 14:13 UTC", started_wall_ns=begin_ns, drive="/dev/x", drive_facts=drive,
        edition=run.edition,
        suite="", operator="", lab="", host=run.host, system="", tool_version="0.1.0", label="conforming",
        label_class="conforming", deviations=(), level="not checked here", complete=True, interrupted=False,
        journal_hash=f"hash-{run.run_id or run.folder}", journal_lines=3, run_schema=5, exit_code=0, exit_codes=(),
        tests=(test,), withheld=(), fault=run.fault, numbers_fault=None, missing=False,
    )  # fmt: skip
