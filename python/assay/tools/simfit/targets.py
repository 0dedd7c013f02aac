"""What a simulated drive is fitted to: published cells and figures, by name."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import UsageError, joined
from assay.spec.files import open_named
from assay.spec.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FIGURES = (
    "wsat_fob_iops",
    "wsat_steady_iops",
    "tp_1024_read_mb_per_s",
    "tp_1024_write_mb_per_s",
    "lat_4_100_average_ms",
    "lat_4_0_average_ms",
)
"""Figures beside the matrix that a drive is fitted to; others in a file are left alone."""

_FILE_BYTES_MAX = 1 << 20
_FORM = "see docs/formats/run-folder.md for its form"


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a CSV file with the line that it ends on."""

    line: int
    cells: Mapping[str, str]


def read_targets(matrix: Path, figures: Path | None = None) -> dict[str, float]:
    """Read published values by name: ``iops_4_0`` is RND 4 KiB 0/100.

    matrix : CSV with the columns ``block_kib``, ``read_pct``, ``iops``, as ``report/iops_matrix.csv`` has them; cells
        without a number are left out. figures : CSV with the columns ``figure``, ``value``.
    Raises UsageError naming file and line where it cannot be read or holds no value.
    """
    result = _cells(matrix, _rows(matrix, ("block_kib", "read_pct", "iops")))
    for row in _rows(figures, ("figure", "value")) if figures is not None else ():
        if row.cells["figure"] in FIGURES:
            result[row.cells["figure"]] = row.cells["value"]
    targets = {name: value for name, text in result.items() if (value := _positive(text)) is not None}
    if not targets:
        raise UsageError(str(matrix), "holds no value to fit to", "name a matrix with numbers")
    return targets


def left_alone(matrix: Path, figures: Path | None = None) -> list[str]:
    """What of the files a drive is not fitted to, a line for each kind. Raises as ``read_targets``."""
    rows = _rows(matrix, ("block_kib", "read_pct", "iops"))
    empty = [str(row.line) for row in rows if _positive(row.cells["iops"]) is None]
    lines = [f"{matrix}: no number in line {', '.join(empty)}: left out"] if empty else []
    for row in _rows(figures, ("figure", "value")) if figures is not None else ():
        name = row.cells["figure"]
        if name not in FIGURES:
            meant = did_you_mean(name, FIGURES, "a drive is fitted to others")
            lines.append(f"{figures}:{row.line} {name[:80]}: left out; {meant}")
    return lines


def cell_name(block_kib: float, read_pct: int) -> str:
    """The name of a cell of the matrix. Worked: ``cell_name(0.5, 100)`` is ``"iops_0.5_100"``."""
    return f"iops_{block_kib:g}_{read_pct}"


def log_errors(found: Mapping[str, float], targets: Mapping[str, float]) -> dict[str, float]:
    """The natural logarithm of found over published, by name. Worked: 110 for 100 is 0.0953."""
    return {name: math.log(max(found[name], 1e-9) / value) for name, value in targets.items()}


def _rows(path: Path, columns: Sequence[str]) -> list[_Row]:
    """The rows of a file of at most 1 MiB, each with a text in every one of these columns."""
    text = _text(path)
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="")
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise UsageError(str(path), f"has no column {missing[0]}", _FORM)
        return [_Row(reader.line_num, row) for row in reader]
    except csv.Error:
        raise UsageError(f"{path}:{reader.line_num + 1}", "is no row of a CSV file", _FORM) from None


def _text(path: Path) -> str:
    try:
        with open_named(path) as file:
            raw = file.read(_FILE_BYTES_MAX + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(str(path), error.strerror or "cannot be read", "name a CSV file that can be read") from None
    except UnicodeDecodeError:
        raise UsageError(str(path), "is not UTF-8 text", "name a CSV file") from None
    if len(raw) > _FILE_BYTES_MAX:
        raise UsageError(str(path), "is larger than 1 MiB", "name a CSV file of published figures")
    return text


def _cells(path: Path, rows: Sequence[_Row]) -> dict[str, str]:
    """The rates of a matrix by the names of its cells. Raises UsageError with a line for each row at fault."""
    cells: dict[str, str] = {}
    faults: list[UsageError] = []
    for row in rows:
        try:
            cells[_cell(row.cells)] = row.cells["iops"]
        except ValueError:
            reason = "has a row without a block size in KiB or a share of reads in percent"
            faults.append(UsageError(f"{path}:{row.line}", reason, _FORM))
    if faults:
        raise joined(faults, str(path))
    return cells


def _cell(cells: Mapping[str, str]) -> str:
    block_kib, read_pct = float(cells["block_kib"]), int(cells["read_pct"])
    if not math.isfinite(block_kib):
        raise ValueError(block_kib)
    return cell_name(block_kib, read_pct)


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None
