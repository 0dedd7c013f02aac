"""What Iometer makes of a file: which runs follow each other, and what its writes hold.

| pattern | what Iometer writes | as content |
|---|---|---|
| 0 | one byte repeated through the I/O, another for each | compressible, of which 5 % is stored: the least there is |
| 1 | a buffer of random bytes for each worker, the same for every I/O | repeating, as long as the largest I/O |
| 2 | windows of a buffer of 16 MiB of random bytes | repeating, 16 MiB long |

Releases from 2005 to 2007 have no patterns and write as 1 does. Those to 2004 never fill their buffers, so that nobody
knows what they wrote. Since 2008 a file that says nothing means 0.
"""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from assay.spec.workload import Content
from assay.workloads.iometer.model import VERSION_2006

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.spec.workload import Stream
    from assay.workloads.iometer.model import AccessSpec, Cycling, QueueCycling, Setup, Version

FULL_BYTES = 16 << 20
LEAST_STORED_PERCENT = 5.0
_SECTOR_BYTES = 512
_POOL_BYTES_MAX = 1 << 30
_FIRST_FILLED, _FIRST_BYTES = (2005, 1, 1), (2008, 1, 1)
STEPS_MAX = 10_000
_OF_WORKERS = {"CYCLE_WORKERS", "CYCLE_WORKERS_AND_TARGETS"}
_OF_QUEUES = {"CYCLE_OUTSTANDING_IOS", "CYCLE_OUTSTANDING_IOS_AND_TARGETS"}
OF_TARGETS = {
    "CYCLE_TARGETS",
    "INCREMENT_TARGETS_PARALLEL",
    "INCREMENT_TARGETS_SERIAL",
    "CYCLE_WORKERS_AND_TARGETS",
    "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
}
"""Types of test that go through numbers of targets; of one drive there is one."""


class CyclingStep(NamedTuple):
    """One run of a specification. worker_count : the first so many. queue_depth : None is what each worker says."""

    worker_count: int
    queue_depth: int | None

    @property
    def suffix(self) -> str:
        """What the name of a stage has that tells the run from the others of its specification."""
        if self.queue_depth is None:
            return f", {self.worker_count} worker{'s' * (self.worker_count > 1)}"
        return f", queue depth {self.queue_depth}"


def cycling_steps(setup: Setup, worker_count: int) -> list[CyclingStep]:
    """The runs of each specification, in turn. worker_count : workers that there are.

    Raises ValueError where there are more than 10,000. Worked: CYCLE_OUTSTANDING_IOS with 1, 32, 2, EXPONENTIAL ->
    depths 1, 2, 4, 8, 16, 32; with an end of 48 the same; CYCLE_WORKERS of 5 workers with 1, 2, LINEAR -> 1, 3, 5.
    """
    if setup.test_type in _OF_WORKERS:
        return [CyclingStep(count, None) for count in _counts(setup.worker_cycling, worker_count)]
    if setup.test_type in _OF_QUEUES:
        # Up to the end, which is not added where the steps leave it out.
        depths = takewhile(lambda depth: depth <= setup.queue_cycling.end, _values(setup.queue_cycling))
        steps = [CyclingStep(worker_count, depth) for depth in islice(depths, STEPS_MAX + 1)]
        if len(steps) > STEPS_MAX:
            raise ValueError
        return steps
    return [CyclingStep(worker_count, None)]


def _counts(cycling: Cycling, limit: int) -> Iterator[int]:
    """Numbers of workers up to all of them; the last may add fewer than the others."""
    for value in _values(cycling):
        yield min(value, limit)
        if value >= limit:
            return


def _values(cycling: Cycling | QueueCycling) -> Iterator[int]:
    """Without an end: start, then what each step makes of it. A factor of 1 or 0 is a step of as many, as in Iometer.

    A linear step of 0 would stay where it is, so that it gives one value.
    """
    value = cycling.start
    exponential = cycling.kind == "EXPONENTIAL" and cycling.step > 1
    while True:
        yield value
        if not exponential and not cycling.step:
            return
        value = value * cycling.step if exponential else value + cycling.step


def pattern_of(version: Version | None, stated: int | None) -> int | None:
    """The pattern that a worker writes; None where nobody knows. version : of the file. stated : what it says."""
    if stated is not None:
        return stated
    version = version or VERSION_2006
    if not version.is_before(_FIRST_BYTES):
        return 0
    return None if version.is_before(_FIRST_FILLED) else 1


def content_of(version: Version | None, stated: int | None, spec: AccessSpec) -> Content | None:
    """The content of a worker's writes; None, what the plan says of all writes, where nobody knows or nothing is."""
    if all(row.read_percent == 100 for row in spec.rows):  # noqa: PLR2004 - per cent
        return None
    pattern = pattern_of(version, stated)
    if pattern is None:
        return None
    if pattern == 0:
        return Content(kind="compressible", stored_percent=LEAST_STORED_PERCENT)
    largest = max(row.size_bytes for row in spec.rows)
    pool_bytes = FULL_BYTES if pattern > 1 else min(max(largest, _SECTOR_BYTES), _POOL_BYTES_MAX)
    return Content(kind="repeating", pool_bytes=pool_bytes)


def pattern_from(stream: Stream) -> int | None:
    """The pattern that writes a stream's content, None where no pattern does. Random data are nearest to windows."""
    content = stream.data
    if content is None or content.kind == "random":
        return 2
    if content.kind == "compressible" and content.stored_percent == LEAST_STORED_PERCENT:
        return 0
    if content.kind == "repeating":
        largest = max(line.size_bytes for line in stream.lines)
        return {largest: 1, FULL_BYTES: 2}.get(content.pool_bytes or 0)
    return None
