"""Results of runs in the form of Iometer's result file of 2006.07.27, so that tools that read those read ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.spec.units import MIB
from assay.workloads.iometer.keys import ASSIGNMENTS
from assay.workloads.iometer.model import VERSION_2006, AccessSpec, Record
from assay.workloads.iometer.results import COLUMNS, TITLES, Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SECOND_NS = 10**9
_MS_NS = 10**6
_MIXED = -1
_LEFT_OUT: dict[Record, frozenset[str]] = {
    "ALL": frozenset(),
    "NO_TARGETS": frozenset({"DISK"}),
    "NO_WORKERS": frozenset({"DISK", "WORKER"}),
    "NO_MANAGERS": frozenset({"DISK", "WORKER", "MANAGER", "PROCESSOR"}),
    "NONE": frozenset({"DISK", "WORKER", "MANAGER", "PROCESSOR", "ALL"}),
}
"""Kinds of rows that each setting of Record Results leaves out."""
_TEST, _VERSION, _STAMP, _SPECS, _SPEC, _ROWS, _END_SPECS, _RESULTS = TITLES


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
    lines = [_TEST, f"{test_type},{_text_cell(description)}", _VERSION, version]
    for stage in stages:
        lines += _stage(stage, record)
    return "".join(f"{line}\r\n" for line in lines)


def _stage(stage: StageFigures, record: Record) -> Iterator[str]:
    yield from (_STAMP, stage.begun, _SPECS)
    for spec in stage.specs:
        yield from (_SPEC, f"{_text_cell(spec.name)},{list(ASSIGNMENTS).index(spec.assignment)}", _ROWS)
        yield from (",".join(map(str, row.numbers)) for row in spec.rows)
    yield from (_END_SPECS, _RESULTS, "'" + ",".join(COLUMNS))
    for cells in _rows(stage):
        if cells["Target Type"] not in _LEFT_OUT[record]:
            yield ",".join(_cell(cells, name, column) for name, column in COLUMNS.items())
    yield from (_STAMP, stage.ended)


Cells = dict[str, float | str | None]


def _rows(stage: StageFigures) -> Iterator[Cells]:
    """All rows in their order, each with every column, the empty ones as well."""
    workers = stage.workers
    names = {worker.spec for worker in workers}
    whole = _figures(workers, stage.cpu_hz) | {
        "Access Specification Name": names.pop() if len(names) == 1 else "mixed",
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
    figures: Cells = {
        "Connections per Second": 0.0,
        "Average Connection Time": 0.0,
        "Maximum Connection Time": 0.0,
        "Connections": 0,
        "Transactions per Connection": _MIXED,
        "Total Raw Connection Time": 0,
        "Maximum Raw Connection Time": 0,
        "Total Raw Run Time": _ticks(max((worker.run_time_ns for worker in workers), default=None), cpu_hz),
        "Starting Sector": _same({worker.start_sector for worker in workers}),
        "Maximum Size": _same({worker.maximum_sectors for worker in workers}),
        "Queue Depth": _same({worker.queue_depth for worker in workers}),
    }
    reads, writes = ([getattr(worker, name) for worker in workers] for name in ("read", "write"))
    for prefix, ios in (("", [*reads, *writes]), ("Read ", reads), ("Write ", writes)):
        count, total_ns, highest_ns = sum(side.io_count for side in ios), _total_ns(ios), _highest_ns(ios)
        bytes_per_s = _rate(workers, prefix, "byte_count")
        raw = f"{prefix}Response Time" if prefix else "Transaction Time"
        figures |= {
            f"{prefix}IOps": _rate(workers, prefix, "io_count"),
            f"{prefix}MBps": None if bytes_per_s is None else bytes_per_s / MIB,
            # Without I/Os Iometer prints a mean of 0.
            f"Average {prefix}Response Time": None if total_ns is None else total_ns / (count or 1) / _MS_NS,
            f"Maximum {prefix}Response Time": None if highest_ns is None else highest_ns / _MS_NS,
            f"Total Raw {raw}": _ticks(total_ns, cpu_hz),
            f"Maximum Raw {raw}": _ticks(highest_ns, cpu_hz),
            f"{prefix}I/Os": count,
            f"{prefix}Errors": sum(side.error_count for side in ios),
        }
    return figures | {
        "Bytes Read": sum(side.byte_count for side in reads),
        "Bytes Written": sum(side.byte_count for side in writes),
        "Transactions per Second": figures["IOps"],
        "Average Transaction Time": figures["Average Response Time"],
        "Maximum Transaction Time": figures["Maximum Response Time"],
    }


def _cpu(cpu: CpuFigures, cpu_hz: int | None, iops: float | str | None) -> Cells:
    busy = cpu.busy_percent
    return {
        "% CPU Utilization": busy,
        "% User Time": cpu.user_percent,
        "% Privileged Time": cpu.system_percent,
        "% DPC Time": cpu.deferred_percent,
        "% Interrupt Time": cpu.interrupt_percent,
        "Processor Speed": cpu_hz,
        "Interrupts per Second": cpu.interrupts_per_s,
        "CPU Effectiveness": iops / busy if busy and isinstance(iops, float) else None,
    }


def _rate(workers: Sequence[WorkerFigures], prefix: str, count: str) -> float | None:
    """A count per second, summed over workers, None where one of them ran for no time. prefix : of a direction."""
    if any(worker.run_time_ns <= 0 for worker in workers):
        return None
    names = (prefix.strip().lower(),) if prefix else ("read", "write")
    rates = (
        sum(getattr(getattr(worker, name), count) for name in names) * _SECOND_NS / worker.run_time_ns
        for worker in workers
    )
    return float(sum(rates))


def _total_ns(ios: Sequence[Direction]) -> int | None:
    known = [side.latency_ns_sum for side in ios if side.latency_ns_sum is not None]
    return sum(known) if len(known) == len(ios) else None


def _highest_ns(ios: Sequence[Direction]) -> int | None:
    known = [side.latency_ns_max for side in ios if side.latency_ns_max is not None]
    return max(known, default=0) if len(known) == len(ios) else None


def _ticks(time_ns: int | None, cpu_hz: int | None) -> int | None:
    """A time in ticks of the clock that the column Processor Speed states."""
    return None if time_ns is None or cpu_hz is None else time_ns * cpu_hz // _SECOND_NS


def _same(values: set[int]) -> int:
    """The value that all have, -1 where they differ, as Iometer prints it."""
    return next(iter(values)) if len(values) == 1 else _MIXED


def _cell(cells: Cells, name: str, column: Column) -> str:
    value = cells.get(name)
    if value is None or cells["Target Type"] in column.empty:
        return ""
    if isinstance(value, str):
        return _text_cell(value)
    return f"{value:.6f}" if column.decimals else str(int(value))


def _text_cell(text: str) -> str:
    """A text without what ends a cell: Iometer quotes nothing, and writes a hyphen for a comma."""
    return " ".join(text.replace(",", "-").split())
