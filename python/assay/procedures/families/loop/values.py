"""All values of the pages of a test loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import count_label
from assay.words.coded import coded
from assay.words.text import text

if TYPE_CHECKING:
    from assay.engine.records import Cell, MeasurementWindow
    from assay.results.finding import Finding
    from assay.words.coded import Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """All values of the pages of a loop test, in its own variable: IOPS, MB/s or ms.

    rounds : the real numbers of the complete rounds. by_round : the variable of every cell in each of them.
    window : the last five of them, None where fewer ran. matrix : average over the window per cell that completed an
    I/O; empty where there is no window or the result is withheld. error_count : failed I/Os in everything stored.
    withheld : why no result may be printed whatever the rounds say, None where it may.
    findings : what a reader must know before any of it.
    """

    rounds: tuple[int, ...]
    by_round: dict[Cell, tuple[float, ...]]
    window: MeasurementWindow | None
    matrix: dict[Cell, float]
    error_count: int
    withheld: Coded | None
    findings: tuple[Finding, ...] = ()

    def window_values(self, cell: Cell) -> tuple[float, ...]:
        """The rounds that a cell's average in the matrix is that of; empty for one that has none."""
        return self.by_round[cell][-WINDOW_ROUNDS:] if cell in self.matrix else ()


def headline_window(result: LoopResult) -> MeasurementWindow | None:
    """Return the window whose numbers may be printed: None where they are withheld or before five rounds."""
    return None if result.withheld else result.window


def no_window_reason(result: LoopResult) -> str:
    """Say why the window's numbers are printed n/a. Worked: ``"n/a: 3 I/O errors in the test"``."""
    if result.withheld:
        return text(coded("withheld", reason=result.withheld))
    return f"n/a: {count_label(len(result.rounds), 'complete round')}, a measurement window needs five"
