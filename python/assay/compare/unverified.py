"""Figures that Iometer wrote, beside those of runs: paired by what was asked, one figure each, with no spread.

```
results.csv --read_results--> Results --unverified_of--> Unverified, each run of the file with the stage that is like it
```
A run of a file and a measured stage are alike if both have the same lines, outstanding I/Os, workers and range.
Nothing vouches for such figures: they stand apart from the numbers of runs, in no rank, and no gate uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.compare.sides import side_of
from assay.errors import UsageError
from assay.results.workload import asked_stage
from assay.spec.units import MB, MIB, count_label
from assay.words.printed import size_label
from assay.workloads.iometer import access_spec, without_cycling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.compare.numbers import NumberName
    from assay.compare.subject import Subject
    from assay.engine.records import DriveIdentity, StoredSequence
    from assay.spec.workload import Stage
    from assay.workloads.iometer.results import ResultRow, ResultRun, Results

FILES_MAX = 10
NO_INTERVAL = "single value of a file, spread unknown"
NO_STAGE = "no stage like it"
_FIGURES: Sequence[tuple[str, str, str, Callable[[ResultRow], float | None]]] = (
    ("IOPS", "IOPS", "iops", lambda row: row.cells.get("IOps")),
    ("MB/s", "MB/s", "mb_per_s", lambda row: _mb_per_s(row.mebibytes_per_s())),
    ("Average response time", "ms", "latency_ms_mean_of_ios", lambda row: row.cells.get("Average Response Time")),
    ("Maximum response time", "ms", "latency_ms_max", lambda row: row.cells.get("Maximum Response Time")),
)
"""What both hold: title, unit, the name that the number has in a run, and its value in a row of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The number of a subject that a figure lies beside. reason : why it has no ratio; empty where it has one.

    ratio : the figure of the file over this value.
    """

    letter: str
    stage: str
    value: float | None
    ratio: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OldFigure:
    """One figure of one run of a file. run : its number in the file, from 1. spec, load : what was asked of the drive.

    title, unit : of the figure. value : None where the file has none. entries : by subject.
    """

    run: int
    spec: str
    load: str
    title: str
    unit: str
    value: float | None
    entries: tuple[Beside, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unverified:
    """A file of results that Iometer wrote. letter : ``U1``, ``U2``. called : as the user named it.

    uncertainty : why no figure has an interval.
    """

    letter: str
    called: str
    version: str
    run_count: int
    figures: tuple[OldFigure, ...]
    uncertainty: str = NO_INTERVAL

    @property
    def alike(self) -> bool:
        """Whether any of its figures lies beside one of a run."""
        return any(entry.ratio is not None for figure in self.figures for entry in figure.entries)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why figures have no ratio, each reason once with the run of the file and the subject."""
        reasons = (
            f"run {figure.run} ({figure.spec}), {entry.letter}: {entry.reason}"
            for figure in self.figures
            for entry in figure.entries
            if entry.reason
        )
        return tuple(dict.fromkeys(reasons))


def unverified_of(
    results: Sequence[Results], subjects: Sequence[Subject], *, despite: bool, blind: bool
) -> tuple[Unverified, ...]:
    """The files of others beside the subjects, in the order given. blind : their names are not to be told.

    Raises UsageError for more than ten files, and for one of which no run is like a stage of a run, unless ``despite``
    was asked for: then all of it is shown apart.
    Worked: 100,000 IOPS in the file beside 80,000 of A -> a ratio of 1.25, and no interval.
    """
    if len(results) > FILES_MAX:
        raise UsageError("RESULTS.csv", f"{len(results)} given", f"name at most {FILES_MAX} files of Iometer")
    # The stages of a run are read from its folder, which a comparison without files needs for nothing else.
    stages = [(subject, list(_stages(subject))) for subject in subjects] if results else []
    files = tuple(_file(index, result, stages) for index, result in enumerate(results, 1))
    for file in () if despite else files:
        if not file.alike:
            why = "; ".join(file.reasons[:3]) or "it has no row of kind ALL"
            reason = f"has no run with the workload of a compared stage: {why}"
            remedy = "compare it with a run of the same file (assay run DRIVE --icf FILE), or add --despite"
            raise UsageError(file.called, reason, remedy)
    return tuple(replace(file, called="blind") for file in files) if blind else files


@dataclass(frozen=True, slots=True)
class _Stage:
    """A measured stage of a subject. name : as its report has it. name_in_file : as a result file of Iometer would.

    numbers : of the stage as a whole, by name.
    """

    name: str
    name_in_file: str
    load: Load
    numbers: dict[str, NumberName]


def _stages(subject: Subject) -> Iterator[_Stage]:
    """What a subject measured that Iometer has words for; tests whose numbers are of no stage have none."""
    first = subject.first
    for record in first.records():
        for sequence in record.test.sequences:
            load = _load_of(sequence, first.identity) if sequence.role == "measure" and sequence.asked else None
            numbers: dict[str, NumberName] = {}
            for name in (number.name for number in first.numbers.values()):
                if name.test == record.prefix and dict(name.cell).get("stage") == sequence.name:
                    # All streams of a stage together come first.
                    numbers.setdefault(name.name, name)
            if load and numbers:
                yield _Stage(sequence.name, without_cycling(sequence.name), load, numbers)


def _file(index: int, results: Results, stages: Sequence[tuple[Subject, Sequence[_Stage]]]) -> Unverified:
    versions = dict.fromkeys(series.version for series in results.series if series.version)
    runs = list(enumerate(results.runs, 1))
    return Unverified(
        letter=f"U{index}",
        called=results.source,
        version=", ".join(versions) or "not stated",
        run_count=len(runs),
        figures=tuple(figure for number, run in runs for figure in _figures(number, run, stages)),
    )


def _figures(number: int, run: ResultRun, stages: Sequence[tuple[Subject, Sequence[_Stage]]]) -> Iterator[OldFigure]:
    row = next((row for row in run.rows if row.kind == "ALL"), None)
    if row is None:
        return
    load = load_of_file(run, row)
    pairs = [(subject, *_pair(load, listed)) for subject, listed in stages]
    for title, unit, name, read in _FIGURES:
        value = read(row)
        entries = tuple(_beside(subject, stage, name, reason, value) for subject, stage, reason in pairs)
        yield OldFigure(
            run=number, spec=load.name, load=load.text, title=title, unit=unit, value=value, entries=entries
        )


def _pair(load: Load, stages: Sequence[_Stage]) -> tuple[_Stage | None, str]:
    """The stage that was asked the same, of several that of the same name; else the reason why there is none."""
    if load.errors:
        return None, f"{load.errors:,} I/Os failed"
    named = [stage for stage in stages if stage.name_in_file.casefold() == load.name.casefold()]
    alike = [stage for stage in stages if not differences_of(load, stage.load)]
    chosen = [stage for stage in alike if stage in named] or alike
    if len(chosen) == 1:
        return chosen[0], ""
    if chosen:
        return None, f"{len(chosen)} stages are like it"
    if named:
        # Of a stage cycled through several depths, the depth that is nearest.
        nearest = min(named, key=lambda stage: len(differences_of(load, stage.load)))
        return nearest, "; ".join(differences_of(load, nearest.load))
    return None, NO_STAGE


def _beside(subject: Subject, stage: _Stage | None, name: str, reason: str, value: float | None) -> Beside:
    side = side_of(subject, stage.numbers[name]) if stage and name in stage.numbers else None
    own = side.value if side else None
    if not reason and (side is None or not side.counts):
        reason = (side.reason or side.state) if side else "n/a in its report"
    elif not reason:
        reason = "not in the file" if value is None else "" if own else "is zero in the run"
    ratio = value / own if not reason and own and value is not None else None
    return Beside(letter=subject.letter, stage=stage.name if stage else "", value=own, ratio=ratio, reason=reason)


def _mb_per_s(mebibytes_per_s: float | None) -> float | None:
    """Iometer's MBps in our units. Worked: 22.572 MBps of 2^20 bytes -> 23.668 MB/s."""
    return None if mebibytes_per_s is None else mebibytes_per_s * MIB / MB


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


def _load_of(sequence: StoredSequence, drive: DriveIdentity) -> Load | None:
    """What a sequence was asked; None where Iometer has no words for it: rates, trims, groups of LBAs, replays."""
    try:
        stage = asked_stage(sequence)
        workers = tuple(_stream_workers(stage, drive.logical_block_bytes))
    except UsageError:
        return None
    block, whole = drive.logical_block_bytes, drive.capacity_bytes
    starts = {(stream.start_bytes or 0) // block for stream in stage.streams}
    lengths = {_length(stream.start_bytes or 0, stream.size_bytes, whole) // block for stream in stage.streams}
    return Load(name=sequence.name, workers=_merged(workers), start=_same(starts), length=_same(lengths))


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
