"""The table ``[replay]`` of a plan file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from assay.errors import UsageError
from assay.plan.options import Options
from assay.procedures.replay.settings import TraceFacts, TraceSource
from assay.procedures.replay.trace_view import looked_at
from assay.spec.datum import FileName

SPEED_MIN, SPEED_MAX = 0.001, 1000.0
"""Times between recorded I/Os may be divided by so much."""


class ReplayOptions(Options):
    """A trace, and how it is issued again on this drive.

    trace : the trace, a file. columns : of a CSV of another than the public forms, as
    ``time=1:us,op=2,offset=3:bytes,size=4:bytes``.
    event : which event of blktrace is an I/O. device : the drive, where a trace has several.
    wait : how waits of an iolog of version 2 count.
    speed : the times between I/Os are divided by it, or ``max``: in order, as fast as possible.
    map : addresses as traced, scaled to the drive, or wrapped at its end.
    traced_bytes : size of the drive that was traced; without it the end of the trace's last I/O.
    queue_depth : most I/Os outstanding; one that finds no slot is late.
    purge : the drive is purged first. prepare_fills : it is then filled so many times in order.
    facts : what was found when the trace was looked at; filled in by the tool.
    """

    needs_file: ClassVar[bool] = True

    trace: FileName = ""
    columns: Annotated[str, Field(max_length=200)] | None = None
    event: Literal["issue", "queue"] = "issue"
    device: Annotated[str, Field(max_length=200)] | None = None
    wait: Literal["ms_since_start", "us_since_previous"] | None = None
    speed: Annotated[float, Field(ge=SPEED_MIN, le=SPEED_MAX)] | Literal["max"] = 1.0
    map: Literal["keep", "scale", "wrap"] = "keep"
    traced_bytes: Annotated[int, Field(ge=512, le=1 << 60)] | None = None
    queue_depth: Annotated[int, Field(ge=1, le=4096)] = 256
    purge: bool = True
    prepare_fills: Annotated[float, Field(ge=0, le=100)] = 1.0
    facts: Annotated[TraceFacts | None, Field(json_schema_extra={"readOnly": True})] = None

    @property
    def source(self) -> TraceSource:
        """The trace and how it is read."""
        path = str(Path(self.trace).absolute())
        return TraceSource(path=path, columns=self.columns, event=self.event, device=self.device, wait=self.wait)

    def looked(self) -> Self:
        """The same with the facts of the trace, which is read once.

        Raises UsageError where the trace is no trace, or has no times and is to be issued by them.
        """
        if not self.trace or self.facts is not None:
            return self
        return self.model_copy(update={"trace": self.source.path, "facts": looked_at(self.source)})

    def require_trace(self) -> TraceFacts:
        """What was found in the trace. Raises UsageError where there is none, or its times are needed and missing."""
        if self.facts is None:
            raise UsageError("replay", "names no trace", "state trace = FILE in [replay], or name a file with --replay")
        if self.speed != "max" and not self.facts.has_times:
            reason = "has no times at which its I/Os were issued"
            raise UsageError(self.trace, reason, "issue them as fast as possible: --speed max, or speed = 'max'")
        return self.facts
