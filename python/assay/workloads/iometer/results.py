"""Iometer's result files of every release, read and shown: 56 columns to 2006.07.27, 59 in 1.1.0-rc1, 80 in 1.1.0."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.errors import PlanError
from assay.spec.toml_file import named_bytes
from assay.workloads.iometer.keys import ROWS
from assay.workloads.iometer.lines import LINES_MAX, decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

FILE_BYTES_MAX = 64 << 20
UNVERIFIED = "Unverified: measured by Iometer, read from its file; nothing vouches for these figures."
KINDS = ("ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK", "NETWORK")
"""The kinds of rows in the order of a file."""

_REMEDY = "name a result file that Iometer wrote"
_COLUMNS_MAX = 200
_RESPONSES = ("Response Time", "Read Response Time", "Write Response Time", "Transaction Time", "Connection Time")
_TEXTS = ("Target Type", "Target Name", "Access Specification Name")


class Column(NamedTuple):
    """A column of the 56. empty : kinds of rows that Iometer leaves it empty in. decimals : 0 of texts as well."""

    empty: frozenset[str]
    decimals: int


def _columns(decimals: int, empty: str, *names: str) -> dict[str, Column]:
    return dict.fromkeys(names, Column(frozenset(empty.split()), decimals))


COLUMNS: dict[str, Column] = {
    **_columns(0, "", "Target Type", "Target Name"),
    **_columns(0, "PROCESSOR DISK", "Access Specification Name"),
    **_columns(0, "MANAGER PROCESSOR WORKER DISK", "# Managers"),
    **_columns(0, "PROCESSOR WORKER DISK", "# Workers"),
    **_columns(0, "PROCESSOR DISK", "# Disks"),
    **_columns(6, "PROCESSOR", "IOps", "Read IOps", "Write IOps", "MBps", "Read MBps", "Write MBps"),
    **_columns(6, "PROCESSOR", "Transactions per Second", "Connections per Second"),
    **_columns(
        6, "PROCESSOR", *(f"Average {time}" for time in _RESPONSES), *(f"Maximum {time}" for time in _RESPONSES)
    ),
    **_columns(0, "PROCESSOR", "Errors", "Read Errors", "Write Errors", "Bytes Read", "Bytes Written"),
    **_columns(0, "PROCESSOR", "Read I/Os", "Write I/Os", "Connections", "Transactions per Connection"),
    **_columns(0, "ALL PROCESSOR", *(f"Total Raw {time}" for time in _RESPONSES[1:])),
    **_columns(0, "ALL PROCESSOR", *(f"Maximum Raw {time}" for time in _RESPONSES[1:]), "Total Raw Run Time"),
    **_columns(0, "PROCESSOR", "Starting Sector", "Maximum Size", "Queue Depth"),
    **_columns(6, "WORKER DISK", "% CPU Utilization", "% User Time", "% Privileged Time"),
    **_columns(6, "WORKER DISK", "% DPC Time", "% Interrupt Time"),
    **_columns(0, "ALL", "Processor Speed"),
    **_columns(6, "WORKER DISK", "Interrupts per Second"),
    **_columns(6, "PROCESSOR WORKER DISK", "CPU Effectiveness", "Packets/Second"),
    **_columns(0, "PROCESSOR WORKER DISK", "Packet Errors"),
    **_columns(6, "PROCESSOR WORKER DISK", "Segments Retransmitted/Second"),
}
"""The 56 columns up to 2006.07.27, in their order."""

_NEEDED = ("Target Type", "Target Name", "IOps", "Read IOps", "Write IOps", "Average Response Time")
"""Columns without which a header is refused."""
_MEBIBYTES = ("MBps", "MBps (Binary)", "MiBps (Binary)")
"""What the releases call the rate in 2^20 bytes per second, with ``Read`` or ``Write`` before it for one direction."""

_SHOWN = {
    "Outstanding": ("Queue Depth", 0),
    "IOPS": ("IOps", 2),
    "Read IOPS": ("Read IOps", 2),
    "Write IOPS": ("Write IOps", 2),
    "MiB/s": ("", 2),
    "Mean ms": ("Average Response Time", 4),
    "Max ms": ("Maximum Response Time", 3),
    "Errors": ("Errors", 0),
    "CPU %": ("% CPU Utilization", 2),
}
"""Headings of the shown figures, each with its column and decimals; the rate of bytes has a name per release."""
SHOWN = ("Run", "Target", "Name", "Specification", *_SHOWN)
"""Headings of the shown table."""
_SHOWN_KINDS = {"ALL", "WORKER", "DISK"}

TITLES = (
    "'Test Type,Test Description",
    "'Version",
    "'Time Stamp",
    "'Access specifications",
    "'Access specification name,default assignment",
    f"'{ROWS}",
    "'End access specifications",
    "'Results",
)
"""Lines above each part of a file."""
_TEST, _VERSION, _STAMP, _SPECS, _SPEC, _ROWS, _, _ = TITLES


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """A row. kind : ALL, MANAGER, PROCESSOR, WORKER, DISK or NETWORK. cells : numbers by column, without empty ones."""

    kind: str
    name: str
    spec: str
    cells: Mapping[str, float]
    line: int

    def mebibytes_per_s(self, direction: str = "") -> float | None:
        """The rate in 2^20 bytes per second, whatever the release calls it. direction : "", ``Read`` or ``Write``."""
        names = (f"{direction} {name}".strip() for name in _MEBIBYTES)
        return next((self.cells[name] for name in names if name in self.cells), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecLines:
    """An access specification as a result file repeats it. rows : size, shares and so on, eight numbers each."""

    name: str
    rows: list[tuple[int, ...]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRun:
    """The rows of one run. time_stamps : before and behind it, as far as the file has them."""

    specs: tuple[SpecLines, ...]
    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    time_stamps: tuple[str, ...]
    line: int

    def spec_of(self, row: ResultRow) -> str:
        """The specification of a row; rows of disks do not name it, and have it of the run where it has one."""
        return row.spec or (self.specs[0].name if len(self.specs) == 1 else "")


@dataclass(slots=True, kw_only=True)
class ResultSeries:
    """The runs of one test. version : of Iometer."""

    test_type: str = ""
    description: str = ""
    version: str = ""
    runs: list[ResultRun] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A whole file: tests are appended to it one after the other."""

    source: str
    series: tuple[ResultSeries, ...]

    @property
    def runs(self) -> Iterator[ResultRun]:
        """The runs of all tests, in turn."""
        for test in self.series:
            yield from test.runs


def read_results(path: Path) -> Results:
    """The rows of a result file of at most 64 MiB, by the names of its columns.

    The figures are what somebody's Iometer wrote: nothing vouches for them. Raises PlanError with line and what is
    expected.
    """
    raw = named_bytes(path, bytes_max=FILE_BYTES_MAX, remedy=_REMEDY)
    return parse_results(decoded(raw, str(path), remedy=_REMEDY), str(path))


def parse_results(text: str, source: str) -> Results:
    """Read the text of a result file. source : its name, for faults. Raises PlanError."""
    lines = text.split("\n")
    if len(lines) > LINES_MAX:
        raise PlanError(source, f"has more than {LINES_MAX:,} lines", _REMEDY)
    series = _Reader(source, [line.strip() for line in lines]).series()
    if not any(test.runs for test in series):
        raise PlanError(source, "has no results: no line begins with 'Target Type", _REMEDY)
    return Results(source=source, series=tuple(series))


class _Reader:
    """One pass over the lines. specs, stamp : of the next run."""

    def __init__(self, source: str, lines: list[str]) -> None:
        self.source, self.lines, self.index = source, lines, 0
        self.tests: list[ResultSeries] = []
        self.specs: list[SpecLines] = []
        self.stamp = ""

    def series(self) -> list[ResultSeries]:
        titles = {title.casefold(): title for title in TITLES}
        while self.index < len(self.lines):
            line = self.lines[self.index]
            key = line.casefold().rstrip(",")
            if key.startswith("'target type"):
                self._results()
                continue
            if line and not line.startswith("'"):
                raise self._fault(f'"{line[:60]}" belongs to nothing', "a line that begins with an apostrophe")
            if line and key not in titles:
                raise self._fault(f'"{line[:60]}" is no title that Iometer writes', ", ".join(TITLES[:4]))
            self.index += 1
            if line:
                self._titled(titles[key])
        return self.tests

    def _titled(self, title: str) -> None:
        """What stands below a title."""
        value = self.lines[self.index] if self.index < len(self.lines) else ""
        first, _, rest = value.partition(",")
        if title == _TEST:
            self.tests.append(ResultSeries(test_type=first.strip(), description=rest.strip()))
            self.specs, self.stamp = [], ""
        elif title == _VERSION:
            self._test().version = value
        elif title == _STAMP:
            self._stamp(self._test().runs, value)
        elif title == _SPEC:
            self._test()
            self.specs.append(SpecLines(name=first.strip()))
        else:
            self._test()
            if title == _SPECS:
                self.specs = []
            elif title == _ROWS:
                self._rows_of_spec()
            return
        self.index += 1

    def _stamp(self, runs: list[ResultRun], value: str) -> None:
        """A time stamp is of the run before where its results have none behind them, else of the next."""
        if runs and len(runs[-1].time_stamps) < 2 and not self.specs:  # noqa: PLR2004 - before and behind
            runs[-1] = replace(runs[-1], time_stamps=(*runs[-1].time_stamps, value))
        else:
            self.stamp = value

    def _test(self) -> ResultSeries:
        """The test that is being read; a file may be a part of one, without its title."""
        if not self.tests:
            self.tests.append(ResultSeries())
        return self.tests[-1]

    def _rows_below(self) -> Iterator[str]:
        """The lines up to a blank one or the next title."""
        while self.index < len(self.lines) and self.lines[self.index] and not self.lines[self.index].startswith("'"):
            yield self.lines[self.index]
            self.index += 1

    def _rows_of_spec(self) -> None:
        for line in self._rows_below():
            # 1.1.0 ends each of these rows with a comma.
            cells = line.rstrip(",").split(",")
            if not all(cell.strip().isascii() and cell.strip().isdigit() for cell in cells):
                raise self._fault(f'"{line[:60]}" is no row of a specification', "whole numbers")
            if self.specs:
                self.specs[-1].rows.append(tuple(int(cell[:20]) for cell in cells))

    def _results(self) -> None:
        begun = self.index + 1
        # The last header of 1.1.0 begins with a blank, as does its first column in some files.
        columns = tuple(cell.strip() for cell in self.lines[self.index].removeprefix("'").split(","))
        missing = [name for name in _NEEDED if name not in columns]
        if missing or len(columns) > _COLUMNS_MAX:
            reason = f'the header has no column "{missing[0]}"' if missing else "too many columns"
            raise self._fault(reason, _REMEDY)
        self.index += 1
        rows = tuple(self._row(columns, line) for line in self._rows_below())
        stamps = (self.stamp,) if self.stamp else ()
        run = ResultRun(specs=tuple(self.specs), columns=columns, rows=rows, time_stamps=stamps, line=begun)
        self._test().runs.append(run)
        self.specs, self.stamp = [], ""

    def _row(self, columns: Sequence[str], text: str) -> ResultRow:
        """A row, with a cell for every column; one that is cut short may end inside a number."""
        cells = [cell.strip() for cell in text.split(",")]
        if len(cells) < len(columns) or any(cells[len(columns) :]):
            raise self._fault(f"has {len(cells)} cells for {len(columns)} columns", "a row like its header")
        named = dict(zip(columns, cells, strict=False))
        kind = named["Target Type"].upper()
        if kind not in KINDS:
            raise self._fault(f'the target type is "{kind[:60]}"', ", ".join(KINDS))
        _, name, spec = (named.get(column, "") for column in _TEXTS)
        numbers = {
            column: self._number(cell, column) for column, cell in named.items() if cell and column not in _TEXTS
        }
        return ResultRow(kind=kind, name=name, spec=spec, cells=numbers, line=self.index + 1)

    def _number(self, cell: str, column: str) -> float:
        """A number; whole ones keep all their digits."""
        try:
            number = int(cell) if cell.lstrip("-").isdigit() and len(cell) <= 20 else float(cell)  # noqa: PLR2004 - 64 bits
        except ValueError:
            number = float("nan")
        if not abs(number) < float("inf"):
            raise self._fault(f'"{cell[:60]}" stands in the column {column}', "a number, or nothing")
        return number

    def _fault(self, reason: str, expected: str) -> PlanError:
        return PlanError(f"{self.source}:{self.index + 1}", reason, f"expected: {expected}")


def table_rows(results: Results) -> list[tuple[str, ...]]:
    """The rows of all, of workers and of disks, run by run, with the figures that people compare."""
    return [
        (str(number), row.kind, row.name, run.spec_of(row), *_figure_texts(row))
        for number, run in enumerate(results.runs, 1)
        for row in run.rows
        if row.kind in _SHOWN_KINDS
    ]


def _figure_texts(row: ResultRow) -> Iterator[str]:
    for name, decimals in _SHOWN.values():
        value = row.cells.get(name) if name else row.mebibytes_per_s()
        yield "" if value is None else f"{value:,.{decimals}f}"


def as_json(results: Results) -> str:
    """Everything of the file, with its cells under the names of their columns."""
    facts: dict[str, Any] = {
        "schema": 1,
        "verified": False,
        "note": UNVERIFIED,
        "source": results.source,
        "tests": [
            {
                "test_type": test.test_type,
                "description": test.description,
                "version": test.version,
                "runs": [_run_facts(run) for run in test.runs],
            }
            for test in results.series
        ],
    }
    return json.dumps(facts, indent=2) + "\n"


def _run_facts(run: ResultRun) -> dict[str, Any]:
    return {
        "time_stamps": run.time_stamps,
        "access_specifications": [{"name": spec.name, "rows": spec.rows} for spec in run.specs],
        "rows": [
            {"target_type": row.kind, "target_name": row.name, "access_specification": run.spec_of(row)}
            | {"cells": row.cells}
            for row in run.rows
        ],
    }


def as_csv(results: Results) -> str:
    """One table of all rows, with the columns of all releases that the file is of."""
    columns = dict.fromkeys(name for run in results.runs for row in run.rows for name in row.cells)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("run", "time_stamp", "version", "target_type", "target_name", "access_specification", *columns))
    versions = [(test.version, run) for test in results.series for run in test.runs]
    for number, (version, run) in enumerate(versions, 1):
        stamp = run.time_stamps[0] if run.time_stamps else ""
        for row in run.rows:
            leading = (number, stamp, version, row.kind, row.name, run.spec_of(row))
            writer.writerow((*leading, *(row.cells.get(name, "") for name in columns)))
    return text.getvalue()
