"""The tables behind the frames, as pyarrow has them: one row per number, second, bucket or finding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from assay.procedures.run_findings import run_findings
from assay.run.store.read import RawTable, raw_histograms, raw_series, read_raw
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.run.store.document import Steps
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure
    from assay.words.coded import Number

_OF_MEASURES = ("label", "name", "unit", "value", "least", "greatest", "rounds", "judged", "bound", "mark")


# Without slots: each table is made once and kept.
@dataclass(frozen=True, kw_only=True)
class TestTables:
    """The tables of a test.

    report : its numbers. folder, number : of its run, and its place in it, from 0. steps : reads the sequences of each
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
        for one in self._measures:
            cells[one.cell, one.label][one.key] = _number(one.value)
        columns = {key: _cell_column([dict(cell).get(key) for cell, _ in cells]) for key in keys}
        columns["label"] = pa.array([label for _, label in cells], type=pa.string())
        for name in dict.fromkeys(measure.key for measure in self._measures):
            columns[name] = pa.array([values.get(name) for values in cells.values()], type=pa.float64())
        return pa.table(columns)

    @cached_property
    def series(self) -> Any:
        """What completed in each second of each step, with its sequence: counts, bytes and response times."""
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

    parts = [_with_places(raw_table) for raw_table in raw_tables]
    # Without a sequence, an empty table of the same columns.
    return pa.concat_tables(parts) if parts else _with_places(RawTable.empty(rows))


def _with_places(raw_table: RawTable) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    count = raw_table.rows.num_rows
    place = {
        "sequence": pa.array([raw_table.number] * count, type=pa.int64()),
        "name": pa.array([raw_table.name] * count, type=pa.string()),
        "stage": pa.array([raw_table.stage] * count, type=pa.string()),
        "index": pa.array([raw_table.index] * count, type=pa.int64()),
        "role": pa.array([raw_table.role] * count, type=pa.string()),
        "label": pa.array(list(_labels(raw_table)), type=pa.string()),
    }
    own = {name: raw_table.rows[name].combine_chunks() for name in raw_table.rows.column_names}
    return pa.table(place | own)


def _labels(raw_table: RawTable) -> Iterator[str]:
    """The printed name of the step of each row."""
    for step, group in groupby(raw_table.rows["step"].to_pylist()):
        yield from (raw_table.labels[step] for _ in group)
