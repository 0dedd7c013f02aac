"""What a replay did: the I/Os as they were issued, what the drive answered, and how faithful the times are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.procedures.replay.run import ReplaySettings
from assay.procedures.workload.result import stream_results
from assay.results.seconds import completions_per_second
from assay.workloads.traces import stream_map

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.procedures.workload.result import StreamResult, Times
    from assay.workloads.traces import StreamMap

GRADES = (("exact", 0.0), ("good", 0.1), ("fair", 1.0))
"""Grades of lateness with the longest p99 in ms of each: nothing; less than a flash read takes; less than a busy drive
answers in. What is later is ``poor``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay did.

    stream : its I/Os as those of one stream, over the whole replay. issued : the map of the I/Os as they were to be
    issued on this drive. grade : of the lateness, None where times do not count. per_s : completions in each second.
    """

    stream: StreamResult
    issued: StreamMap
    grade: str | None
    per_s: tuple[float, ...]

    @property
    def timed(self) -> bool:
        """Whether the times of the trace count."""
        return self.stream.offered is not None


def replayed(test: StoredTest) -> Replayed | None:
    """What the replay of a stored test did; None where it did not begin."""
    sequence = next((sequence for sequence in test.sequences if sequence.role == "measure"), None)
    if sequence is None or sequence.replayed is None or not sequence.steps[0].span_ns:
        return None
    (stream,), traced = stream_results(sequence), test.settings_as(ReplaySettings).facts.map.io_count
    commands = (operation for operation in ("trim", "flush") if traced[operation])
    return Replayed(
        stream=replace(stream, operations=("transfer", *commands)),
        issued=stream_map(sequence.replayed()),
        grade=grade(stream.late),
        per_s=completions_per_second(sequence, 0),
    )


def grade(late: Times) -> str | None:
    """How faithful the times are: by the 99th percentile of the lateness, or its largest where there are too few I/Os.

    None without I/Os. Worked: a p99 of 0.05 ms is ``good``, one of 2 ms ``poor``.
    """
    p99_ms = late.at(0.99)
    late_ms = late.largest if p99_ms is None else p99_ms
    if late_ms is None:
        return None
    return next((word for word, most_ms in GRADES if late_ms <= most_ms), "poor")
