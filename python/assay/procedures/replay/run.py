"""What a replay is set to do, what is known of its trace, and the I/Os that it issues."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

# Read by the codec when the program runs.
from assay.engine.records import Ending, StepSequence, StepSpec, TestSettings
from assay.errors import StoreError, UsageError
from assay.plan.fills import prepared
from assay.results.step import short_of_asked
from assay.words.outcomes import INCOMPLETE
from assay.workloads.traces import Mapping, Rounded, StreamMap, at_speed, issued, mapped, open_trace, write_replay

if TYPE_CHECKING:
    from assay.plan.procedure import Context, Course
    from assay.workloads.traces import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSource:
    """A trace and how it is read. path : absolute; the rest is as in ``ReplayOptions``."""

    path: str
    columns: str | None = None
    event: Literal["issue", "queue"] = "issue"
    device: str | None = None
    wait: Literal["ms_since_start", "us_since_previous"] | None = None

    def opened(self) -> Trace:
        """The trace itself."""
        return open_trace(Path(self.path), self.columns, event=self.event, device=self.device, wait=self.wait)


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


def run_replay(settings: ReplaySettings, _: Context) -> Course:
    """Purge and fill as stated, then the I/Os of the trace."""
    yield from prepared(settings)
    records = yield StepSequence(
        name="replay",
        stage="replay",
        index=0,
        steps=(settings.step,),
        role="measure",
        on_void="stop",
        replay=partial(write_ios, settings),
    )
    if short := short_of_asked(records, settings.step.stop):
        return Ending(reason=INCOMPLETE, reached=True, detail=short)
    return Ending(reason="time", reached=True)


def write_ios(settings: ReplaySettings, path: Path) -> None:
    """Write the I/Os of a trace where and when they are to be issued on this drive.

    Raises UsageError where the trace is another than the one that was looked at, StoreError where it cannot be written.
    """
    trace = settings.source.opened()
    if digest(trace) != settings.facts.sha256:
        raise UsageError(settings.source.path, "was changed since the run was planned", "run again")
    write_replay(path, at_speed(mapped(issued(trace), settings.mapping), settings.speed or 1.0))


def digest(trace: Trace) -> str:
    """SHA-256 of the files of a trace, one after the other."""
    result = hashlib.sha256()
    for path in trace.files:
        try:
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    result.update(chunk)
        except OSError as error:
            raise StoreError(str(path), error.strerror or "cannot be read", "name a readable trace") from None
    return result.hexdigest()
