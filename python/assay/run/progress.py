"""What observers of a run receive, and how long the run still takes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from assay.plan.phases import PlannedPhase
from assay.results.step import issued_bytes
from assay.spec.units import MILLISECOND_NS, MINUTE_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from assay.engine.records import Ending, StepRecord, StepSequence, StepSpec
    from assay.plan.procedure import PlannedTest
    from assay.plan.until import RoundOutcome


_TELLING_NS = MINUTE_NS
"""Before so much device time of a real drive, what a sequence needs beside it would weigh too much."""

_JITTER = 0.01


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """Bounds of the time that is left. latest_ns : None where it is unknown."""

    earliest_ns: int
    latest_ns: int | None

    def __add__(self, other: TimeLeft) -> TimeLeft:
        known = self.latest_ns is not None and other.latest_ns is not None
        latest_ns = (self.latest_ns or 0) + (other.latest_ns or 0) if known else None
        return TimeLeft(self.earliest_ns + other.earliest_ns, latest_ns)

    def scaled(self, factor: float) -> TimeLeft:
        """These bounds on another clock. Worked: 10 to 20 s at 0.5 -> 5 to 10 s."""
        latest_ns = None if self.latest_ns is None else round(self.latest_ns * factor)
        return TimeLeft(round(self.earliest_ns * factor), latest_ns)

    def shares(self, elapsed_ns: int) -> tuple[float, float | None]:
        """The least and the largest share of the whole that is done; None where it may be all but anything.

        Worked: 1 h behind, 1 to 3 h left -> (0.25, 0.5); no latest end -> (0, 0.5).
        """
        most = elapsed_ns / (elapsed_ns + self.earliest_ns) if elapsed_ns + self.earliest_ns else None
        if self.latest_ns is None:
            return 0.0, most
        return elapsed_ns / max(elapsed_ns + self.latest_ns, 1), most


NO_TIME_LEFT = TimeLeft(0, 0)


@dataclass(frozen=True, slots=True)
class Extent:
    """How long steps are: the device time of those that time ends, the bytes of those that an amount ends."""

    time_ns: int = 0
    amount_bytes: int = 0

    def __add__(self, other: Extent) -> Extent:
        return Extent(self.time_ns + other.time_ns, self.amount_bytes + other.amount_bytes)

    def share_of(self, whole: Extent) -> float | None:
        """The share of a whole that this is, None where the whole has both times and amounts, or nothing.

        Worked: 16 of 64 GB -> 0.25.
        """
        if bool(whole.time_ns) == bool(whole.amount_bytes):
            return None
        return self.time_ns / whole.time_ns if whole.time_ns else self.amount_bytes / whole.amount_bytes

    def without(self, done: Extent) -> Extent:
        """What is left of it, never less than nothing."""
        return Extent(max(self.time_ns - done.time_ns, 0), max(self.amount_bytes - done.amount_bytes, 0))


NOTHING = Extent()


def extent(steps: Sequence[StepSpec]) -> Extent:
    """Worked: two cells of 60 s -> 120 s and no bytes; a fill of 64 GB -> 64 GB and no time; two streams count once."""
    stops = [step.stop for step in steps if not step.beside]
    return Extent(sum(stop.time_ns or 0 for stop in stops), sum(stop.amount_bytes or 0 for stop in stops))


def extent_done(steps: Sequence[StepSpec], step_index: int, io_count: int, elapsed_ns: int) -> Extent:
    """What is done of them. io_count, elapsed_ns : of all, so far.

    Where all end alike and have one transfer size, it is known to the I/O; else the finished steps count.
    Worked: 1,000 I/Os of 128 KiB of a fill -> 131,072,000 bytes; 90 s into two cells of 60 s -> 90 s.
    """
    whole = extent(steps)
    if not whole.amount_bytes:
        return Extent(min(elapsed_ns, whole.time_ns))
    sizes = {size for step in steps for size, _ in step.pattern.sizes}
    if not whole.time_ns and len(sizes) == 1:
        return Extent(0, min(io_count * sizes.pop(), whole.amount_bytes))
    return extent(steps[:step_index])


def filling_share(steps: Sequence[StepSpec], records: Sequence[StepRecord]) -> float:
    """The share of a sequence's time that the steps took which an amount ends.

    Worked: a fill of 30 s, then ten samples of 1 s -> 0.75; where nothing is recorded, 1 if there are only fills.
    """
    spans = [(step.stop.amount_bytes is not None, record.span_ns) for step, record in zip(steps, records, strict=False)]
    total_ns = sum(span_ns for _, span_ns in spans)
    if not total_ns:
        return float(all(step.stop.amount_bytes is not None for step in steps))
    return sum(span_ns for is_fill, span_ns in spans if is_fill) / total_ns


def timed_phases(test: PlannedTest) -> tuple[PlannedPhase, ...]:
    """The phases of a test without its preconditioning by amount, those in a row with sequences of equal stages as one.

    A test that states no phases is one phase. Worked: a fill, five to 25 rounds and a histogram -> the rounds and the
    histogram.
    """
    if not test.phases:
        return (PlannedPhase(name="", least_ns=test.earliest_ns, most_ns=test.latest_ns),)
    timed = [phase for phase in test.phases if phase.most_ns is not None or phase.stages != ("precondition",)]
    return tuple(_joined(list(phases)) for _, phases in groupby(timed, lambda phase: phase.stages))


def _joined(phases: Sequence[PlannedPhase]) -> PlannedPhase:
    """Phases of equal stages as one; an amount ends it only where it was alone."""
    longest = [phase.most_ns for phase in phases]
    return replace(
        phases[0],
        least_ns=sum(phase.least_ns or 0 for phase in phases),
        most_ns=None if None in longest else sum(filter(None, longest)),
        amount_bytes=phases[0].amount_bytes if len(phases) == 1 else 0,
    )


def phase_left(phase: PlannedPhase, done: Extent, unit_left_ns: int, running_ns: int = 0) -> TimeLeft:
    """Device time that is left of a phase.

    done : device time of its sequences that ended, and bytes written meanwhile. unit_left_ns : of the sequence that
    runs, or comes next. running_ns : how long it has run.
    Worked: five to 25 rounds of 56 min, 1,000 s into the seventh -> 39 min 20 s to 17 h 27 min 20 s.
    """
    earliest, latest = ([] if bound is None else [bound - done.time_ns] for bound in (phase.least_ns, phase.most_ns))
    if phase.amount_bytes and done.amount_bytes and done.time_ns:
        left_bytes = max(phase.amount_bytes - done.amount_bytes, 0)
        at_this_pace_ns = left_bytes * done.time_ns // done.amount_bytes
        earliest, latest = [*earliest, at_this_pace_ns], [*latest, at_this_pace_ns]
    elif phase.amount_bytes:
        earliest = [0]
    first_ns = max(min(earliest, default=0) - running_ns, unit_left_ns)
    return TimeLeft(first_ns, max(min(latest) - running_ns, first_ns) if latest else None)


class MonotonicShares:
    """Bounds of the share of a run that is done; they never fall while it goes on."""

    def __init__(self) -> None:
        self._shares = (0.0, 0.0)

    def update(self, left: TimeLeft | None, elapsed_ns: int) -> tuple[float, float] | None:
        """The least and the largest share now; None where nothing is known, or the estimate of the whole grew.

        A fall of less than 1 % comes from the pace, which is never quite the same: the bounds before stand.
        Worked: 1 h behind, 1 to 3 h left -> (0.25, 0.5); then 2 h behind, 8 to 18 h left -> None.
        """
        least, most = (0.0, None) if left is None else left.shares(elapsed_ns)
        if most is None or least < self._shares[0] - _JITTER or most < self._shares[1] - _JITTER:
            return None
        self._shares = (max(least, self._shares[0]), max(most, self._shares[1]))
        return self._shares


@dataclass
class _Pace:
    """Wall time per unit of something, as it went so far."""

    wall_ns: int = 0
    units: int = 0

    def add(self, wall_ns: int, units: int) -> None:
        self.wall_ns, self.units = self.wall_ns + wall_ns, self.units + units

    @property
    def value(self) -> float | None:
        return self.wall_ns / self.units if self.units else None


class RunTimes:
    """Follows a run through its tests and tells what is left of each part of it.

    tests : of the run, in order; of one that is resumed, those that are left, with how many there were before them.
    real : the drive's time is that of the wall clock. clock : ns of a monotonic clock.
    """

    def __init__(
        self,
        tests: Sequence[PlannedTest],
        *,
        real: bool,
        before: int = 0,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._tests, self._real, self._before, self._clock = tests, real, before, clock
        self._begun_ns = clock()
        self._number = -1
        self._shares = MonotonicShares()
        self._fill, self._of_run, self._of_test = _Pace(), _Pace(), _Pace()
        self._purge_ns: int | None = None if real else 0
        self._phase, self._purges, self._filled, self._next_ns = 0, 0, 0, 0
        self._begin_phases()

    @property
    def number(self) -> int:
        """Of the test that runs in the whole run, from 1."""
        return self._before + self._number + 1

    @property
    def count(self) -> int:
        """Tests of the whole run."""
        return self._before + len(self._tests)

    @property
    def elapsed_ns(self) -> int:
        """Wall time since the run began."""
        return self._clock() - self._begun_ns

    @property
    def unit_elapsed_ns(self) -> int:
        """Wall time since the sequence, or the purge, began."""
        return self._clock() - self._unit_begun_ns

    def test_begins(self) -> None:
        """The next test begins."""
        self._number += 1
        self._of_test = _Pace()
        self._begin_phases()

    def purge_begins(self) -> None:
        """The drive is purged from now on."""
        self._unit_begun_ns, self.whole, self.done = self._clock(), NOTHING, NOTHING

    def purge_ended(self) -> None:
        """The drive is purged; the next purge takes as long, for all that is known."""
        self._purges += 1
        if self._real:
            self._purge_ns = self.unit_elapsed_ns

    def sequence_begins(self, sequence: StepSequence) -> None:
        """A sequence begins; where its stage is one of a later phase, the test has come to that."""
        self._unit_begun_ns, self.whole, self.done = self._clock(), extent(sequence.steps), NOTHING
        following = range(self._phase, len(self._phases))
        stages = [phase.stages for phase in self._phases]
        index = next((at for at in following if not stages[at] or sequence.stage in stages[at]), self._phase)
        if index != self._phase:
            self._phase, self._phase_done = index, NOTHING

    def looked(self, sequence: StepSequence, step_index: int, io_count: int, elapsed_ns: int) -> None:
        """What the sequence that runs has come to."""
        self.done = extent_done(sequence.steps, step_index, io_count, elapsed_ns)

    def sequence_ended(self, sequence: StepSequence, records: Sequence[StepRecord]) -> None:
        """A sequence has run; how long it took in wall time tells of those to come."""
        whole, share = self.whole, filling_share(sequence.steps, records)
        fill_ns = round(self.unit_elapsed_ns * share)
        if whole.amount_bytes:
            self._fill.add(fill_ns, whole.amount_bytes)
            self._filled += whole.amount_bytes
        if whole.time_ns:
            for pace in (self._of_run, self._of_test):
                pace.add(self.unit_elapsed_ns - fill_ns, whole.time_ns)
            written = sum(issued_bytes(record.write) for record in records)
            self._phase_done += Extent(whole.time_ns, written if sequence.stage != "precondition" else 0)
        self._next_ns = whole.time_ns if sequence.stage in {"round", "sample"} else 0
        self.whole, self.done = NOTHING, NOTHING

    def phase_ended(self) -> None:
        """The phase that ran is over: its last verdict ended it."""
        self._phase, self._phase_done, self._next_ns = self._phase + 1, NOTHING, 0

    def unit_left(self) -> TimeLeft | None:
        """Wall time left of the sequence that runs, at its own pace; None where that is not known yet."""
        whole, left = self.whole, self.whole.without(self.done)
        if whole.amount_bytes and whole.time_ns:
            return None
        if whole.amount_bytes:
            fill = self._fill_left(left.amount_bytes)
            return None if fill.latest_ns is None else fill
        factor = self._factor(self._of_test)
        return None if factor is None or not whole.time_ns else TimeLeft(left.time_ns, left.time_ns).scaled(factor)

    def test_left(self) -> TimeLeft | None:
        """Wall time left of the test that runs; None where it is unknown."""
        factor = self._factor(self._of_test)
        if factor is None:
            return None
        fill_left = max(self._test.written_first_bytes - self._filled - self.done.amount_bytes, 0)
        timed = self._phases_left().scaled(factor)
        return self._purges_left(self._test.purge_count - self._purges) + self._fill_left(fill_left) + timed

    def run_left(self) -> TimeLeft | None:
        """Wall time left of the run, without its report; None where it is unknown."""
        left, factor = self.test_left(), self._factor(self._of_run)
        if left is None or factor is None:
            return None
        for test in self._tests[self._number + 1 :]:
            timed = sum((phase_left(phase, NOTHING, 0) for phase in timed_phases(test)), start=NO_TIME_LEFT)
            left += self._purges_left(test.purge_count) + self._fill_left(test.written_first_bytes)
            left += timed.scaled(factor)
        return left

    def run_shares(self, left: TimeLeft | None) -> tuple[float, float] | None:
        """Bounds of the share of the run that is done, as they may be shown. left : as of ``run_left``."""
        return self._shares.update(left, self.elapsed_ns)

    @property
    def _test(self) -> PlannedTest:
        return self._tests[max(self._number, 0)]

    def _begin_phases(self) -> None:
        self._phases = timed_phases(self._test)
        self._phase, self._purges, self._filled, self._next_ns = 0, 0, 0, 0
        self._phase_done = NOTHING
        self.whole, self.done, self._unit_begun_ns = NOTHING, NOTHING, self._clock()

    def _phases_left(self) -> TimeLeft:
        """Device time: of the phase that runs, and of those after it."""
        running = self.whole.without(self.done).time_ns or self._next_ns
        left = [
            phase_left(phase, self._phase_done, running, self.done.time_ns)
            if index == self._phase
            else phase_left(phase, NOTHING, 0)
            for index, phase in enumerate(self._phases)
            if index >= self._phase
        ]
        return sum(left, start=NO_TIME_LEFT)

    def _factor(self, pace: _Pace) -> float | None:
        """Wall time per device time: measured in this test, else in the run; 1 on a real drive before that."""
        running = _Pace(pace.wall_ns, pace.units)
        if self.done.time_ns:
            running.add(self.unit_elapsed_ns, self.done.time_ns)
        if self._real and running.units < _TELLING_NS:
            return 1.0
        return running.value or self._of_run.value

    def _fill_left(self, left_bytes: int) -> TimeLeft:
        pace = _Pace(self._fill.wall_ns, self._fill.units)
        if self.done.amount_bytes:
            pace.add(self.unit_elapsed_ns, self.done.amount_bytes)
        if pace.value is None:
            return TimeLeft(0, None if left_bytes else 0)
        return TimeLeft(round(left_bytes * pace.value), round(left_bytes * pace.value))

    def _purges_left(self, count: int) -> TimeLeft:
        if count <= 0:
            return NO_TIME_LEFT
        return TimeLeft((self._purge_ns or 0) * count, None if self._purge_ns is None else self._purge_ns * count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """State of drive and host during the running test. after : the sequence after which it was last read.

    temperature_c : of the drive, None where it reports none. host_stalls, host_stalled_ns : of at least 10 ms, in the
    test so far; None where the host is not monitored. drive_events : lines of the kernel's log on the drive so far.
    """

    after: str
    temperature_c: float | None = None
    host_stalls: int | None = None
    host_stalled_ns: int = 0
    drive_events: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEnd:
    """A purge or a sequence that ended without a verdict of its own. span_ns : device time. steps : what ran."""

    name: str
    span_ns: int
    steps: tuple[StepRecord, ...] = ()
    amount_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run has come. The command line shows it; nothing is decided from it.

    folder : of the run. test : empty before the first. number, count : of the test among those of the run, from 1.
    phase : ``purge`` or the stage of a sequence. name : of the sequence, as printed. index : of the round or the
    sequence of samples, from 1; 0 in other phases. virtual : the drive's time is not that of the wall clock.
    step : the cell that runs, or the tenth of a purge. step_number, step_count : its place in the sequence, from 1.
    iops, latency_ms : of the I/Os completed since the last look, all of them in this cell; None where the cell
    began since then, or none completed.
    whole, done : of the sequence; device time and bytes. share : done of a purge or sequence, in [0, 1], None where
    nobody knows. unit_elapsed_ns : its wall time so far, device_ns : its device time so far.
    left, test_left, run_left : of the sequence, the test and the run, wall time; None where it is unknown.
    run_shares : bounds of the share of the run that is done; None while it is unknown.
    elapsed_ns : wall time of the run so far.
    watched : what was seen beside, None before it was.
    judged : set once per finished round or sequence of samples. phase_end, ending : once per phase and test that ended.
    verdict : of a test that ended, what its last verdict was, empty where it takes none.
    advice : what the user must know in case that the purge is cut short, once.
    """

    folder: Path | None = None
    test: str = ""
    number: int = 1
    count: int = 1
    phase: str = ""
    name: str = ""
    index: int = 0
    virtual: bool = False
    step: str = ""
    step_number: int = 0
    step_count: int = 0
    iops: float | None = None
    latency_ms: float | None = None
    whole: Extent = NOTHING
    done: Extent = NOTHING
    share: float | None = None
    device_ns: int = 0
    unit_elapsed_ns: int = 0
    left: TimeLeft | None = None
    test_left: TimeLeft | None = None
    run_left: TimeLeft | None = None
    run_shares: tuple[float, float] | None = None
    elapsed_ns: int = 0
    watched: Watched | None = None
    judged: RoundOutcome | None = None
    phase_end: PhaseEnd | None = None
    ending: Ending | None = None
    verdict: str = ""
    advice: str = ""

    @property
    def is_event(self) -> bool:
        """Whether it tells of something that happened once, and not of how far the run is."""
        return bool(self.judged or self.phase_end or self.ending or self.advice)


class Pace:
    """IOPS and average response time of the I/Os completed between two looks; remembers the last look."""

    def __init__(self) -> None:
        self._last = (0, 0, 0, 0)

    def look(
        self, step_index: int, io_count: int, latency_ns_sum: int, elapsed_ns: int
    ) -> tuple[float | None, float | None]:
        """(IOPS, response time in ms) since the last look.

        None where no time passed, no I/O completed, or another step ran then: the figures would be of both.
        Worked: 100 I/Os summing to 0.2 s in 0.1 s -> 1000 IOPS, 2 ms.
        """
        step, counts, latencies, times = self._last
        io_count_new, latency_new, elapsed_new = io_count - counts, latency_ns_sum - latencies, elapsed_ns - times
        if elapsed_new <= 0:
            return None, None
        self._last = (step_index, io_count, latency_ns_sum, elapsed_ns)
        if step != step_index:
            return None, None
        latency_ms = latency_new / io_count_new / MILLISECOND_NS if io_count_new else None
        return io_count_new * SECOND_NS / elapsed_new, latency_ms
