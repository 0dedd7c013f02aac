"""What a run tells those who watch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.spec.units import MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from assay.procedures.until import RoundOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run has come. The command line shows it; nothing is decided from it.

    phase : ``purge``, ``precondition``, ``round``, ``sample`` or ``histogram``. index : of the round or the sequence of
    samples, from 1; 0 in other phases. step : the cell that runs.
    iops, latency_ms : of the I/Os completed since the last look, None before the first.
    unit_done_ns, unit_ns : device time of this sequence so far and in all; unit_ns is 0 where an amount ends it.
    done_ns : device time of the test so far. earliest_ns, latest_ns : of its earliest and its latest end; latest_ns is
    None where only the drive decides.
    judged : set once per finished round or sequence of samples.
    advice : what the user must know in case that the purge is cut short, once.
    """

    test: str
    phase: str
    step: str = ""
    index: int = 0
    iops: float | None = None
    latency_ms: float | None = None
    unit_done_ns: int = 0
    unit_ns: int = 0
    done_ns: int = 0
    earliest_ns: int = 0
    latest_ns: int | None = None
    judged: RoundOutcome | None = None
    advice: str = ""


class Pace:
    """IOPS and average response time of the I/Os completed between two looks; remembers the last look."""

    def __init__(self) -> None:
        self._last = (0, 0, 0)

    def look(self, io_count: int, latency_ns_sum: int, elapsed_ns: int) -> tuple[float | None, float | None]:
        """(IOPS, response time in ms) since the last look; None where no time passed or no I/O completed.

        Worked: 100 I/Os summing to 0.2 s in 0.1 s -> 1000 IOPS, 2 ms.
        """
        counts, latencies, times = self._last
        io_count_new, latency_new, elapsed_new = io_count - counts, latency_ns_sum - latencies, elapsed_ns - times
        if elapsed_new <= 0:
            return None, None
        self._last = (io_count, latency_ns_sum, elapsed_ns)
        latency_ms = latency_new / io_count_new / MILLISECOND_NS if io_count_new else None
        return io_count_new * SECOND_NS / elapsed_new, latency_ms
