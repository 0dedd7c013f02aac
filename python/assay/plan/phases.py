"""What one part of a test writes at most, and how long it takes, settled before the run."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.engine.records import AccessPattern, Demand, Stage

SLOWEST_BYTES_PER_S = 50e6
"""Where an amount ends a part, its longest time is that at this rate: drives of the last ten years write sequentially
at more, also when a cache of theirs is full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedSteps:
    """So many equal steps that time ends. read_share : of their accesses. transfer_bytes : the largest of them."""

    read_share: float
    transfer_bytes: int
    demand: Demand
    span_ns: int
    count: int

    @property
    def write_share(self) -> float:
        """Bytes written at most over what the link carries in one direction meanwhile.

        A link that carries both directions at once is full when the larger of them is.
        Worked: all writes -> 1; 65 % of reads -> 0.35 / 0.65; all reads -> 0.
        """
        writes = 1 - self.read_share
        return writes / max(writes, self.read_share)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPhase:
    """One part of a test.

    name : as printed. stages : of its sequences; empty for all.
    amount_bytes : host bytes that end it; 0 where only time does.
    least_ns, most_ns : device time at which it may end, and does at the latest; None where time does not end it.
    writing_ns : of the latest end, for so long could it write at the full rate of the link.
    beyond_ns : for so long could it write on when the amount is reached.
    carried_bytes : what may be written beside that: I/Os before a step's window opens, and those in flight at its end.
    repeats : it is run again where it is void, as often as the test allows.
    """

    name: str
    stages: tuple[Stage, ...] = ()
    amount_bytes: int = 0
    least_ns: int | None = None
    most_ns: int | None = None
    writing_ns: int = 0
    beyond_ns: int = 0
    carried_bytes: int = 0
    repeats: bool = False

    def written_bytes_max(self, bytes_per_s: float, void_limit: int = 0) -> int:
        """Host bytes that the part writes at most over a link of this rate.

        void_limit : of the test. Worked: a minute of writes over 600 MB/s -> 36000000000.
        """
        by_time = self.carried_bytes + ceil(self.writing_ns * bytes_per_s / SECOND_NS)
        if not self.amount_bytes:
            return by_time * (void_limit + 1 if self.repeats else 1)
        by_amount = self.amount_bytes + ceil(self.beyond_ns * bytes_per_s / SECOND_NS)
        return by_amount if self.most_ns is None else min(by_amount, by_time)

    def span_ns_least(self, bytes_per_s: float) -> int:
        """The shortest time that the part takes where nothing writes faster than this."""
        by_amount = [ceil(self.amount_bytes * SECOND_NS / bytes_per_s)] if self.amount_bytes else []
        return min([*by_amount, *([] if self.least_ns is None else [self.least_ns])], default=0)

    def span_ns_most(self, void_limit: int = 0) -> int:
        """The longest, at ``SLOWEST_BYTES_PER_S`` where an amount alone ends it. Worked: 64 GB -> 1280000000000."""
        longest = self.most_ns
        if longest is None:
            longest = ceil(self.amount_bytes * SECOND_NS / SLOWEST_BYTES_PER_S)
        return longest * (void_limit + 1 if self.repeats else 1)


def timed_phase(
    name: str,
    steps: Iterable[TimedSteps],
    *,
    stages: tuple[Stage, ...] = (),
    least_ns: int,
    most_ns: int | None = None,
    repeats: bool = False,
) -> PlannedPhase:
    """A part that time ends. steps : all of those that it has at most. most_ns : their sum unless said otherwise."""
    planned = [step for step in steps if step.count]
    writing = [step for step in planned if step.write_share]
    return PlannedPhase(
        name=name,
        stages=stages,
        least_ns=least_ns,
        most_ns=sum(step.count * step.span_ns for step in planned) if most_ns is None else most_ns,
        writing_ns=ceil(sum(step.count * step.span_ns * step.write_share for step in writing)),
        # As many as are outstanding before a window opens, and as many after its end.
        carried_bytes=sum(
            2 * step.count * step.demand.thread_count * step.demand.queue_depth * step.transfer_bytes
            for step in writing
        ),
        repeats=repeats,
    )


def histogram_phase(step: TimedSteps) -> PlannedPhase:
    """The step after a test whose response times are counted; it is run again where it is void."""
    return timed_phase("histogram", [step], stages=("histogram",), least_ns=step.count * step.span_ns, repeats=True)


def steps_of(pattern: AccessPattern, demand: Demand, span_ns: int, count: int) -> TimedSteps:
    """Equal steps of one access pattern."""
    return TimedSteps(
        read_share=pattern.read_share,
        transfer_bytes=max(size for size, _ in pattern.sizes),
        demand=demand,
        span_ns=span_ns,
        count=count,
    )
