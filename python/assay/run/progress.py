"""What a run tells those who watch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.run.time_left import NOTHING
from assay.spec.units import MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import Ending, StepRecord
    from assay.plan.until import RoundOutcome
    from assay.run.time_left import Extent, TimeLeft


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was seen beside the test that runs. after : the sequence behind which it was last asked.

    temperature_c : of the drive, None where it tells none. host_stalls, host_stalled_ns : of at least 10 ms, in the
    test so far; None where nobody watched the host. drive_events : lines of the kernel's log on the drive, likewise.
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
    left, test_left, run_left : of the sequence, the test and the run, wall time; None where nothing can be told.
    run_shares : between what the share of the run lies that is done; None where it can be told no longer, or not yet.
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
