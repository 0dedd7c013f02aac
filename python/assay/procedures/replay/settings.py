"""What a replay was set to do, and what is known of its trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Read by the codec when the program runs.
from assay.engine.records import StepSpec, TestSettings
from assay.traces import Mapping, StreamMap


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSource:
    """A trace and how it is read. path : absolute; the rest is as in ``ReplayOptions``."""

    path: str
    columns: str | None = None
    event: Literal["issue", "queue"] = "issue"
    device: str | None = None
    wait: Literal["ms_since_start", "us_since_previous"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFacts:
    """What was found in a trace.

    sha256 : of its content. form : which kind of file it is. told : how it is read, a sentence each. has_times : False
    where it has none. largest_bytes : the largest read or write. issued_count : I/Os that a replay issues: those of no
    bytes are left out, large trims split. map : sizes, mix, order, places and times.
    """

    sha256: str
    form: str
    told: tuple[str, ...]
    has_times: bool
    largest_bytes: int
    issued_count: int
    map: StreamMap


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings(TestSettings):
    """What a replay used.

    source, facts : the trace. speed : the times of the trace are divided by it; None where they do not count.
    mapping : where the I/Os go. fill_bytes : written in order first, by writes of ``fill_transfer_bytes``.
    step : that issues the I/Os.
    """

    source: TraceSource
    facts: TraceFacts
    speed: float | None
    mapping: Mapping
    fill_bytes: int
    fill_transfer_bytes: int
    step: StepSpec

    @property
    def transfer_bytes_max(self) -> int:
        """The largest read or write."""
        return max(self.step.pattern.sizes[0][0], self.fill_transfer_bytes)

    @property
    def requires_steady_state(self) -> bool:
        """Nothing is judged."""
        return False

    @property
    def span_ns(self) -> int:
        """From the first I/O to the last, as they are due; 0 where times do not count."""
        return 0 if self.speed is None else round(self.facts.map.span_ns / self.speed)
