"""What a replay was set to do, and what is known of its trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Read by the codec when the program runs.
from assay.engine.records import StepSpec, TestSettings
from assay.errors import UsageError
from assay.workloads.traces import Mapping, Rounded, StreamMap


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
    where it has none. issued_count : I/Os that a replay issues: those of no bytes are left out, large trims split.
    rounded : what whole blocks make of them, for each size of block. map : sizes, mix, order, places and times.
    guessed : columns that were told by their look, in the words of ``--columns``; None where they are known.
    """

    sha256: str
    form: str
    told: tuple[str, ...]
    has_times: bool
    issued_count: int
    rounded: tuple[Rounded, ...]
    map: StreamMap
    guessed: str | None = None

    def rounded_to(self, block_bytes: int) -> Rounded:
        """What whole blocks make of the I/Os. Raises UsageError for a block that no trace is counted for."""
        result = next((one for one in self.rounded if one.block_bytes == block_bytes), None)
        if result is None:
            reason = "is none that a trace is rounded to"
            raise UsageError(f"logical block of {block_bytes} bytes", reason, "replay on a drive of 512 or 4096 bytes")
        return result


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
    def rounded(self) -> Rounded:
        """What whole blocks of this drive make of the I/Os."""
        return self.facts.rounded_to(self.mapping.logical_block_bytes)

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
