"""Results of runs in the form of Iometer's result file of 2006.07.27, so that tools that read those read ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.workloads.iometer.model import VERSION_2006, AccessSpec, Assignment, Record
from assay.workloads.iometer.results_columns import COLUMNS, EMPTY, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MEBIBYTE = 1 << 20
_SECOND_NS = 10**9
_MS_NS = 10**6
_MIXED = -1
_ASSIGNMENTS: tuple[Assignment, ...] = ("NONE", "ALL", "DISK", "NET")
_LEFT_OUT: dict[Record, frozenset[str]] = {
    "ALL": frozenset(),
    "NO_TARGETS": frozenset({"DISK"}),
    "NO_WORKERS": frozenset({"DISK", "WORKER"}),
    "NO_MANAGERS": frozenset({"DISK", "WORKER", "MANAGER", "PROCESSOR"}),
    "NONE": frozenset({"DISK", "WORKER", "MANAGER", "PROCESSOR", "ALL"}),
}
"""Kinds of rows that each setting of Record Results leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Reads or writes of a worker. latency_ns_sum, latency_ns_max : None where they are not known."""

    io_count: int = 0
    byte_count: int = 0
    latency_ns_sum: int | None = 0
    latency_ns_max: int | None = 0
    error_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFigures:
    """What one worker did in one run.

    target : the drive. spec : name of its access specification. start_sector, maximum_sectors : of its range; 0 and 0
    is the whole drive.
    """

    name: str
    target: str
    spec: str
    read: Direction
    write: Direction
    run_time_ns: int
    queue_depth: int
    start_sector: int = 0
    maximum_sectors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuFigures:
    """Shares of the time of a CPU, or of all, in per cent; None is unknown. deferred : DPC, Linux' softirq."""

    busy_percent: float | None = None
    user_percent: float | None = None
    system_percent: float | None = None
    deferred_percent: float | None = None
    interrupt_percent: float | None = None
    interrupts_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFigures:
    """One run: all workers over the same time.

    specs : those that its workers ran. begun, ended : as ``2010-10-14 06:28:37:406``. total : of all CPUs together.
    cpu_hz : None where unknown; then the raw times, in ticks of that clock, are empty.
    """

    specs: Sequence[AccessSpec]
    begun: str
    ended: str
    workers: Sequence[WorkerFigures]
    manager: str
    total: CpuFigures = CpuFigures()
    cpus: Sequence[CpuFigures] = ()
    cpu_hz: int | None = None


def results_csv(
    stages: Sequence[StageFigures],
    *,
    description: str = "",
    test_type: int = 0,
    record: Record = "ALL",
    version: str = VERSION_2006.text,
) -> str:
    """The text of a result file, its lines ended as in Windows. Unknown figures are empty cells.

    test_type : number of the kind of cycling, 0 is NORMAL. record : NO_TARGETS leaves out the rows of disks, NO_WORKERS
    those of workers as well, and so on. Rates of MB are in 2^20 bytes, as Iometer has them. The same figures give the
    same text. Worked: 1,388,493 reads of 512 bytes in 30.0360 s -> IOps 46227.6, MBps 22.572.
    """
    lines = ["'Test Type,Test Description", f"{test_type},{_cell(description)}", "'Version", version]
    for stage in stages:
        lines += _stage(stage, record)
    return "".join(f"{line}\r\n" for line in lines)


def _stage(stage: StageFigures, record: Record) -> Iterator[str]:
    yield from ("'Time Stamp", stage.begun, "'Access specifications")
    for spec in stage.specs:
        yield from ("'Access specification name,default assignment",)
        yield f"{_cell(spec.name)},{_ASSIGNMENTS.index(spec.assignment)}"
        yield "'size,% of size,% reads,% random,delay,burst,align,reply"
        for row in spec.rows:
            yield ",".join(map(str, row.numbers))
    yield from ("'End access specifications", "'Results", "'" + ",".join(COLUMNS))
    for cells in _rows(stage):
        if cells["Target Type"] not in _LEFT_OUT[record]:
            yield ",".join(_printed(cells, name) for name in COLUMNS)
    yield from ("'Time Stamp", stage.ended)


Cells = dict[str, float | str | None]


def _rows(stage: StageFigures) -> Iterator[Cells]:
    """All rows in their order, each with every column, the empty ones as well."""
    workers = stage.workers
    whole = _figures(workers, stage.cpu_hz) | {
        "Access Specification Name": _one({worker.spec for worker in workers}, "mixed"),
        "# Managers": 1,
        "# Workers": len(workers),
        "# Disks": len({worker.target for worker in workers}),
    }
    whole |= _cpu(stage.total, stage.cpu_hz, whole["IOps"])
    yield whole | {"Target Type": "ALL", "Target Name": "All"}
    yield whole | {"Target Type": "MANAGER", "Target Name": stage.manager}
    for number, cpu in enumerate(stage.cpus):
        yield _cpu(cpu, stage.cpu_hz, None) | {"Target Type": "PROCESSOR", "Target Name": f"CPU {number}"}
    for worker in workers:
        own = _figures([worker], stage.cpu_hz) | {"Processor Speed": stage.cpu_hz}
        named: Cells = {"Access Specification Name": worker.spec, "# Disks": 1}
        yield own | named | {"Target Type": "WORKER", "Target Name": worker.name}
        yield own | {"Target Type": "DISK", "Target Name": worker.target}


def _figures(workers: Sequence[WorkerFigures], cpu_hz: int | None) -> Cells:
    """The columns of counts, rates and times of some workers: rates are sums of their rates."""
    reads, writes = [worker.read for worker in workers], [worker.write for worker in workers]
    both = [*reads, *writes]
    figures: Cells = {
        "Connections per Second": 0.0,
        "Average Connection Time": 0.0,
        "Maximum Connection Time": 0.0,
        "Connections": 0,
        "Transactions per Connection": _MIXED,
        "Bytes Read": sum(read.byte_count for read in reads),
        "Bytes Written": sum(write.byte_count for write in writes),
        "Read I/Os": sum(read.io_count for read in reads),
        "Write I/Os": sum(write.io_count for write in writes),
        "Starting Sector": _same({worker.start_sector for worker in workers}),
        "Maximum Size": _same({worker.maximum_sectors for worker in workers}),
        "Queue Depth": _same({worker.queue_depth for worker in workers}),
    }
    for prefix, ios in (("", both), ("Read ", reads), ("Write ", writes)):
        figures[f"{prefix}IOps"] = _rate(workers, prefix, "io_count")
        rate = _rate(workers, prefix, "byte_count")
        figures[f"{prefix}MBps"] = None if rate is None else rate / MEBIBYTE
        figures[f"Average {prefix}Response Time"] = _mean_ms(ios)
        figures[f"Maximum {prefix}Response Time"] = _ms(_highest(ios))
        figures[f"{prefix}Errors"] = sum(one.error_count for one in ios)
    figures["Transactions per Second"] = figures["IOps"]
    figures["Average Transaction Time"] = figures["Average Response Time"]
    figures["Maximum Transaction Time"] = figures["Maximum Response Time"]
    return figures | _raw(workers, cpu_hz)


def _raw(workers: Sequence[WorkerFigures], cpu_hz: int | None) -> Cells:
    """Times in ticks of the clock that the column Processor Speed states."""
    reads, writes = [worker.read for worker in workers], [worker.write for worker in workers]
    times: list[tuple[str, list[Direction]]] = [
        ("Read Response Time", reads),
        ("Write Response Time", writes),
        ("Transaction Time", [*reads, *writes]),
    ]
    result: Cells = {"Total Raw Connection Time": 0, "Maximum Raw Connection Time": 0}
    for name, ios in times:
        result[f"Total Raw {name}"] = _ticks(_total(ios), cpu_hz)
        result[f"Maximum Raw {name}"] = _ticks(_highest(ios), cpu_hz)
    result["Total Raw Run Time"] = _ticks(max((worker.run_time_ns for worker in workers), default=None), cpu_hz)
    return result


def _cpu(cpu: CpuFigures, cpu_hz: int | None, iops: float | str | None) -> Cells:
    busy = cpu.busy_percent
    effective = iops / busy if busy and isinstance(iops, float) else None
    return {
        "% CPU Utilization": busy,
        "% User Time": cpu.user_percent,
        "% Privileged Time": cpu.system_percent,
        "% DPC Time": cpu.deferred_percent,
        "% Interrupt Time": cpu.interrupt_percent,
        "Processor Speed": cpu_hz,
        "Interrupts per Second": cpu.interrupts_per_s,
        "CPU Effectiveness": effective,
    }


def _rate(workers: Sequence[WorkerFigures], prefix: str, field: str) -> float | None:
    """A count per second, summed over workers, None where one of them ran for no time."""
    if any(worker.run_time_ns <= 0 for worker in workers):
        return None
    directions = {"": ("read", "write"), "Read ": ("read",), "Write ": ("write",)}[prefix]
    rates = (
        sum(getattr(getattr(worker, name), field) for name in directions) * _SECOND_NS / worker.run_time_ns
        for worker in workers
    )
    return float(sum(rates))


def _mean_ms(ios: Sequence[Direction]) -> float | None:
    """The mean response time; 0 where there are no I/Os, as Iometer prints it."""
    total, count = _total(ios), sum(one.io_count for one in ios)
    return None if total is None else total / count / _MS_NS if count else 0.0


def _total(ios: Sequence[Direction]) -> int | None:
    known = [one.latency_ns_sum for one in ios if one.latency_ns_sum is not None]
    return sum(known) if len(known) == len(ios) else None


def _highest(ios: Sequence[Direction]) -> int | None:
    known = [one.latency_ns_max for one in ios if one.latency_ns_max is not None]
    return max(known, default=0) if len(known) == len(ios) else None


def _ms(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / _MS_NS


def _ticks(time_ns: int | None, cpu_hz: int | None) -> int | None:
    return None if time_ns is None or cpu_hz is None else time_ns * cpu_hz // _SECOND_NS


def _same(values: set[int]) -> int:
    """The value that all have, -1 where they differ, as Iometer prints it."""
    return next(iter(values)) if len(values) == 1 else _MIXED


def _one(texts: set[str], otherwise: str) -> str:
    return next(iter(texts)) if len(texts) == 1 else otherwise


def _printed(cells: Cells, name: str) -> str:
    value = cells.get(name)
    if value is None or name in EMPTY[str(cells["Target Type"])]:
        return ""
    if isinstance(value, str):
        return _cell(value)
    return str(int(value)) if name in WHOLE else f"{value:.6f}"


def _cell(text: str) -> str:
    """A text without what ends a cell: Iometer quotes nothing, and writes a hyphen for a comma."""
    return " ".join(text.replace(",", "-").split())
