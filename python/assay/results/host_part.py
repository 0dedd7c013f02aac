"""The host's part in each number: in rates and means, and in the tail."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from assay.results.finding import Finding, at_most
from assay.results.measured import counted_sequences, counted_window
from assay.results.sequence_names import sequence_place
from assay.results.step import group_of, mean_latency_ns
from assay.spec.units import SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import CalibrationPoint, Demand, HostCalibration, HostRecord, StoredSequence, StoredTest
    from assay.results.finding import Level
    from assay.words.coded import Place


CALM_OTHER_MAX, CALM_STEAL_MAX = 0.01, 0.005
"""Shares of all processors' time that other tasks and the hypervisor may use while a host is calibrated."""


def is_calm(calibration: HostCalibration | None) -> bool:
    """Whether the host was quiet while it was calibrated; what the kernel does not count is not quiet.

    Worked: other tasks 0.4 %, steal 0 -> True; other tasks 1 % -> False.
    """
    if calibration is None or calibration.other_busy_share is None or calibration.steal_share is None:
        return False
    return calibration.other_busy_share < CALM_OTHER_MAX and calibration.steal_share < CALM_STEAL_MAX


def calm_of_step(sequence: StoredSequence, index: int, calibration: HostCalibration | None) -> CalibrationPoint | None:
    """The point of a calibration nearest to a step; None where it does not count."""
    return calm_point(calibration, sequence.asked[index].demand, mean_latency_ns(sequence.steps[index]) or 1.0)


def calm_point(calibration: HostCalibration | None, demand: Demand, mean_ns: float) -> CalibrationPoint | None:
    """The point of a calibration nearest to a demand and a mean response time; None where it does not count.

    Nearest is where the ratios of threads, queue depth and answer time are the fewest octaves apart.
    Worked: 1 x 32 that takes 0.8 ms -> of 1 x 1 and 1 x 32, each of 0.1 and 1 ms, 1 x 32 of 1 ms.
    """
    if calibration is None or not is_calm(calibration):
        return None

    def apart(point: CalibrationPoint) -> float:
        ratios = (
            point.thread_count / demand.thread_count,
            point.queue_depth / demand.queue_depth,
            point.answer_ns / max(mean_ns, 1.0),
        )
        return sum(abs(log2(ratio)) for ratio in ratios)

    return min(calibration.points, key=apart, default=None)


PART_PASS, PART_INVALID = 0.01, 0.05
"""Shares: up to the first a number is the drive's; above the second it is the host's, and is withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPart:
    """The host's part in the numbers of some steps.

    index : of the steps in their sequences, where the rounds of a window are averaged cell by cell; else None.
    where : the sequence, or that of the largest part. share : in [0, 1]; None where it cannot be told.
    """

    index: int | None
    where: Place
    share: float | None


def host_parts(test: StoredTest) -> tuple[HostPart, ...]:
    """The host's part in what results come from; none where time is virtual.

    Of the rounds of a window, one for each cell: the average of its rounds by their length. Of every other sequence,
    the average of its steps.
    """
    watched = [sequence for sequence in counted_sequences(test) if sequence.host and busy_steps(sequence)]
    averaged, calibration = set(map(id, counted_window(test))), test.calibration
    window = [sequence for sequence in watched if id(sequence) in averaged]
    cells = [_of_cell(window, index, calibration) for index in range(_step_count(window))]
    return (*cells, *(_of_sequence(sequence, calibration) for sequence in watched if id(sequence) not in averaged))


def host_part_findings(test: StoredTest) -> Iterator[Finding]:
    """Whether a rate or a mean is the drive's, for every part.

    Worked: a thread that waited for 1.2 s of 60 s -> 0.02, ``warn``; 6 s -> 0.1, ``invalid``; on a host that was not
    calibrated while it was quiet, 0.1 s -> ``unknown``.
    """
    for part in host_parts(test):
        if part.share is None:
            yield Finding(level="unknown", reason=coded("host-part-unknown"), where=part.where)
            continue
        level = part_level(part.share, test.calibration)
        calibrated = coded("not-calm") if level == "unknown" else None
        reason = coded("host-part", share=part.share, where=part.where, calibrated=calibrated)
        yield Finding(level=level, reason=reason, measured=part.share, limit=PART_PASS, where=part.where)


def part_level(share: float, calibration: HostCalibration | None) -> Level:
    """How a part is judged; a small one passes only where the host was calibrated while it was quiet."""
    level = at_most(share, PART_PASS, PART_INVALID)
    return "unknown" if level == "pass" and not is_calm(calibration) else level


def step_part(sequence: StoredSequence, index: int, calibration: HostCalibration | None) -> float | None:
    """The host's part in one step, or in all that run beside it; None where it cannot be told.

    Worked: of 60 s one thread waited for 0.9 s, of which a calibration says 0.3 s -> 0.01.
    """
    group = group_of(sequence.asked, index)
    first, host = sequence.steps[group.start], sequence.host
    length_ns = first.lead_in_ns + first.span_ns
    if host is None or host.began_ns is None or first.wait_ns is None or not length_ns:
        return None
    threads = sum(sequence.asked[member].demand.thread_count for member in group)
    calm = calm_of_step(sequence, index, calibration)
    waited = first.wait_ns / (threads * length_ns) - (calm.wait_share or 0.0 if calm else 0.0)
    begin_ns = first.start_ns - first.lead_in_ns
    stalled = _stalled_ns(host, begin_ns, begin_ns + length_ns) / length_ns
    served = (host.server_wait_ns or 0) / (host.span_ns * threads)
    return min(max(waited, stalled, _held_back(host), 0.0) + _stolen(host) + served, 1.0)


def average_part(steps: Iterable[tuple[StoredSequence, int]], calibration: HostCalibration | None) -> float | None:
    """The host's part in a number that comes from several steps, by their length; None where one cannot be told.

    Worked: 0.01 of one minute and 0.03 of another -> 0.02.
    """
    return _average(
        (step_part(sequence, index, calibration), sequence.steps[index].span_ns) for sequence, index in steps
    )


def sequence_part(sequence: StoredSequence, calibration: HostCalibration | None) -> float | None:
    """The host's part in all steps of a sequence, by their length; None where one cannot be told."""
    return average_part([(sequence, index) for index in busy_steps(sequence)], calibration)


def busy_steps(sequence: StoredSequence) -> list[int]:
    """The steps of a sequence that issue I/Os: no thread waits in idle time."""
    return [index for index in range(len(sequence.steps)) if sequence.asked[index].demand.thread_count]


def _stalled_ns(host: HostRecord, begin_ns: int, end_ns: int) -> int:
    """Stalls in a span, or the largest lateness of each of its seconds, where that is more."""
    first, last = ((at_ns - (host.began_ns or 0)) // SECOND_NS for at_ns in (begin_ns, end_ns - 1))
    late_ns = sum(min(late, SECOND_NS) for second, late in host.late_ns_by_second if first <= second <= last)
    return max(late_ns, sum(max(min(start + span, end_ns) - max(start, begin_ns), 0) for start, span in host.stalls))


def _held_back(host: HostRecord) -> float:
    return min((host.throttled_ns or 0) / host.span_ns, 1.0)


def _stolen(host: HostRecord) -> float:
    return (host.stimulus_steal_ns or 0) / (host.span_ns * (host.stimulus_cpu_count or host.cpu_count))


def _step_count(window: Sequence[StoredSequence]) -> int:
    return min((len(sequence.steps) for sequence in window), default=0)


def _of_cell(window: Sequence[StoredSequence], index: int, calibration: HostCalibration | None) -> HostPart:
    parts = [
        (step_part(sequence, index, calibration), sequence.steps[index].span_ns, sequence_place(sequence))
        for sequence in window
    ]
    worst = max(parts, key=lambda part: part[0] or 0.0)
    return HostPart(index=index, where=worst[2], share=_average((share, span) for share, span, _ in parts))


def _of_sequence(sequence: StoredSequence, calibration: HostCalibration | None) -> HostPart:
    return HostPart(index=None, where=sequence_place(sequence), share=sequence_part(sequence, calibration))


def _average(parts: Iterable[tuple[float | None, int]]) -> float | None:
    """By their length; steps that never began do not count. None where one cannot be told."""
    begun = [(share, span) for share, span in parts if span]
    if not begun or any(share is None for share, _ in begun):
        return None
    return sum((share or 0.0) * span for share, span in begun) / sum(span for _, span in begun)
