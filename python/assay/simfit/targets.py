"""What a simulated drive is fitted to: published cells and figures, by name."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.files import open_named

if TYPE_CHECKING:
    from collections.abc import Mapping
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


def read_targets(matrix: Path, figures: Path | None = None) -> dict[str, float]:
    """Read published values by name: ``iops_4_0`` is RND 4 KiB 0/100.

    matrix : CSV with the columns ``block_kib``, ``read_pct``, ``iops``, as ``report/iops_matrix.csv`` has them; cells
        without a number are left out. figures : CSV with the columns ``figure``, ``value``.
    Raises UsageError naming the file where it cannot be read or holds no value.
    """
    found = {_cell(matrix, row): row["iops"] for row in _rows(matrix, "iops")}
    if figures is not None:
        found |= {row["figure"]: row["value"] for row in _rows(figures, "value") if row["figure"] in FIGURES}
    targets = {name: value for name, text in found.items() if (value := _positive(text)) is not None}
    if not targets:
        raise UsageError(str(matrix), "holds no value to fit to", "name a matrix with numbers")
    return targets


def cell_name(block_kib: float, read_pct: int) -> str:
    """The name of a cell of the matrix. Worked: ``cell_name(0.5, 100)`` is ``"iops_0.5_100"``."""
    return f"iops_{block_kib:g}_{read_pct}"


def log_errors(found: Mapping[str, float], targets: Mapping[str, float]) -> dict[str, float]:
    """The natural logarithm of found over published, by name. Worked: 110 for 100 is 0.0953."""
    return {name: math.log(max(found[name], 1e-9) / value) for name, value in targets.items()}


def _rows(path: Path, column: str) -> list[dict[str, str]]:
    try:
        with io.TextIOWrapper(open_named(path), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(str(path), str(error), "name a CSV file") from None
    if not rows or column not in rows[0]:
        raise UsageError(str(path), f"has no column {column}", "see docs/formats/run-folder.md for its form")
    return rows


def _cell(path: Path, row: Mapping[str, str]) -> str:
    try:
        return cell_name(float(row["block_kib"]), int(row["read_pct"]))
    except (KeyError, TypeError, ValueError):
        reason = "has a row without a block size in KiB or a share of reads in percent"
        raise UsageError(str(path), reason, "see docs/formats/run-folder.md for its form") from None


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None
