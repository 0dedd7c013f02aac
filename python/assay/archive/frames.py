"""Stored runs for Python: facts, numbers, seconds, histograms and findings as tables; see ``assay.load``."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from assay.archive.rendering import stored_run
from assay.errors import UsageError
from assay.procedures.conformity import conformity_label
from assay.procedures.run_findings import run_findings
from assay.report import records_of_tests
from assay.report.formats.write import foreign
from assay.results.outcome import withheld_reason
from assay.run.store.read import RawTable, raw_histograms, raw_series, read_raw, steps_of_tests
from assay.spec.nearest import did_you_mean
from assay.spec.units import SECOND_NS
from assay.words.outcomes import is_cut_short
from assay.words.text import text, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.engine.records import DriveIdentity, StoredRun
    from assay.run.store.document import Steps
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure
    from assay.words.coded import Number


FrameLibrary = Literal["polars", "pandas"]
_KNOWN: tuple[FrameLibrary, ...] = get_args(FrameLibrary)
_OF_MEASURES = ("label", "name", "unit", "value", "least", "greatest", "rounds", "judged", "bound", "mark")


def frame_maker(library: FrameLibrary | None) -> Callable[[Any], Any]:
    """The function that turns a table of pyarrow into a frame.

    library : None takes polars, else pandas; if neither is installed, the first frame raises an error. Raises
    UsageError if the library is unknown or not installed.
    """
    if library is None:
        return next((maker for known in _KNOWN if (maker := _maker(known))), _neither)
    if library not in _KNOWN:
        remedy = did_you_mean(str(library), _KNOWN, f"choose from {', '.join(_KNOWN)}")
        raise UsageError("frames", f'is "{library}", none of {", ".join(_KNOWN)}', remedy)
    result = _maker(library)
    if result is None:
        raise UsageError("frames", f"{library} is not installed", f"install it: pip install {library}")
    return result


def _maker(library: FrameLibrary) -> Callable[[Any], Any] | None:
    try:
        module = import_module(library)
    except ImportError:
        return None
    if library == "polars":
        made: Callable[[Any], Any] = module.from_arrow
        return made
    return lambda table: table.to_pandas()


def _neither(table: Any) -> Any:
    del table
    remedy = "run pip install polars, or use the pyarrow tables in .arrow"
    raise UsageError("frames", "neither polars nor pandas is installed", remedy)


# Without slots: each table is made once and kept.
@dataclass(frozen=True, kw_only=True)
class TestTables:
    """The tables of a test.

    report : its numbers. folder : of its run. number : its index there, from 0. steps : reads the sequences of each
    test of the run.
    """

    report: TestRecord
    folder: Path
    number: int
    steps: Callable[[], list[list[Steps]]]

    @cached_property
    def _measures(self) -> list[Measure]:
        return list(self.report.measures)

    @cached_property
    def measures(self) -> Any:
        """Every number of the test, unrounded, a row each.

        Columns of its cells (null where a number is of no such cell), then ``label``, ``name``, ``unit``, ``value``
        (null where none may be printed), ``least`` and ``greatest`` of the rounds, ``rounds``, ``judged``, and the
        host's part in it: ``bound`` and ``mark``.
        """
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        keys = _cell_columns(self._measures)
        rows = [_measure_row(measure) for measure in self._measures]
        types = [pa.string()] * 3 + [pa.float64()] * 3 + [pa.list_(pa.float64()), pa.bool_(), pa.float64(), pa.string()]
        columns = {key: _cell_column([dict(measure.cell).get(key) for measure in self._measures]) for key in keys}
        for index, (name, kind) in enumerate(zip(_OF_MEASURES, types, strict=True)):
            columns[name] = pa.array([row[index] for row in rows], type=kind)
        return pa.table(columns)

    @cached_property
    def cells(self) -> Any:
        """The numbers with a row per cell and a column per name."""
        import pyarrow as pa  # noqa: PLC0415

        keys = _cell_columns(self._measures)
        cells = {(measure.cell, measure.label): dict[str, float | None]() for measure in self._measures}
        for measure in self._measures:
            cells[measure.cell, measure.label][measure.key] = _number(measure.value)
        columns = {key: _cell_column([dict(cell).get(key) for cell, _ in cells]) for key in keys}
        columns["label"] = pa.array([label for _, label in cells], type=pa.string())
        for name in dict.fromkeys(measure.key for measure in self._measures):
            columns[name] = pa.array([values.get(name) for values in cells.values()], type=pa.float64())
        return pa.table(columns)

    @cached_property
    def series(self) -> Any:
        """Completions in each second of each step, with its sequence: counts, bytes and response times."""
        return _joined(read_raw(self.folder, self.steps()[self.number], raw_series), raw_series)

    @cached_property
    def histograms(self) -> Any:
        """The counts of response times of each step with the bounds of their buckets, with its sequence."""
        return _joined(read_raw(self.folder, self.steps()[self.number], raw_histograms), raw_histograms)


@dataclass(frozen=True, kw_only=True)
class RunTables:
    """The tables of a whole run."""

    run: StoredRun
    reports: Sequence[TestRecord]

    @cached_property
    def findings(self) -> Any:
        """Everything found in the run: ``test``, ``kind``, ``where`` and ``what``, as in ``findings.csv``."""
        import pyarrow as pa  # noqa: PLC0415

        findings = run_findings(self.run, self.reports)
        rows = [(finding.test, finding.kind, str(finding.where), text(finding.what)) for finding in findings]
        names = ("test", "kind", "where", "what")
        columns = {name: [row[index] for row in rows] for index, name in enumerate(names)}
        return pa.table({name: pa.array(column, type=pa.string()) for name, column in columns.items()})


def _measure_row(measure: Measure) -> tuple[Any, ...]:
    rounds = list(map(float, measure.rounds))
    bounds = (min(rounds), max(rounds)) if rounds else (None, None)
    host = (measure.bound, measure.mark)
    return (measure.label, measure.key, measure.unit, _number(measure.value), *bounds, rounds, measure.tracked, *host)


def _number(value: Number | None) -> float | None:
    return None if value is None else float(value)


def _cell_columns(measures: Iterable[Measure]) -> list[str]:
    return list(dict.fromkeys(key for measure in measures for key, _ in measure.cell))


def _cell_column(values: Sequence[str | int | float | None]) -> Any:
    """A column of one type: texts where one is, else numbers, with a point where one has."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = {type(value) for value in values if value is not None}
    if str in kinds:
        return pa.array([None if value is None else str(value) for value in values], type=pa.string())
    return pa.array(values, type=pa.int64() if kinds <= {int} else pa.float64())


def _joined(raw_tables: Iterable[RawTable], rows: Callable[..., Any]) -> Any:
    """The tables of several sequences as one, each row with its sequence and step."""
    import pyarrow as pa  # noqa: PLC0415

    parts = [_with_sequence(raw_table) for raw_table in raw_tables]
    # Without a sequence, an empty table of the same columns.
    return pa.concat_tables(parts) if parts else _with_sequence(RawTable.empty(rows))


def _with_sequence(raw_table: RawTable) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    count = raw_table.rows.num_rows
    sequence = {
        "sequence": pa.array([raw_table.number] * count, type=pa.int64()),
        "name": pa.array([raw_table.name] * count, type=pa.string()),
        "stage": pa.array([raw_table.stage] * count, type=pa.string()),
        "index": pa.array([raw_table.index] * count, type=pa.int64()),
        "role": pa.array([raw_table.role] * count, type=pa.string()),
        "label": pa.array(list(_labels(raw_table)), type=pa.string()),
    }
    rows = {name: raw_table.rows[name].combine_chunks() for name in raw_table.rows.column_names}
    return pa.table(sequence | rows)


def _labels(raw_table: RawTable) -> Iterator[str]:
    """The printed name of the step of each row."""
    for step, group in groupby(raw_table.rows["step"].to_pylist()):
        yield from (raw_table.labels[step] for _ in group)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTest:
    """One test of a run. Its frames are made when they are first read.

    name : in the run; the second IOPS test is ``iops-2``. procedure : what it measures, such as ``iops``.
    ended : ``steady``, ``round-limit`` and so on, None after a crash. reached : whether its last verdict was steady,
    None without one. withheld : why its numbers may not be printed, None if they may.
    arrow : the same tables as pyarrow has them.
    """

    name: str
    procedure: str
    ended: str | None
    reached: bool | None
    withheld: str | None
    arrow: TestTables = field(repr=False)
    _frame: Callable[[Any], Any] = field(repr=False)

    @property
    def measures(self) -> Any:
        """Every number, a row each: cell, label, name, unit, value, least and greatest round, rounds."""
        return self._frame(self.arrow.measures)

    @property
    def cells(self) -> Any:
        """The numbers with a row per cell and a column per name."""
        return self._frame(self.arrow.cells)

    @property
    def series(self) -> Any:
        """Every second of every step: I/Os, bytes, sum and maximum of response times."""
        return self._frame(self.arrow.series)

    @property
    def histograms(self) -> Any:
        """The counts of response times of every step."""
        return self._frame(self.arrow.histograms)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """A stored run.

    id : of the run. drive : that was tested. edition : its name. label : ``conforming``, ``not conforming: ...`` or
    ``simulated drive``. started : instant in UTC. complete : every test ended by a rule of its own.
    tests : by name, in the order they ran; another name raises UsageError.
    arrow : tables of the whole run as pyarrow has them.
    """

    id: str
    folder: Path
    drive: DriveIdentity
    edition: str
    label: str
    started: datetime
    complete: bool
    tests: Mapping[str, LoadedTest]
    arrow: RunTables = field(repr=False)
    _frame: Callable[[Any], Any] = field(repr=False)

    @property
    def findings(self) -> Any:
        """Everything that a reader must know of the run: test, kind, where, what."""
        return self._frame(self.arrow.findings)


class _Tests(dict[str, LoadedTest]):
    """The tests of a run; another name raises UsageError with the known names."""

    def __missing__(self, name: str) -> LoadedTest:
        known = f"it has {', '.join(self) or 'none'}"
        raise UsageError(f"test {str(name)[:40]!r}", "is not in this run", did_you_mean(str(name), self, known))


def load_run(folder: str | Path, *, frames: FrameLibrary | None = None) -> LoadedRun:
    """Read a run folder; see ``assay.load``."""
    maker, folder = frame_maker(frames), Path(folder)
    return foreign(lambda: _loaded(stored_run(folder), folder, maker), str(folder))


def is_complete(run: StoredRun) -> bool:
    """Whether a run went to its end. Worked: an interrupted run -> False, though its journal is whole."""
    ended = run.journal is not None and run.journal.complete
    return ended and not any(is_cut_short(test.ended) for test in run.tests)


def _loaded(run: StoredRun, folder: Path, frame: Callable[[Any], Any]) -> LoadedRun:
    reports = records_of_tests(run)
    # The journal is read again only for tables, and once for those of all tests.
    steps = cache(lambda: steps_of_tests(folder))
    tests = [
        _test(TestTables(report=report, folder=folder, number=index, steps=steps), frame)
        for index, report in enumerate(reports)
    ]
    return LoadedRun(
        id=run.run_id,
        folder=folder,
        drive=run.identity,
        edition=str(run.edition.get("name", "")),
        label=conformity_label(run),
        started=datetime.fromtimestamp(run.started_wall_ns / SECOND_NS, UTC),
        complete=is_complete(run),
        tests=_Tests({test.name: test for test in tests}),
        arrow=RunTables(run=run, reports=reports),
        _frame=frame,
    )


def _test(tables: TestTables, frame: Callable[[Any], Any]) -> LoadedTest:
    report = tables.report
    test = report.test
    return LoadedTest(
        name=report.name,
        procedure=test.settings.procedure,
        ended=test.ended,
        reached=test.verdict.reached if test.verdict else None,
        withheld=text_or_none(withheld_reason(test)),
        arrow=tables,
        _frame=frame,
    )
