"""From a workload to an Iometer file, where one can say the same.

A stage is a run of all workers. A stream is a worker for each of its threads; where a stage has no such stream, the
worker runs the built-in specification Idle, so that stages of any streams follow each other as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

from assay.errors import UsageError
from assay.workloads.iometer.keys import NAME_MAX, WORKERS_MAX
from assay.workloads.iometer.lines import INT_MAX
from assay.workloads.iometer.model import (
    IDLE,
    SPEC_NAME_MAX,
    VERSION_1_1,
    AccessRow,
    AccessSpec,
    Assigned,
    IcfFile,
    Manager,
    Note,
    QueueCycling,
    Setup,
    StepKind,
    TargetSettings,
    Worker,
    spec_name,
)
from assay.workloads.iometer.semantics import cycling_steps, pattern_from
from assay.workloads.iometer.to_workload import SECTOR_BYTES, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.spec.workload import Line, Stage, Stream, Workload

_BUILT_IN = ("Idle", "Default")
_MANAGER_NAME = "LOCALHOST"
_DESCRIPTION_MAX = 190
_REMEDY = "convert it to another form, or change it"


def from_workload(workload: Workload, *, sector_bytes: int = SECTOR_BYTES) -> IcfFile:
    """An Iometer file, as 1.1.0 has them, that makes the same I/Os. sector_bytes : in which its ranges are counted.

    What differs in a way that the drive does not feel is in ``notes``. Raises UsageError that names stage, stream and
    what an Iometer file has no words for: rates, trims, flushes, amounts, shares of a capacity.
    """
    return _Conversion(workload, sector_bytes).file()


def access_spec(stage: Stage, stream: Stream, name: str | None = None) -> AccessSpec:
    """The lines of a stream as an access specification, for result files. name : that of its stage unless given.

    Raises UsageError for what Iometer has no words for: rates, trims, flushes, groups of LBAs, parts of a per cent.
    """
    if stream.operation != "transfer" or stream.rate or stream.lba_groups:
        what = "a rate" if stream.rate else "groups of LBAs" if stream.lba_groups else f"{stream.operation}s"
        remedy = "see its tables with assay report"
        raise UsageError(f"{stage.name}: {stream.name}", f"has {what}, which Iometer has no words for", remedy)
    rows = tuple(_row(stage, stream, line) for line in stream.lines)
    return AccessSpec(name=_spec_name(stage.name if name is None else name), assignment="NONE", rows=rows)


def _spec_name(text: str) -> str:
    return spec_name(_plain(text))[:SPEC_NAME_MAX].strip() or "Specification"


@dataclass
class _Slot:
    """A worker while it is made. runs : the specification of each stage."""

    name: str
    settings: TargetSettings
    runs: list[str] = field(default_factory=list)


class _Conversion:
    def __init__(self, workload: Workload, sector_bytes: int) -> None:
        self.workload, self.sector_bytes = workload, sector_bytes
        self.stages, self.queue_cycling = _queue_steps(workload.stages)
        writers = (stream for stage in workload.stages for stream in stage.streams if not _only_reads(stream))
        # That of workers that only read has no effect: it is that of the first that writes.
        self.read_pattern = next((pattern_from(stream) or 0 for stream in writers), 0)
        self.specs: dict[tuple[Line, ...], AccessSpec] = {}
        self.spec_names = {name.casefold() for name in _BUILT_IN}
        self.worker_names: set[str] = set()
        self.slots: dict[tuple[TargetSettings, int], _Slot] = {}
        self.notes: list[Note] = []

    def file(self) -> IcfFile:
        seconds, ramp_up_s = self._times()
        for number, stage in enumerate(self.stages):
            self._add(number, stage)
        self._note_the_rest()
        hours, minutes = divmod(seconds // 60, 60)
        return IcfFile(
            version=VERSION_1_1,
            setup=Setup(
                description=_plain(self.workload.title)[:_DESCRIPTION_MAX].strip(),
                run_time=(hours, minutes, seconds % 60),
                ramp_up_s=ramp_up_s,
                test_type="CYCLE_OUTSTANDING_IOS" if self.queue_cycling else "NORMAL",
                queue_cycling=self.queue_cycling or QueueCycling(),
            ),
            specs=tuple(self.specs.values()),
            managers=(Manager(number=1, name=_MANAGER_NAME, workers=tuple(map(self._worker, self.slots.values()))),),
            notes=tuple(self.notes),
        )

    def _worker(self, slot: _Slot) -> Worker:
        runs = slot.runs + ["Idle"] * (len(self.stages) - len(slot.runs))
        assigned = tuple(Assigned(name=name) for name in runs)
        return Worker(name=slot.name, settings=slot.settings, assigned=assigned)

    def _times(self) -> tuple[int, int]:
        """The one run time and the one ramp up that all stages have."""
        first = self.workload.stages[0]
        for stage in self.workload.stages:
            if stage.time_s is None:
                _refuse(stage.name, "ends after an amount and not after a time")
            if stage.role != "measure":
                _refuse(stage.name, "only prepares; Iometer reports every run")
            if (stage.time_s, stage.ramp_up_s) != (first.time_s, first.ramp_up_s):
                _refuse(
                    stage.name, "differs from the first stage in time or ramp up; Iometer uses the same for all runs"
                )
        if self.workload.prepare_fills:
            _refuse("prepare_fills", "fills the drive before the first stage")
        return _whole(first.time_s or 0, first.name, "time_s"), _whole(first.ramp_up_s, first.name, "ramp_up_s")

    def _add(self, number: int, stage: Stage) -> None:
        used: dict[TargetSettings, int] = {}
        for stream in stage.streams:
            self._check(stage, stream)
            settings = self._settings(stage, stream)
            name = self._spec(stage, stream)
            for thread in range(stream.thread_count):
                used[settings] = used.get(settings, 0) + 1
                slot = self._slot(settings, used[settings], stream, thread)
                slot.runs += ["Idle"] * (number - len(slot.runs)) + [name]

    def _slot(self, settings: TargetSettings, ordinal: int, stream: Stream, thread: int) -> _Slot:
        """The worker for the so-manieth stream of a stage with these settings."""
        if (settings, ordinal) not in self.slots:
            if len(self.slots) == WORKERS_MAX:
                _refuse("the workload", f"needs more than the {WORKERS_MAX} workers that Iometer has")
            named = f"{stream.name} thread {thread + 1}" if stream.thread_count > 1 else stream.name
            name = unique(_plain(named).strip() or "Worker", self.worker_names, NAME_MAX)
            self.slots[settings, ordinal] = _Slot(name, settings)
        return self.slots[settings, ordinal]

    def _check(self, stage: Stage, stream: Stream) -> None:
        what = f"{stage.name}: {stream.name}"
        if stream.operation != "transfer":
            _refuse(what, f"is a {stream.operation}")
        if stream.rate is not None:
            _refuse(what, "has a rate")
        if stream.lba_groups:
            _refuse(what, "sends more accesses to some LBAs than to others")
        if stream.start_percent is not None or stream.size_percent is not None:
            _refuse(what, "has a range in per cent of the capacity")
        if not stream.goes_on_as("iometer"):
            _refuse(what, f"has sequential I/Os that go on by the rule {stream.cursor!r}")
        if stream.grid_from == "range" and (stream.start_bytes or 0) % stream.grid_bytes:
            _refuse(what, f"has a grid of {stream.grid_bytes} bytes that is counted from its start")

    def _settings(self, stage: Stage, stream: Stream) -> TargetSettings:
        pattern = pattern_from(stream)
        if pattern is None:
            _refuse(f"{stage.name}: {stream.name}", f"writes {stream.data.kind if stream.data else 'other'} data")
        if _only_reads(stream):
            pattern = self.read_pattern
        return TargetSettings(
            outstanding=stream.queue_depth,
            maximum_sectors=self._sectors(stage, stream, stream.size_bytes or 0),
            starting_sector=self._sectors(stage, stream, stream.start_bytes or 0),
            data_pattern=pattern,
        )

    def _sectors(self, stage: Stage, stream: Stream, amount_bytes: int) -> int:
        if amount_bytes % self.sector_bytes:
            _refuse(f"{stage.name}: {stream.name}", f"has a range that is no multiple of {self.sector_bytes} bytes")
        return amount_bytes // self.sector_bytes

    def _spec(self, stage: Stage, stream: Stream) -> str:
        """The name of the specification with these lines, which is made once."""
        if stream.lines not in self.specs:
            alone = len({stream.lines for stream in stage.streams}) == 1
            name = _unused(_spec_name(stage.name if alone else stream.name), self.spec_names)
            self.specs[stream.lines] = replace(access_spec(stage, stream), name=name)
        return self.specs[stream.lines].name

    def _note_the_rest(self) -> None:
        if self.workload.purge:
            self.notes.append(Note(line=0, text="the purge before the first stage is left out: Iometer has none"))
        kinds = {
            stream.data.kind if stream.data else "random" for stage in self.workload.stages for stream in stage.streams
        }
        if "random" in kinds:
            text = (
                "random data are data pattern 2, windows of 16 MiB of random bytes, which is the nearest that there is"
            )
            self.notes.append(Note(line=0, text=text))
        self.notes.append(Note(line=0, text="no target is assigned: choose the drive in Iometer before the start"))


def _only_reads(stream: Stream) -> bool:
    return stream.data is None and all(line.read_percent == 100 for line in stream.lines)  # noqa: PLR2004 - per cent


def _row(stage: Stage, stream: Stream, line: Line) -> AccessRow:
    what = f"{stage.name}: {stream.name}"
    if line.delay_ms_at_1_tb:
        _refuse(what, "has pauses that depend on the drive's capacity")
    align_bytes = line.align_bytes or line.size_bytes
    if align_bytes > INT_MAX:
        _refuse(what, f"is aligned to {align_bytes} bytes")
    return AccessRow(
        size_bytes=line.size_bytes,
        percent=_whole(line.percent, what, "percent"),
        read_percent=_whole(line.read_percent, what, "read_percent"),
        random_percent=_whole(line.random_percent, what, "random_percent"),
        delay_ms=_whole(line.delay_ms, what, "delay_ms"),
        burst=line.burst_io_count,
        align_bytes=align_bytes,
    )


def _whole(value: float, what: str, key: str) -> int:
    if not float(value).is_integer():
        _refuse(what, f"{key} is {value:g}, and Iometer counts whole numbers")
    return int(value)


def _unused(wanted: str, known: set[str]) -> str:
    """A name that differs from the known ones in more than the case of its letters."""
    result, number = wanted[:SPEC_NAME_MAX].strip(), 1
    while result.casefold() in known or result.casefold() == IDLE:
        number += 1
        suffix = f" ({number})"
        result = wanted[: SPEC_NAME_MAX - len(suffix)].strip() + suffix
    known.add(result.casefold())
    return result


def _plain(text: str) -> str:
    """Printable ASCII, with a hyphen for a comma and for a bar; other letters are left out."""
    text = text.replace(",", " -").replace("|", "-")
    return " ".join("".join(letter for letter in text if letter.isascii() and letter.isprintable()).split())


def _refuse(what: str, reason: str) -> NoReturn:
    raise UsageError(what, f"{reason}, which an Iometer file has no words for", _REMEDY)


def _queue_steps(stages: Sequence[Stage]) -> tuple[Sequence[Stage], QueueCycling | None]:
    """The first stage of each cycle, and how its outstanding I/Os go on; the stages as they are where none do.

    Every cycle must have the same steps. Worked: stages A with 1, 2, 4 and B with 1, 2, 4 outstanding I/Os -> A and B
    with 1, 4, 2, EXPONENTIAL.
    """
    depths = [_depth(stage) for stage in stages]
    count = _first_cycle(stages)
    first = [depth for depth in depths[:count] if depth is not None]
    cycling = _cycling(first) if len(first) == count > 1 else None
    if cycling is None or len(stages) % count:
        return stages, None
    for begin in range(0, len(stages), count):
        cycle = stages[begin : begin + count]
        if depths[begin : begin + count] != first or any(_demands(stage) != _demands(cycle[0]) for stage in cycle):
            return stages, None
    firsts = (
        stage.model_copy(update={"name": stage.name.partition(", queue depth ")[0] or stage.name})
        for stage in stages[::count]
    )
    return list(firsts), cycling


def _first_cycle(stages: Sequence[Stage]) -> int:
    """How many stages ask for the same as the first but for their depth, of which each has another."""
    count = 1
    while count < len(stages) and _demands(stages[count]) == _demands(stages[0]) and stages[count] != stages[0]:
        if _depth(stages[count]) == _depth(stages[0]):
            break
        count += 1
    return count


def _depth(stage: Stage) -> int | None:
    """The depth that all streams have."""
    depths = {stream.queue_depth for stream in stage.streams}
    return depths.pop() if len(depths) == 1 else None


def _demands(stage: Stage) -> list[Stream]:
    """The streams whatever their depth."""
    return [stream.model_copy(update={"queue_depth": 1}) for stream in stage.streams]


def _cycling(depths: list[int]) -> QueueCycling | None:
    """Steps that give these depths and no others."""
    first, second = depths[:2]
    tried: list[tuple[int, StepKind]] = []
    if second % first == 0:
        tried.append((second // first, "EXPONENTIAL"))
    if second > first:
        tried.append((second - first, "LINEAR"))
    for step, kind in tried:
        result = QueueCycling(start=first, end=depths[-1], step=step, kind=kind)
        setup = Setup(test_type="CYCLE_OUTSTANDING_IOS", queue_cycling=result)
        if depths[-1] > first and [cycling_step.queue_depth for cycling_step in cycling_steps(setup, 1)] == depths:
            return result
    return None
