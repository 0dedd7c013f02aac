"""What this host costs a measurement while nothing else runs: waits and late wake-ups beside constant answer times."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from assay.dut.real.host_watch import HostWatch
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import (
    CalibrationPoint,
    DataPattern,
    Demand,
    HostCalibration,
    HostRecord,
    StepSpec,
    StopRule,
)
from assay.engine.stimulus import Stimulus
from assay.spec.units import KIB, MICROSECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from assay.engine.records import StepRecord

ANSWERS_NS = (100 * MICROSECOND_NS, 1_000 * MICROSECOND_NS, 5_000 * MICROSECOND_NS)
"""Answer times of a fast and a slow drive, and of one that collects garbage."""
SECONDS = 2.0
"""Of a calibration when a run begins."""
_RANGE_BYTES = 1 << 30


def calibrate_host(
    demands: Iterable[Demand],
    *,
    cpus: tuple[int, ...] = (),
    seconds: float = SECONDS,
    show: Callable[[str], None] = lambda _: None,
) -> HostCalibration:
    """Measure a device of constant answer times at the smallest and the largest of some demands.

    cpus : of the stimulus threads, none where they are free. seconds : of all points together, above 0. show : gets
    what runs. Worked: 1 x 1 and 2 x 16 of three answer times in 2 s -> six points of 0.33 s.
    """
    points = [(demand, answer_ns) for demand in _extremes(demands) for answer_ns in ANSWERS_NS]
    measured = []
    for demand, answer_ns in points:
        where = f"TC {demand.thread_count} x QD {demand.queue_depth}"
        show(f"host without a drive, {where}, {answer_ns // MICROSECOND_NS} us")
        measured.append(_measured(demand, answer_ns, cpus, seconds / len(points)))
    hosts = [host for _, host in measured]
    return HostCalibration(
        points=tuple(_point(*point, *result) for point, result in zip(points, measured, strict=True)),
        other_busy_share=_share(hosts, [host.other_busy_ns for host in hosts]),
        steal_share=_share(hosts, [host.steal_ns for host in hosts]),
    )


def _extremes(demands: Iterable[Demand]) -> list[Demand]:
    """The demands with the fewest and the most I/Os outstanding."""
    bare = {Demand(thread_count=demand.thread_count, queue_depth=demand.queue_depth) for demand in demands}
    ranked = sorted(bare, key=lambda demand: (demand.thread_count * demand.queue_depth, demand.thread_count))
    return list(dict.fromkeys([ranked[0], ranked[-1]]))


def without_drive(
    answer_ns: int | None, demand: Demand, seconds: float, *, cpus: tuple[int, ...] = (), watch: HostWatch | None = None
) -> StepRecord:
    """Drive nothing for some time: what the record shows is the host's.

    answer_ns : time that each I/O takes; None: none. cpus : of the threads, none leaves them free. watch : of the host.
    """
    step = StepSpec(
        label="host",
        pattern=random_pattern(4 * KIB, 1.0, DataPattern()),
        demand=demand,
        active_range=leading_range(_RANGE_BYTES),
        stop=StopRule(time_ns=round(seconds * SECOND_NS)),
    )
    with (
        Stimulus.null(seed=1, answer_ns=answer_ns, thread_count=demand.thread_count, cpus=cpus) as stimulus,
        watch or nullcontext(),
    ):
        return stimulus.run([step])[0]


def _measured(demand: Demand, answer_ns: int, cpus: tuple[int, ...], seconds: float) -> tuple[StepRecord, HostRecord]:
    watch = HostWatch(cpus=cpus)
    record = without_drive(answer_ns, demand, seconds, cpus=cpus, watch=watch)
    assert watch.record is not None, "the block has ended"  # noqa: S101 - an invariant of HostWatch
    return record, watch.record


def _point(demand: Demand, answer_ns: int, record: StepRecord, host: HostRecord) -> CalibrationPoint:
    waited = None if record.wait_ns is None else record.wait_ns / (record.span_ns * demand.thread_count)
    return CalibrationPoint(
        thread_count=demand.thread_count,
        queue_depth=demand.queue_depth,
        answer_ns=answer_ns,
        wait_share=waited,
        wakes=host.wakes,
        waits=host.waits,
        watched_ns=host.watched_ns,
    )


def _share(hosts: Sequence[HostRecord], times_ns: Sequence[int | None]) -> float | None:
    """Of the time of all processors over all points; None where one is not counted."""
    if None in times_ns:
        return None
    return sum(time_ns or 0 for time_ns in times_ns) / sum(host.span_ns * host.cpu_count for host in hosts)
