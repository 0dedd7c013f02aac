"""Reads Iometer's result files of every release: 56 columns to 2006.07.27, 59 in 1.1.0-rc1, 80 in 1.1.0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.errors import PlanError
from assay.spec.text_file import named_bytes
from assay.workloads.iometer.lines import LINES_MAX, decoded
from assay.workloads.iometer.results_columns import KINDS, MEBIBYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

FILE_BYTES_MAX = 64 << 20
_REMEDY = "name a result file that Iometer wrote"
_HEADER = "'target type"
_NEEDED = ("Target Type", "Target Name", "IOps", "Read IOps", "Write IOps", "Average Response Time")
_COLUMNS_MAX = 200
_KNOWN = (
    "'Test Type,Test Description",
    "'Version",
    "'Time Stamp",
    "'Access specifications",
    "'Access specification name,default assignment",
    "'size,% of size,% reads,% random,delay,burst,align,reply",
    "'End access specifications",
    "'Results",
)
_TEXTS = {"Target Type", "Target Name", "Access Specification Name"}


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
        names = (f"{direction} {name}".strip() for name in MEBIBYTES)
        return next((self.cells[name] for name in names if name in self.cells), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecLines:
    """An access specification as a result file repeats it. rows : size, shares and so on, eight numbers each."""

    name: str
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRun:
    """The rows of one run. time_stamps : before and behind it, as far as the file has them."""

    specs: tuple[SpecLines, ...]
    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    time_stamps: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSeries:
    """The runs of one test. version : of Iometer."""

    test_type: str
    description: str
    version: str
    runs: tuple[ResultRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A whole file: tests are appended to it one after the other."""

    source: str
    series: tuple[ResultSeries, ...]

    @property
    def runs(self) -> Iterator[ResultRun]:
        """The runs of all tests, in turn."""
        for one in self.series:
            yield from one.runs


def read_results(path: Path) -> Results:
    """The rows of a result file of at most 64 MiB, by the names of its columns.

    The figures are what somebody's Iometer wrote: nothing vouches for them. Raises PlanError with line and what is
    expected.
    """
    raw = named_bytes(path, bytes_max=FILE_BYTES_MAX, remedy=_REMEDY)
    return parse_results(decoded(raw, str(path), remedy=_REMEDY), str(path))


def parse_results(text: str, source: str) -> Results:
    """The same of a text. Raises PlanError."""
    lines = text.split("\n")
    if len(lines) > LINES_MAX:
        raise PlanError(source, f"has more than {LINES_MAX:,} lines", _REMEDY)
    results = _Reader(source).series([line.strip() for line in lines])
    if not any(result.runs for result in results):
        raise PlanError(source, "has no results: no line begins with 'Target Type", _REMEDY)
    return Results(source=source, series=tuple(results))


@dataclass
class _Open:
    """A test while it is read."""

    test_type: str = ""
    description: str = ""
    version: str = ""
    stamp: str = ""
    specs: list[tuple[str, list[tuple[int, ...]]]] = field(default_factory=list)
    runs: list[ResultRun] = field(default_factory=list)


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.found: list[_Open] = []

    def series(self, lines: Sequence[str]) -> list[ResultSeries]:
        place = 0
        while place < len(lines):
            place = self._read(lines, place)
        return [
            ResultSeries(
                test_type=one.test_type, description=one.description, version=one.version, runs=tuple(one.runs)
            )
            for one in self.found
        ]

    def _read(self, lines: Sequence[str], index: int) -> int:
        """Take what begins at a line; the place behind it."""
        line = lines[index]
        key = line.casefold().rstrip(",")
        if key.startswith(_HEADER):
            return self._results(lines, index)
        if not line:
            return index + 1
        if not line.startswith("'"):
            raise self._fault(index, f'"{line[:60]}" belongs to nothing', "a line that begins with an apostrophe")
        names = {one.casefold(): number for number, one in enumerate(_KNOWN)}
        if key not in names:
            raise self._fault(index, f'"{line[:60]}" is no title that Iometer writes', ", ".join(_KNOWN[:4]))
        return self._titled(names[key], lines, index + 1)

    def _titled(self, number: int, lines: Sequence[str], index: int) -> int:
        """What stands below a title."""
        value = lines[index] if index < len(lines) else ""
        if number == 0:
            kind, _, description = value.partition(",")
            self.found.append(_Open(test_type=kind.strip(), description=description.strip()))
            return index + 1
        test = self._test()
        match number:
            case 1:
                test.version = value
            case 2:
                self._stamp(test, value)
            case 3:
                test.specs = []
                return index
            case 4:
                test.specs.append((value.partition(",")[0].strip(), []))
            case 5:
                return self._rows_of_spec(test, lines, index)
            case _:
                return index
        return index + 1

    def _stamp(self, test: _Open, value: str) -> None:
        """A time stamp is of the run before where its results have none behind them, else of the next."""
        if test.runs and len(test.runs[-1].time_stamps) < 2 and not test.specs:  # noqa: PLR2004 - before and behind
            last = test.runs.pop()
            stamps = (*last.time_stamps, value)
            test.runs.append(
                ResultRun(specs=last.specs, columns=last.columns, rows=last.rows, time_stamps=stamps, line=last.line)
            )
        else:
            test.stamp = value

    def _test(self) -> _Open:
        """The test that is being read; a file may be a part of one, without its title."""
        if not self.found:
            self.found.append(_Open())
        return self.found[-1]

    def _rows_of_spec(self, test: _Open, lines: Sequence[str], place: int) -> int:
        while place < len(lines) and lines[place] and not lines[place].startswith("'"):
            # 1.1.0 ends each of these rows with a comma.
            cells = lines[place].rstrip(",").split(",")
            if not all(cell.strip().isascii() and cell.strip().isdigit() for cell in cells):
                raise self._fault(place, f'"{lines[place][:60]}" is no row of a specification', "whole numbers")
            if test.specs:
                test.specs[-1][1].append(tuple(int(cell[:20]) for cell in cells))
            place += 1
        return place

    def _results(self, lines: Sequence[str], place: int) -> int:
        begun = place
        # The last header of 1.1.0 begins with a blank, as does its first column in some files.
        columns = tuple(cell.strip() for cell in lines[place].removeprefix("'").split(","))
        missing = [name for name in _NEEDED if name not in columns]
        if missing or len(columns) > _COLUMNS_MAX:
            raise self._fault(
                place, f'the header has no column "{missing[0]}"' if missing else "too many columns", _REMEDY
            )
        rows = []
        place += 1
        while place < len(lines) and lines[place] and not lines[place].startswith("'"):
            rows.append(self._row(columns, lines[place], place))
            place += 1
        test = self._test()
        specs = tuple(SpecLines(name=name, rows=tuple(results)) for name, results in test.specs)
        stamps = (test.stamp,) if test.stamp else ()
        test.runs.append(ResultRun(specs=specs, columns=columns, rows=tuple(rows), time_stamps=stamps, line=begun + 1))
        test.specs, test.stamp = [], ""
        return place

    def _row(self, columns: Sequence[str], text: str, index: int) -> ResultRow:
        """A row, with a cell for every column; one that is cut short may end inside a number."""
        cells = [cell.strip() for cell in text.split(",")]
        if len(cells) < len(columns) or any(cells[len(columns) :]):
            raise self._fault(index, f"has {len(cells)} cells for {len(columns)} columns", "a row like its header")
        named = dict(zip(columns, cells, strict=False))
        kind = named["Target Type"].upper()
        if kind not in KINDS:
            raise self._fault(index, f'the target type is "{kind[:60]}"', ", ".join(KINDS))
        numbers = {name: self._number(cell, name, index) for name, cell in named.items() if cell and name not in _TEXTS}
        return ResultRow(
            kind=kind,
            name=named.get("Target Name", ""),
            spec=named.get("Access Specification Name", ""),
            cells=numbers,
            line=index + 1,
        )

    def _number(self, cell: str, name: str, index: int) -> float:
        """A number; whole ones keep all their digits."""
        try:
            result = int(cell) if cell.lstrip("-").isdigit() and len(cell) <= 20 else float(cell)  # noqa: PLR2004 - 64 bits
        except ValueError:
            result = float("nan")
        if not abs(result) < float("inf"):
            raise self._fault(index, f'"{cell[:60]}" stands in the column {name}', "a number, or nothing")
        return result

    def _fault(self, index: int, reason: str, expected: str) -> PlanError:
        return PlanError(f"{self.source}:{index + 1}", reason, f"expected: {expected}")
