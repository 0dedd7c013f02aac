"""Results that Iometer wrote, as rows to look at: a table, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.workloads.iometer.results_read import ResultRow, ResultRun, Results

UNVERIFIED = "Unverified: measured by Iometer, read from its file; nothing vouches for these figures."
COLUMNS = (
    "Run",
    "Target",
    "Name",
    "Specification",
    "Outstanding",
    "IOPS",
    "Read IOPS",
    "Write IOPS",
    "MiB/s",
    "Mean ms",
    "Max ms",
    "Errors",
    "CPU %",
)
_NUMBERS = ("Queue Depth", "IOps", "Read IOps", "Write IOps", "", "Average Response Time", "Maximum Response Time")
_LATER = ("Errors", "% CPU Utilization")
_PLACES = {"Queue Depth": 0, "Errors": 0, "Average Response Time": 4, "Maximum Response Time": 3}
_TABLE_KINDS = {"ALL", "WORKER", "DISK"}
_LEADING = ("run", "time_stamp", "version", "target_type", "target_name", "access_specification")


def table_rows(results: Results) -> list[tuple[str, ...]]:
    """The rows of all, of workers and of disks, run by run, with the figures that people compare."""
    return [
        (str(number), row.kind, row.name, spec_of(run, row), *_cells(row))
        for number, run in enumerate(results.runs, 1)
        for row in run.rows
        if row.kind in _TABLE_KINDS
    ]


def spec_of(run: ResultRun, row: ResultRow) -> str:
    """The specification of a row; rows of disks do not name it, and have it of the run where it has one."""
    return row.spec or (run.specs[0].name if len(run.specs) == 1 else "")


def _cells(row: ResultRow) -> Iterator[str]:
    for name in (*_NUMBERS, *_LATER):
        value = row.cells.get(name) if name else row.mebibytes_per_s()
        yield "" if value is None else f"{value:,.{_PLACES.get(name, 2)}f}"


def as_json(results: Results) -> str:
    """Everything of the file, with its cells under the names of their columns."""
    facts: dict[str, Any] = {
        "schema": 1,
        "verified": False,
        "note": UNVERIFIED,
        "source": results.source,
        "tests": [
            {
                "test_type": one.test_type,
                "description": one.description,
                "version": one.version,
                "runs": [_run(run) for run in one.runs],
            }
            for one in results.series
        ],
    }
    return json.dumps(facts, indent=2) + "\n"


def _run(run: ResultRun) -> dict[str, Any]:
    return {
        "time_stamps": list(run.time_stamps),
        "access_specifications": [{"name": spec.name, "rows": spec.rows} for spec in run.specs],
        "rows": [
            {"target_type": row.kind, "target_name": row.name, "access_specification": spec_of(run, row)}
            | {"cells": dict(row.cells)}
            for row in run.rows
        ],
    }


def as_csv(results: Results) -> str:
    """One table of all rows, with the columns of all releases that the file is of."""
    columns = dict.fromkeys(name for run in results.runs for row in run.rows for name in row.cells)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_LEADING, *columns))
    number = 0
    for test in results.series:
        for run in test.runs:
            number += 1
            stamp = run.time_stamps[0] if run.time_stamps else ""
            for row in run.rows:
                leading = (number, stamp, test.version, row.kind, row.name, spec_of(run, row))
                writer.writerow((*leading, *(row.cells.get(name, "") for name in columns)))
    return text.getvalue()
