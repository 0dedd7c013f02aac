"""A trace that is looked at before it is replayed, and issued from again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import StoreError, UsageError
from assay.procedures.replay.settings import TraceFacts
from assay.workloads.traces import RoundedSums, at_speed, issued, mapped, open_trace, stream_map, write_replay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.replay.settings import ReplaySettings, TraceSource
    from assay.workloads.traces import Batch, Trace


def looked_at(source: TraceSource) -> TraceFacts:
    """Read a trace once and say what it holds.

    Raises UsageError with line or byte for what is wrong with it, and where it holds no I/O.
    """
    if not Path(source.path).is_file():
        raise UsageError(source.path, "No such file", "name a trace")
    trace, seen = opened(source), _Seen()
    result = stream_map(seen.passing(trace))
    if not seen.issued_count:
        raise UsageError(source.path, "holds no I/O", "name another trace, or its device")
    facts = TraceFacts(
        sha256=_digest(trace),
        form=trace.form,
        told=trace.told,
        has_times=trace.has_times,
        issued_count=seen.issued_count,
        rounded=seen.rounded.result(),
        map=result,
        guessed=trace.guessed,
    )
    _refuse_implausible(source, facts)
    return facts


def guess_remedy(facts: TraceFacts) -> str:
    """What to do where the columns of a trace were told by their look, and perhaps wrongly."""
    return f"name its columns, or confirm these: --columns {facts.guessed}"


def _refuse_implausible(source: TraceSource, facts: TraceFacts) -> None:
    """Refuse what columns that were only guessed make of a trace, where no drive is likely to have been asked that."""
    if facts.guessed is None:
        return
    counts, inside = facts.map.io_count, facts.rounded_to(512).io_count
    kinds = [name for name, count in counts.items() if count]
    reason = ""
    if inside:
        reason = f"{inside:,} of its I/Os would begin or end inside a sector of 512 bytes"
    elif len(kinds) == 1:
        reason = f"all of its I/Os would be a {kinds[0]}"
    if reason:
        raise UsageError(source.path, f"looks like a trace of {facts.form}, but {reason}", guess_remedy(facts))


def opened(source: TraceSource) -> Trace:
    """The trace itself."""
    path = Path(source.path)
    return open_trace(path, source.columns, event=source.event, device=source.device, wait=source.wait)


def write_ios(settings: ReplaySettings, path: Path) -> None:
    """Write the I/Os of a trace where and when they are to be issued on this drive.

    Raises UsageError where the trace is another than the one that was looked at, StoreError where it cannot be written.
    """
    trace = opened(settings.source)
    if _digest(trace) != settings.facts.sha256:
        raise UsageError(settings.source.path, "was changed since the run was planned", "run again")
    write_replay(path, at_speed(mapped(issued(trace), settings.mapping), settings.speed or 1.0))


class _Seen:
    """Of the batches that pass, how many I/Os are issued for them, and what whole blocks make of these."""

    def __init__(self) -> None:
        self.issued_count, self.rounded = 0, RoundedSums()

    def passing(self, trace: Trace) -> Iterator[Batch]:
        for batch in trace:
            for part in issued([batch]):
                self.issued_count += len(part)
                self.rounded.add(part)
            yield batch


def _digest(trace: Trace) -> str:
    """SHA-256 of the files of a trace, one after the other."""
    digest = hashlib.sha256()
    for path in trace.files:
        try:
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        except OSError as error:
            raise StoreError(str(path), error.strerror or "cannot be read", "name a readable trace") from None
    return digest.hexdigest()
