"""The CSV tables. A leading apostrophe makes a cell inert that a spreadsheet would take for a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from assay.records import Cell
from assay.report.label import headline_window, no_window_reason
from assay.report.printed import NOT_APPLICABLE, NOT_AVAILABLE, paragraph, printable, rounds_label
from assay.report.variable import shown
from assay.units import kib_label, milliseconds
from assay.window import (
    complete_rounds,
    effective_queue_depth,
    error_count,
    iops,
    loop_result,
    max_latency_ns,
    mean_latency_ns,
    throughput,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.records import StepRecord, StoredRun, StoredTest

VALUE = "value"
MATRIX_COLUMNS = (
    "block_kib",
    "read_pct",
    VALUE,
    "write_pct",
    "rounds",
    "steady_state",
    "drive_model",
    "drive_serial",
    "note",
)
ROUNDS_COLUMNS = (
    "round",
    "block_kib",
    "read_pct",
    "iops",
    "mb_per_s",
    "effective_queue_depth",
    "latency_ms_mean",
    "latency_ms_max",
    "error_count",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def matrix_csv(run: StoredRun, test: StoredTest) -> bytes:
    """Write a test's matrix, one row per cell, sorted by block size and then by read share.

    Columns are ``MATRIX_COLUMNS`` with the test's own variable in the third. It is unrounded, ``n/a`` where no number
    may be printed, ``N/A`` where the drive cannot run the size (note says why).
    Raises VerificationError as ``assay.window.loop_result``.
    """
    settings = test.settings
    result = loop_result(test)
    window = headline_window(result)
    drive = (printable(run.identity.model), printable(run.identity.serial))
    steady = ("reached" if window.reached else "not reached") if window else NOT_AVAILABLE
    rounds = rounds_label(window.rounds if window else ())
    rows = []
    for size in sorted({*settings.sizes_bytes, *settings.not_applicable}):
        absent = NOT_APPLICABLE if size in settings.not_applicable else NOT_AVAILABLE
        note = settings.not_applicable.get(size, "" if window else no_window_reason(result))
        for read_pct in sorted(settings.read_pcts):
            value = result.matrix.get(Cell(read_pct=read_pct, transfer_bytes=size), absent)
            found = (value, 100 - read_pct, rounds, steady, *drive, paragraph(note) if note else "")
            rows.append((kib_label(size), read_pct, *found))
    columns = [shown(settings).column if name == VALUE else name for name in MATRIX_COLUMNS]
    return table_csv(columns, rows)


def rounds_csv(test: StoredTest) -> bytes:
    """Write every cell of every complete round in the order they ran, unrounded; columns are ``ROUNDS_COLUMNS``."""
    return table_csv(
        ROUNDS_COLUMNS,
        (
            (round_.index, kib_label(cell.transfer_bytes), cell.read_pct, *_measured(record))
            for round_ in complete_rounds(test)
            for cell, record in zip(test.settings.cells, round_.cells, strict=True)
        ),
    )


def table_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Write a table as RFC 4180 text in UTF-8. Worked: a text ``"=1+1"`` is written ``'=1+1``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_inert(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _measured(record: StepRecord) -> tuple[Any, ...]:
    mean, largest = mean_latency_ns(record), max_latency_ns(record)
    return (
        float(iops(record)),
        float(throughput(record)),
        effective_queue_depth(record),
        NOT_AVAILABLE if mean is None else milliseconds(mean),
        NOT_AVAILABLE if largest is None else milliseconds(largest),
        error_count(record),
    )


def _inert(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell
