"""How a replay is planned: its table in a plan file, what is found in its trace, and how it is put on the drive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field

from assay.engine.pattern import leading_range
from assay.engine.records import AccessPattern, Demand, StepSpec, StopRule
from assay.errors import UsageError
from assay.plan.fills import fill_amounts, fill_phase
from assay.plan.options import Options
from assay.plan.phases import PlannedPhase
from assay.plan.procedure import LONGEST_NS, PlannedTest, PlanSummary
from assay.procedures.planned import common_settings, whole_drive_bytes
from assay.procedures.replay.run import ReplaySettings, TraceFacts, TraceSource, digest, run_replay
from assay.spec.datum import FileName
from assay.spec.units import SECOND_NS, TRANSFER_BYTES_MAX
from assay.workloads.traces import RoundedSums, issued, mapping_for, stream_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity
    from assay.plan.procedure import Request
    from assay.spec.datum import Strict
    from assay.workloads.traces import Batch, Mapping

SPEED_MIN, SPEED_MAX = 0.001, 1000.0
"""Times between recorded I/Os may be divided by so much."""
_SIZES_NAMED = 4
"""Sizes of a trace that a plan names."""


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
        """These options with the facts of the trace, which is read once.

        Raises UsageError where the trace is no trace, or has no times and is to be issued by them.
        """
        if not self.trace or self.facts is not None:
            return self
        return self.model_copy(update={"trace": self.source.path, "facts": _looked_at(self.source)})


def plan_replay(request: Request[Strict, ReplayOptions]) -> list[PlannedTest]:
    """Settle how a trace is replayed on a drive.

    Raises UsageError without a trace or the times that it is to be issued by, and for one that does not fit this drive
    as the plan maps it.
    """
    options, facts = request.options, request.options.facts
    if facts is None:
        raise UsageError("replay", "names no trace", "state trace = FILE in [replay], or name a file with --replay")
    if options.speed != "max" and not facts.has_times:
        reason = "has no times at which its I/Os were issued"
        raise UsageError(options.trace, reason, "issue them as fast as possible: --speed max, or speed = 'max'")
    settings = _settings(request, facts)
    least_ns, written = settings.span_ns, settings.rounded.write_bytes
    replayed = PlannedPhase(
        name="replay",
        stages=("replay",),
        least_ns=least_ns,
        most_ns=LONGEST_NS if settings.speed is None else max(least_ns, 1),
        carried_bytes=written,
    )
    return [
        PlannedTest(
            settings=settings,
            run=run_replay,
            earliest_ns=least_ns,
            latest_ns=None,
            written_first_bytes=settings.fill_bytes,
            written_amount_bytes=written,
            phases=(*fill_phase(settings.fill_bytes), replayed),
            purge_count=int(settings.purges),
            step_count=2 if settings.fill_bytes else 1,
            outline=_outline(settings, request.scale),
        )
    ]


def _looked_at(source: TraceSource) -> TraceFacts:
    """Read a trace once and say what it holds.

    Raises UsageError with line or byte for what is wrong with it, where it holds no I/O, and for what columns that were
    only guessed make of it, where no drive is likely to have been asked that.
    """
    if not Path(source.path).is_file():
        raise UsageError(source.path, "No such file", "name a trace")
    trace, rounded, issued_count = source.opened(), RoundedSums(), 0

    def passing() -> Iterator[Batch]:
        nonlocal issued_count
        for batch in trace:
            for part in issued([batch]):
                issued_count += len(part)
                rounded.add(part)
            yield batch

    found = stream_map(passing())
    if not issued_count:
        raise UsageError(source.path, "holds no I/O", "name another trace, or its device")
    facts = TraceFacts(
        sha256=digest(trace),
        form=trace.form,
        told=trace.told,
        has_times=trace.has_times,
        issued_count=issued_count,
        rounded=rounded.result(),
        map=found,
        guessed=trace.guessed,
    )
    inside, kinds = facts.rounded_to(512).io_count, [name for name, count in found.io_count.items() if count]
    if facts.guessed is not None and (inside or len(kinds) == 1):
        reason = f"{inside:,} of its I/Os would begin or end inside a sector of 512 bytes"
        reason = reason if inside else f"all of its I/Os would be a {kinds[0]}"
        raise UsageError(source.path, f"looks like a trace of {facts.form}, but {reason}", _guess_remedy(facts))
    return facts


def _guess_remedy(facts: TraceFacts) -> str:
    """What to do where the columns of a trace were told by their look, and perhaps wrongly."""
    return f"name its columns, or confirm these: --columns {facts.guessed}"


def _settings(request: Request[Strict, ReplayOptions], facts: TraceFacts) -> ReplaySettings:
    options, drive = request.options, request.drive
    speed = None if options.speed == "max" else options.speed
    demand = Demand(thread_count=1, queue_depth=options.queue_depth)
    if speed is not None:
        rate = facts.map.total_count * SECOND_NS / max(facts.map.span_ns / speed, 1)
        rate = min(max(rate, 0.001), 1e9)
        demand = replace(demand, arrivals_per_s=rate, arrival_process="recorded")
    whole = whole_drive_bytes(drive)
    return ReplaySettings(
        **{**common_settings(request, "replay", demand), "test": "study-replay", "purges": options.purge},
        source=options.source,
        facts=facts,
        speed=speed,
        mapping=_mapping(options, facts, drive),
        **fill_amounts(options.prepare_fills, whole, drive),
        step=StepSpec(
            label="replay",
            pattern=_pattern(request, facts),
            demand=demand,
            active_range=leading_range(whole),
            stop=StopRule(io_count=facts.issued_count),
        ),
    )


def _mapping(options: ReplayOptions, facts: TraceFacts, drive: DriveIdentity) -> Mapping:
    traced = options.traced_bytes or max(facts.map.end_bytes, drive.logical_block_bytes)
    if traced < facts.map.end_bytes:
        reason = f"goes up to byte {facts.map.end_bytes:,}, beyond the {traced:,} bytes of the traced drive"
        raise UsageError(options.trace, reason, "correct traced_bytes")
    if facts.guessed is not None and options.map == "keep" and traced > whole_drive_bytes(drive):
        reason = f"looks like a trace of {facts.form}, but would go up to byte {traced:,}, beyond this drive"
        raise UsageError(options.trace, reason, f"{_guess_remedy(facts)}; or map it with --map scale or wrap")
    return mapping_for(
        options.map,
        span_bytes=traced,
        capacity_bytes=whole_drive_bytes(drive),
        logical_block_bytes=drive.logical_block_bytes,
    )


def _pattern(request: Request[Strict, ReplayOptions], facts: TraceFacts) -> AccessPattern:
    """What is known of the accesses: the largest transfer, in whole blocks."""
    block = request.drive.logical_block_bytes
    largest = facts.rounded_to(block).largest_bytes
    if largest > TRANSFER_BYTES_MAX:
        reason = f"has a read or write of {largest:,} bytes in whole blocks, more than {TRANSFER_BYTES_MAX:,}"
        raise UsageError(request.options.trace, reason, "split it before")
    moved = facts.map.io_count
    reads, writes = moved["read"], moved["write"]
    return AccessPattern(
        sizes=((max(largest, block), 1.0),),
        read_share=reads / (reads + writes) if reads + writes else 1.0,
        random_share=1.0 - (facts.map.sequential_share or 0.0),
        data=request.data,
        operation="replay",
    )


def _outline(settings: ReplaySettings, scale: float) -> PlanSummary:
    facts, speed, rounded = settings.facts, settings.speed, settings.rounded.sentence
    at = "as fast as possible" if speed is None else f"at {speed:g} times the speed of the trace"
    return PlanSummary(
        what="replay",
        steps=f"{facts.map.total_count:,} I/Os {at}",
        step_ns=settings.span_ns,
        notes=(
            f"{facts.form}; {'; '.join(facts.told)}",
            _content(facts),
            settings.mapping.sentence,
            *([rounded] if rounded else []),
            *([] if scale == 1 else ["--scale shortens no trace; --speed does"]),
        ),
        facts={"trace": settings.source.path, "io_count": facts.map.total_count},
    )


def _content(facts: TraceFacts) -> str:
    """Read share, most frequent sizes, range and rate of a trace, by which a wrong reading of it shows.

    Worked: ``70.0 % reads; 4,096 bytes (90 %), 8,192 bytes (10 %); up to byte 1,000,000; 200.0 I/Os per second``.
    """
    found = facts.map
    shares: dict[int | None, float] = {}
    for one in found.sizes:
        # Whatever was done by them; a flush has none.
        if one.operation != "flush":
            shares[one.length_bytes] = shares.get(one.length_bytes, 0.0) + one.share
    ranked = sorted(shares.items(), key=lambda pair: -pair[1])
    named = [f"{f'{size:,}' if size else 'other'} bytes ({round(share * 100)} %)" for size, share in ranked]
    more = len(named) - _SIZES_NAMED
    sizes = ", ".join(named[:_SIZES_NAMED]) + (f" and {more} more sizes" if more > 0 else "")
    moved = found.io_count["read"] + found.io_count["write"]
    reads = f"{found.io_count['read'] / moved * 100:.1f} % reads; " if moved else ""
    rate = f"; {found.ios_per_s:,.1f} I/Os per second" if found.ios_per_s and facts.has_times else ""
    return f"{reads}{sizes or 'no transfers'}; up to byte {found.end_bytes:,}{rate}"
