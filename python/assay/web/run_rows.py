"""Runs as rows of a table: texts and addresses, ready to be laid out. Nothing is decided here."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from assay.archive.index.folders import given_name
from assay.archive.index.search import key_columns, key_results
from assay.spec.units import GB, MB, gigabytes_label
from assay.summary.verdict import STATE_LEVELS, STATE_WORDS
from assay.web.space import bytes_on_disk
from assay.words.printed import number_text
from assay.words.visible import unicode_name, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.archive.index.notes import RunNote
    from assay.archive.index.search import FoundRun, KeyColumn
    from assay.summary.forms import ListedRun, Quoted

COLUMNS_MAX = 8
_MARKED = {"warn", "invalid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Tests of a run that came out alike. level : ``good``, ``warn``, ``bad`` or ``unknown``."""

    level: str
    word: str
    tests: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A key result. text : printed, empty where the run has no such test. mark : of the host's part in it, or empty."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run. began_wall_ns : None where it is unknown. host : what it ran on. away : its host, if another.

    disk_bytes : None where it is not known.
    """

    address: str
    name: str
    folder: str
    tags: tuple[str, ...]
    began_wall_ns: int | None
    began_text: str
    drive_address: str
    model: str
    serial: str
    firmware: str
    host: str
    away: str
    missing: bool
    fault: str
    outcomes: tuple[Outcome, ...]
    cells: tuple[Cell, ...]
    disk_bytes: int | None
    note: RunNote | None

    @property
    def disk(self) -> str:
        """What it takes on disk as printed; empty where that is not known."""
        return "" if self.disk_bytes is None else space_label(self.disk_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTable:
    """Rows with their key results. groups : test and count of the columns that stand side by side."""

    columns: tuple[KeyColumn, ...]
    groups: tuple[tuple[str, int], ...]
    rows: tuple[RunRow, ...]
    more_columns: int

    @property
    def disk_bytes(self) -> int:
        """What the runs of this host take, as far as it is known."""
        return sum(row.disk_bytes or 0 for row in self.rows)


def run_table(runs: Sequence[FoundRun], *, columns_max: int | None = COLUMNS_MAX) -> RunTable:
    """Lay runs out. columns_max : of key results; those that most runs have. None: all."""
    columns, count = key_columns(runs, columns_max), len(key_columns(runs))
    # Columns of a test stand together.
    tests = list(dict.fromkeys(column.test for column in columns))
    ordered = tuple(sorted(columns, key=lambda column: tests.index(column.test)))
    return RunTable(
        columns=ordered,
        groups=tuple((test, len(list(part))) for test, part in groupby(ordered, key=lambda column: column.test)),
        rows=tuple(_row(run, ordered) for run in runs),
        more_columns=count - len(columns),
    )


def space_label(size_bytes: int) -> str:
    """Space on disk, in base 10. Worked: 2_500_000 -> ``"2.5 MB"``, 1_500_000_000 -> ``"1.50 GB"``."""
    return gigabytes_label(size_bytes) if size_bytes >= GB else f"{size_bytes / MB:,.1f} MB"


def _row(run: FoundRun, columns: Sequence[KeyColumn]) -> RunRow:
    listed, drive = run.listed, run.listed.drive_facts
    results, folder = key_results(listed), listed.run.rpartition("/")[2]
    return RunRow(
        address=run.address,
        name=visible(listed.name or folder),
        folder=visible(folder),
        tags=tuple(map(visible, listed.tags)),
        began_wall_ns=listed.started_wall_ns,
        began_text=listed.started,
        drive_address=run.drive,
        model=visible(drive.model if drive else listed.drive),
        serial=visible(drive.serial or "") if drive else "",
        firmware=visible(drive.firmware or "") if drive else "",
        host=visible(listed.lab or listed.system or listed.host),
        away="" if run.folder is not None else visible(unicode_name(given_name(run.host))),
        missing=listed.missing,
        fault=visible(listed.fault or ""),
        outcomes=_outcomes(listed),
        cells=tuple(_cell(results.get(column)) for column in columns),
        disk_bytes=None if run.folder is None or listed.missing else bytes_on_disk(run.folder),
        note=run.note,
    )


def _outcomes(run: ListedRun) -> tuple[Outcome, ...]:
    """Worked: three steady tests -> one outcome ``steady`` with their names."""
    verdicts = dict.fromkeys(test.verdict for test in run.tests)
    return tuple(
        Outcome(
            level=STATE_LEVELS[verdict],
            word=STATE_WORDS[verdict],
            tests=visible(", ".join(test.test for test in run.tests if test.verdict == verdict)),
        )
        for verdict in verdicts
    )


def _cell(number: Quoted | None) -> Cell:
    if number is None:
        return Cell(text="")
    if number.value is None:
        return Cell(text="n/a")
    mark = number.mark if number.mark in _MARKED else ""
    return Cell(text=number_text(number.value, number.unit), mark=mark or "")
