"""From an Iometer file to a workload of one drive: a stage for each run, a stream for each worker with I/Os in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.errors import PlanError
from assay.spec.model_faults import first_fault
from assay.spec.units import TRANSFER_BYTES_MAX
from assay.spec.workload import STREAMS_MAX, Line, Stage, Stream, Workload
from assay.workloads.iometer.keys import INTERFACE, VI
from assay.workloads.iometer.model import IDLE, AccessRow, AccessSpec, Assigned, IcfFile, Setup, TargetSettings, Worker
from assay.workloads.iometer.semantics import OF_TARGETS, STEPS_MAX, content_of, cycling_steps, pattern_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.workloads.iometer.semantics import CyclingStep

M = TypeVar("M", bound=BaseModel)

SECTOR_BYTES = 512
STREAMS_TOTAL_MAX = 20_000
_BURST_MAX = 1 << 30
_DELAY_MS_MAX = 3_600_000
_QUEUE_DEPTH_MAX = 4096
_THREADS_MAX = 1024
_PLACE_MAX = 2**63 - 1
_RUN_S_MAX = 10**7
_RAMP_S_MAX = 10**6
_NAME_MAX = 127
_LEFT_OUT_MAX, _LETTERS_MAX = 1000, 500
_CYCLED = re.compile(r", (queue depth \d+|\d+ workers?)$")
_ALL_RANDOM = 100
_SPEC_SECTION, _WORKER_SECTION, _SETUP_SECTION = "ACCESS SPECIFICATIONS", "MANAGER LIST", "TEST SETUP"


def to_workload(
    icf: IcfFile, *, cpu_count: int, sector_bytes: int = SECTOR_BYTES, run_time_s: float | None = None
) -> Workload:
    """The I/Os of a file on one drive, whichever targets it names.

    cpu_count : of the host that runs it, for files that say NUMBER_OF_CPUS. sector_bytes : of the drive; sizes and
    starts of ranges are in sectors, and what is aligned to 0 is aligned to them. run_time_s : of each run where the
    file says "until stopped"; None refuses such a file.
    Raises PlanError with line and section for what a block device cannot do or nobody can run; what has no meaning for
    one drive is named in ``left_out``.
    """
    return _Conversion(icf, cpu_count, sector_bytes, run_time_s).workload()


@dataclass(frozen=True, slots=True)
class _Thread:
    """A worker of disks, with the lines of what it runs in turn; None is idle."""

    worker: Worker
    name: str
    lists: tuple[AccessSpec | None, ...]


class _Conversion:
    def __init__(self, icf: IcfFile, cpu_count: int, sector_bytes: int, run_time_s: float | None) -> None:
        self.icf, self.cpu_count, self.sector_bytes = icf, cpu_count, sector_bytes
        self.setup = icf.setup or Setup()
        self.run_time_s = self._run_time(run_time_s)
        self.specs = {spec.name.casefold(): spec for spec in (_default(sector_bytes), *icf.specs)}
        self.more_left_out: list[str] = []
        self.lines: dict[int, tuple[Line, ...]] = {}

    def workload(self) -> Workload:
        threads = self._threads()
        stages = list(self._stages(threads))
        if not any(stage.streams for stage in stages):
            # The cycling of workers may stop before the first that has I/Os.
            raise self._nothing_runs(threads)
        left_out = list(dict.fromkeys(text[:_LETTERS_MAX] for text in (*_left_out(self.icf), *self.more_left_out)))
        if (more := len(left_out) - _LEFT_OUT_MAX + 1) > 1:
            left_out[-more:] = [f"{more:,} more such lines."]
        return Workload(
            title=self.setup.description[:200],
            source=f"Iometer file {self.icf.source.rpartition('/')[2]}"[:500],
            left_out=tuple(left_out),
            stages=tuple(stages),
        )

    def _run_time(self, given: float | None) -> float:
        line, ramp_line = self.setup.line_of("run_time"), self.setup.line_of("ramp_up_s")
        stated = self.setup.run_time_s
        if not stated and given is None:
            expected = "a run time of 1 s or more; or give it with --run-time"
            raise self._fault(line, _SETUP_SECTION, "each run lasts until somebody stops it", expected)
        self._check_range(line, _SETUP_SECTION, "the run time in seconds", stated, (0, _RUN_S_MAX))
        self._check_range(ramp_line, _SETUP_SECTION, "the ramp up", self.setup.ramp_up_s, (0, _RAMP_S_MAX))
        return stated or given or 0

    def _threads(self) -> list[_Thread]:
        """The workers of disks in the order of the file, with names that are unique."""
        workers = self._spawned() if self.icf.managers is None else _disk_workers(self.icf)
        names: set[str] = set()
        threads = [_Thread(worker, unique(worker.name, names), self._list(worker)) for worker in workers]
        if not any(spec for thread in threads for spec in thread.lists):
            raise self._nothing_runs(threads)
        return threads

    def _nothing_runs(self, threads: Sequence[_Thread]) -> PlanError:
        line = threads[0].worker.line if threads else 1
        reason = "no worker of disks has an access specification, so that nothing would run"
        return self._fault(line, _WORKER_SECTION, reason, "names of specifications below 'Assigned access specs")

    def _spawned(self) -> list[Worker]:
        """The workers of a file that lists none: each new one is assigned the specifications for all or for disks."""
        # Of two specifications of one name the later, in the place of the first.
        specs = {spec.name.casefold(): spec for spec in self.icf.specs}.values()
        chosen = [spec for spec in specs if spec.assignment in {"ALL", "DISK"}]
        if not chosen:
            chosen = [spec for spec in specs if spec.assignment == "NONE"]
            if chosen:
                self.more_left_out.append(
                    "The file assigns its access specifications to no worker: each of them is run in turn."
                )
        count = self.cpu_count if self.setup.disk_workers is None else self.setup.disk_workers
        lists = tuple(Assigned(name=spec.name, line=spec.line) for spec in chosen)
        return [Worker(name=f"Worker {number}", assigned=lists) for number in range(1, count + 1)]

    def _list(self, worker: Worker) -> tuple[AccessSpec | None, ...]:
        """What a worker runs; names that are not known are left out, as Iometer does."""
        result: list[AccessSpec | None] = []
        for assigned in worker.assigned:
            name, line = assigned.name, assigned.line
            spec = self.specs.get(name.casefold())
            if spec is None and name.casefold() != IDLE:
                self.more_left_out.append(
                    f'Line {line}: there is no access specification "{name}": it is left out, as Iometer does.'
                )
            else:
                result.append(spec)
        return tuple(result)

    def _stages(self, threads: Sequence[_Thread]) -> Iterator[Stage]:
        steps = self._steps(len(threads))
        rounds = max(len(thread.lists) for thread in threads)
        if rounds * len(steps) > STEPS_MAX or rounds * len(steps) * len(threads) > STREAMS_TOTAL_MAX:
            reason = f"makes {rounds * len(steps):,} runs of {len(threads)} workers"
            expected = f"{STEPS_MAX:,} runs at most, with {STREAMS_TOTAL_MAX:,} streams in all"
            raise self._fault(self.setup.line_of("test_type"), _SETUP_SECTION, reason, expected)
        names: set[str] = set()
        for number in range(rounds):
            for step in steps:
                yield self._stage(threads[: step.worker_count], number, step, len(steps) > 1, names)

    def _steps(self, count: int) -> list[CyclingStep]:
        if self.setup.test_type in OF_TARGETS:
            self.more_left_out.append(
                f"Line {self.setup.line_of('test_type')}: {self.setup.test_type}: with a single drive the number "
                "of targets is 1 in every run."
            )
        try:
            steps = cycling_steps(self.setup, count)
        except ValueError:
            steps = []
        if not steps:
            line = self.setup.line_of("queue_cycling")
            reason = "this cycling of outstanding I/Os has no step, or too many"
            raise self._fault(line, _SETUP_SECTION, reason, f"a start up to the end, and at most {STEPS_MAX:,} steps")
        return steps

    def _stage(
        self, threads: Sequence[_Thread], number: int, step: CyclingStep, cycled: bool, names: set[str]
    ) -> Stage:
        running = [(thread, thread.lists[number]) for thread in threads if number < len(thread.lists)]
        streams = [self._stream(thread, spec, step) for thread, spec in running if spec is not None]
        specs = " + ".join(dict.fromkeys(spec.name for _, spec in running if spec is not None)) or "Idle"
        stage = {
            "name": unique(f"{specs}{step.suffix if cycled else ''}", names),
            "ramp_up_s": self.setup.ramp_up_s,
            "time_s": self.run_time_s,
            "streams": tuple(self._merged(streams)),
        }
        return self._made(Stage, stage, line=running[0][0].worker.line if running else 1)

    def _merged(self, streams: list[Stream]) -> list[Stream]:
        """As many streams as may run side by side: those that nothing tells apart become threads of one."""
        if len(streams) <= STREAMS_MAX:
            return streams
        result: dict[Stream, list[Stream]] = {}
        for stream in streams:
            key = stream.model_copy(update={"name": "worker"}) if _is_memoryless(stream) else stream
            result.setdefault(key, []).append(stream)
        if len(result) > STREAMS_MAX or max(map(len, result.values())) > _THREADS_MAX:
            reason = f"{len(streams)} workers run at once, which cannot be made threads of {STREAMS_MAX} streams"
            raise self._fault(1, _WORKER_SECTION, reason, f"{STREAMS_MAX} workers at most")
        return [same[0].model_copy(update={"thread_count": len(same)}) for same in result.values()]

    def _stream(self, thread: _Thread, spec: AccessSpec, step: CyclingStep) -> Stream:
        settings = thread.worker.settings
        depth, line = settings.outstanding, settings.lines.get("outstanding", thread.worker.line)
        if step.queue_depth is not None:
            depth, line = step.queue_depth, self.setup.line_of("queue_cycling")
        self._check_range(line, _WORKER_SECTION, "the number of outstanding I/Os", depth, (1, _QUEUE_DEPTH_MAX))
        start = self._bytes(settings, "starting_sector")
        stream = {
            "name": thread.name,
            "lines": self._lines(spec),
            "start_bytes": start or None,
            "size_bytes": self._bytes(settings, "maximum_sectors") or None,
            "queue_depth": depth,
            "grid_from": "drive",
            "cursor": "iometer",
            "data": content_of(self.icf.version, settings.data_pattern, spec),
        }
        return self._made(Stream, stream, line=settings.line_of("maximum_sectors"))

    def _made(self, model: type[M], fields: dict[str, Any], *, line: int) -> M:
        """A part of the workload. Raises PlanError with a line for what no drive can run."""
        try:
            return model.model_validate(fields)
        except ValidationError as error:
            reason, remedy = first_fault(error)
            raise self._fault(line, _WORKER_SECTION, reason, remedy) from None

    def _bytes(self, settings: TargetSettings, field: str) -> int:
        sectors: int = getattr(settings, field)
        what, limit = f"the {field.replace('_', ' ')}", _PLACE_MAX // self.sector_bytes
        self._check_range(settings.line_of(field), _WORKER_SECTION, what, sectors, (0, limit))
        return sectors * self.sector_bytes

    def _lines(self, spec: AccessSpec) -> tuple[Line, ...]:
        """The lines of a specification, made once however often it runs."""
        if id(spec) not in self.lines:
            self.lines[id(spec)] = tuple(self._line(row) for row in spec.rows)
        return self.lines[id(spec)]

    def _line(self, row: AccessRow) -> Line:
        self._check_range(row.line, _SPEC_SECTION, "the size", row.size_bytes, (1, TRANSFER_BYTES_MAX))
        for value, what in ((row.size_bytes, "size"), (row.align_bytes, "align")):
            if value % self.sector_bytes:
                expected = f"a multiple of {self.sector_bytes} bytes, the drive's sector"
                raise self._fault(row.line, _SPEC_SECTION, f"{what} is {value}", expected)
        self._check_range(row.line, _SPEC_SECTION, "burst", row.burst, (0, _BURST_MAX))
        self._check_range(row.line, _SPEC_SECTION, "delay", row.delay_ms, (0, _DELAY_MS_MAX))
        return Line(
            percent=row.percent,
            size_bytes=row.size_bytes,
            read_percent=row.read_percent,
            random_percent=row.random_percent,
            align_bytes=row.align_bytes or self.sector_bytes,
            burst_io_count=row.burst or 1,
            delay_ms=row.delay_ms,
        )

    def _check_range(self, line: int, section: str, what: str, value: int, limits: tuple[int, int]) -> None:
        least, most = limits
        if not least <= value <= most:
            raise self._fault(line, section, f"{what} is {value}", f"{least:,} to {most:,}")

    def _fault(self, line: int, section: str, reason: str, expected: str) -> PlanError:
        return PlanError(f"{self.icf.source}:{line or 1} {section}", reason, f"expected: {expected}")


def unique(name: str, known: set[str], most: int = _NAME_MAX) -> str:
    """A name that is not among the known ones, which it joins. Worked: a second ``Worker 1`` is ``Worker 1 (2)``."""
    result, number = name[:most], 1
    while result in known:
        number += 1
        suffix = f" ({number})"
        result = name[: most - len(suffix)] + suffix
    known.add(result)
    return result


def without_cycling(name: str) -> str:
    """The name of a stage without what tells it from the others of its specification.

    Worked: ``corner, queue depth 8`` -> ``corner``.
    """
    return _CYCLED.sub("", name)


def _is_memoryless(stream: Stream) -> bool:
    """Whether nothing of an I/O follows from the one before, so that threads of one stream are as streams of one."""
    return all(
        line.random_percent == _ALL_RANDOM and not line.delay_ms and line.burst_io_count == 1 for line in stream.lines
    )


def _default(sector_bytes: int) -> AccessSpec:
    """The specification that is built in: 2 KiB, 67 % reads, all random."""
    row = AccessRow(size_bytes=2048, percent=100, read_percent=67, random_percent=100)
    if sector_bytes > row.size_bytes:
        row = replace(row, size_bytes=sector_bytes)
    return AccessSpec(name="Default", assignment="NONE", rows=(row,))


def _disk_workers(icf: IcfFile) -> list[Worker]:
    return [worker for manager in icf.managers or () for worker in manager.workers if worker.is_disk]


def _left_out(icf: IcfFile) -> Iterator[str]:
    """What the file says and one block device has no use for, a line each; nothing is left out silently."""
    yield from (f"Line {note.line}: {note.text}." for note in icf.notes)
    setup = icf.setup or Setup()
    if setup.network_workers:
        line = setup.line_of("network_workers")
        yield f"Line {line}: network workers, of which {setup.network_workers} would be started, are left out."
    if setup.record != "ALL":
        yield (
            f"Line {setup.line_of('record')}: Record Results {setup.record} says which rows Iometer writes; "
            "here all results are kept."
        )
    if icf.display is not None:
        yield f"Line {icf.display.line}: the results display says what Iometer's window shows and has no effect."
    for spec in icf.specs:
        for row in spec.rows:
            if row.reply_bytes:
                yield f"Line {row.line}: {spec.name}: the reply of {row.reply_bytes} bytes to each I/O is left out."
        if spec.assignment == "NET" and icf.managers is None:
            yield f"Line {spec.line}: {spec.name}: is for network workers, and left out."
    yield from _left_out_of_managers(icf)
    settings = [worker.settings.data_pattern for worker in _disk_workers(icf)] or [None]
    patterns = {pattern_of(icf.version, stated) for stated in settings}
    if 0 in patterns:
        yield "Data pattern 0, a single byte repeated through each write, is written as data of which 5 % is stored."
    if None in patterns:
        yield "Releases to 2004 write uninitialized data; the plan states the data that is written."


def _left_out_of_managers(icf: IcfFile) -> Iterator[str]:
    managers = icf.managers or ()
    if len(managers) > 1:
        yield f"The file has {len(managers)} managers (hosts): all their disk workers run on this host."
    for manager in managers:
        for worker in manager.workers:
            yield from _left_out_of_worker(worker)


def _left_out_of_worker(worker: Worker) -> Iterator[str]:
    place = f"Line {worker.line}: {worker.name}:"
    if not worker.is_disk:
        yield (
            f"{place} a {worker.kind} worker is left out with its {len(worker.assigned)} access specifications and "
            f"{len(worker.targets)} targets."
        )
        return
    named = [f'"{target.name}" (line {target.line})' for target in worker.targets]
    if len(named) > 1:
        yield (
            f"{place} its {len(named)} targets become the tested drive, with the outstanding I/Os of a single target: "
            f"{', '.join(named)}."
        )
    elif named:
        yield f"Line {worker.targets[0].line}: {worker.name}: the target {named[0]} is the drive that is tested."
    else:
        yield f"{place} has no target, and runs on the drive that is tested."
    settings = worker.settings
    place = f"Line {settings.line_of('outstanding')}: {worker.name}:"
    if settings.test_connection_rate:
        yield (
            f"{place} the test of the connection rate, which opens the target anew after every "
            f"{settings.transactions_per_connection} transactions, is left out."
        )
    if settings.fixed_seed is not None:
        yield f"{place} the fixed seed {settings.fixed_seed} is left out; the run has another seed."
    for field, key in (("network_interface", INTERFACE), ("vi_outstanding", VI)):
        if getattr(settings, field):
            yield f"Line {settings.line_of(field)}: {worker.name}: '{key} is left out: it is of networks."
