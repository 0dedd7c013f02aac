"""What was asked of a drive in the words of Iometer: lines, outstanding I/Os, workers, and range.

A run of a result file and a measured stage of ours are alike where these are, so that figures may lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.results.workload import asked_stage
from assay.spec.units import count_label
from assay.words.printed import size_label
from assay.workloads.iometer import access_spec, without_cycling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import DriveIdentity, StoredSequence, StoredTest
    from assay.spec.workload import Stage
    from assay.workloads.iometer.results_read import ResultRow, ResultRun

MIXED = -1
"""Of a range: workers have different ones."""
_MIXED_1_1 = 1 << 63
_COLUMNS = 8
_PER_CENT = 100
Row = tuple[int, ...]
"""A line: size, share, reads, random, delay in ms, burst, alignment, reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Lines that run side by side with others. rows : none where the file does not say. depth : outstanding I/Os."""

    rows: tuple[Row, ...]
    depth: int
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What was asked. workers : one of each kind. start, length : of the range in sectors, length 0 is to the end.

    ``MIXED`` where workers differ in it, None where it is not known. errors : I/Os of the file that failed.
    """

    name: str
    workers: tuple[Worker, ...]
    start: int | None
    length: int | None
    errors: int = 0

    @property
    def depth(self) -> int:
        """Outstanding I/Os of all workers."""
        return sum(worker.depth for worker in self.workers)

    @property
    def text(self) -> str:
        """The load in words. Worked: ``4KiB, 100 % read, 100 % random, 32 outstanding``."""
        rows = tuple(dict.fromkeys(row for worker in self.workers for row in worker.rows))
        return f"{_rows_text(rows)}, {self.depth:,} outstanding"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLoad:
    """A measured stage of a run. name : as its report has it. name_in_file : as a result file of Iometer would."""

    name: str
    name_in_file: str
    load: Load


def load_of_file(run: ResultRun, row: ResultRow) -> Load:
    """What a run of a result file was asked. row : that of kind ALL.

    Where the file has no rows of workers, all of them have the lines and the depth that the row of all states.
    """
    lines = {spec.name.casefold(): tuple(map(_row, spec.rows)) for spec in run.specs}
    workers = [_worker(row, lines, 1) for row in run.rows if row.kind == "WORKER"]
    if not workers:
        workers = [_worker(row, lines, int(row.cells.get("# Workers", 1)))]
    names = dict.fromkeys(row.spec for row in run.rows if row.kind == "WORKER" and row.spec)
    return Load(
        name=" + ".join(names) or row.spec,
        workers=_merged(workers),
        start=_sectors(row, "Starting Sector"),
        length=_sectors(row, "Maximum Size"),
        errors=int(row.cells.get("Errors", 0)),
    )


def loads_of_run(test: StoredTest, drive: DriveIdentity) -> Iterator[StageLoad]:
    """What the measured sequences of a test were asked, as far as Iometer has words for them."""
    for sequence in test.sequences:
        if sequence.role == "measure" and sequence.asked and (result := _load_of(sequence, drive)):
            yield result


def differences_of(first: Load, second: Load) -> tuple[str, ...]:
    """How the load of a file and that of a stage differ; none where they are the same.

    Worked: 16 outstanding in the file and 32 in the run -> ``16 outstanding I/Os in the file, 32 in the run``.
    """
    return tuple(_differences(first, second))


def _differences(one: Load, two: Load) -> Iterator[str]:
    kinds = [{worker.rows for worker in load.workers} for load in (one, two)]
    if kinds[0] != kinds[1]:
        yield "other sizes, shares or alignment"
    depths = [sorted((worker.rows, worker.depth) for worker in load.workers) for load in (one, two)]
    if kinds[0] == kinds[1] and depths[0] != depths[1]:
        yield f"{one.depth:,} outstanding I/Os in the file, {two.depth:,} in the run"
    counts = [sum(worker.count for worker in load.workers if _goes_on(worker)) for load in (one, two)]
    if kinds[0] == kinds[1] and counts[0] != counts[1]:
        yield f"{count_label(counts[0], 'worker')} in the file with accesses in order, {counts[1]} in the run"
    if _differ(one.start, two.start):
        yield f"range: from {_sectors_text(one.start)} in the file, from {_sectors_text(two.start)} in the run"
    if _differ(one.length, two.length):
        texts = [_sectors_text(load.length) if load.length else "to the end" for load in (one, two)]
        yield f"range: {texts[0]} in the file, {texts[1]} in the run"


def _goes_on(worker: Worker) -> bool:
    """Whether it matters how many workers there are: each has a sequential place, or a pause, of its own."""
    return any(row[3] < _PER_CENT or row[4] or row[5] > 1 for row in worker.rows)


def _differ(one: int | None, two: int | None) -> bool:
    """Of what one of them does not say, nobody knows."""
    return one is not None and two is not None and one != two


def _sectors_text(sectors: int | None) -> str:
    return "several" if sectors is None or sectors == MIXED else count_label(sectors, "sector")


def _load_of(sequence: StoredSequence, drive: DriveIdentity) -> StageLoad | None:
    """None where Iometer has no words for it: rates, trims, groups of LBAs, replays."""
    try:
        stage = asked_stage(sequence)
        workers = tuple(_stream_workers(stage, drive.logical_block_bytes))
    except UsageError:
        return None
    block, whole = drive.logical_block_bytes, drive.capacity_bytes
    starts = {(stream.start_bytes or 0) // block for stream in stage.streams}
    lengths = {_length(stream.start_bytes or 0, stream.size_bytes, whole) // block for stream in stage.streams}
    return StageLoad(
        name=sequence.name,
        name_in_file=without_cycling(sequence.name),
        load=Load(name=sequence.name, workers=_merged(workers), start=_same(starts), length=_same(lengths)),
    )


def _stream_workers(stage: Stage, sector_bytes: int) -> Iterator[Worker]:
    for stream in stage.streams:
        rows = tuple(_row(row.numbers, sector_bytes) for row in access_spec(stage, stream).rows)
        yield Worker(rows=rows, depth=stream.thread_count * stream.queue_depth, count=stream.thread_count)


def _length(start_bytes: int, size_bytes: int | None, capacity_bytes: int) -> int:
    """0 for a range that goes to the end of the drive, as Iometer has it."""
    return 0 if size_bytes is None or start_bytes + size_bytes >= capacity_bytes else size_bytes


def _worker(row: ResultRow, lines: dict[str, tuple[Row, ...]], count: int) -> Worker:
    known = lines.get(row.spec.casefold())
    rows = known if known is not None else next(iter(lines.values())) if len(lines) == 1 else ()
    each = int(row.cells.get("Queue Depth", 0)) * int(row.cells.get("# Disks", 1) or 1)
    return Worker(rows=rows, depth=each * count if row.kind == "ALL" else each, count=count)


def _merged(workers: Iterable[Worker]) -> tuple[Worker, ...]:
    """One worker for all with the same lines, with the outstanding I/Os of all of them."""
    result: dict[tuple[Row, ...], Worker] = {}
    for worker in workers:
        held = result.get(worker.rows, Worker(rows=worker.rows, depth=0, count=0))
        result[worker.rows] = Worker(rows=worker.rows, depth=held.depth + worker.depth, count=held.count + worker.count)
    return tuple(result[rows] for rows in sorted(result))


def _row(numbers: Sequence[int], sector_bytes: int = 512) -> Row:
    """A line with what does not matter brought to one form: no burst is one of one, alignment 0 is a sector."""
    size, share, reads, random, delay, burst, align, reply = (*numbers, *(0,) * _COLUMNS)[:_COLUMNS]
    align = align or sector_bytes
    in_place = not random and size % align == 0
    return size, share, reads, random, delay, burst or 1, 0 if in_place else align, reply


def _sectors(row: ResultRow, column: str) -> int | None:
    value = row.cells.get(column)
    if value is None:
        return None
    return MIXED if value < 0 or value >= _MIXED_1_1 else int(value)


def _same(values: set[int]) -> int:
    return values.pop() if len(values) == 1 else MIXED


def _rows_text(rows: Sequence[Row]) -> str:
    if len(rows) != 1:
        return f"{len(rows)} kinds of access" if rows else "accesses not stated"
    size, _, reads, random, *_ = rows[0]
    return f"{size_label(size)}, {reads} % read, {random} % random"
