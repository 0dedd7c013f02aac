"""The figures of a test loop that summaries print."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from assay.engine.records import Cell
from assay.procedures.families.loop.result import latency_maxima
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.spread import cell_spreads
from assay.procedures.families.loop.values import headline_window, no_window_reason
from assay.procedures.families.loop.variable import shown
from assay.results import is_reached
from assay.spec.units import KIB
from assay.summary.pages.label import short_text
from assay.summary.pages.select import IN_WINDOW, NOT_REACHED, STEADY, Selected, claim_label
from assay.words.printed import NOT_AVAILABLE

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.families.loop.values import LoopResult


class Measured(NamedTuple):
    """A stored test loop with its result."""

    run: StoredRun
    test: StoredTest
    result: LoopResult

    @property
    def settings(self) -> LoopSettings:
        """What the test used."""
        return self.test.settings_as(LoopSettings)


def loop_selection(of: Measured) -> tuple[Selected, ...]:
    """Figures of a test loop: IOPS of 4 and 8 KiB, throughput of the size, response times of 4 KiB."""
    return _LOOPS[of.settings.variable](of)


def _iops(of: Measured) -> tuple[Selected, ...]:
    return (
        _steady(of, "RND 4KiB W", 0, 4, "rnd_4k_write_iops"),
        _steady(of, "RND 4KiB R", 100, 4, "rnd_4k_read_iops"),
        _steady(of, "RND 8KiB W", 0, 8),
        _steady(of, "RND 8KiB R", 100, 8),
    )


def _throughput(of: Measured) -> tuple[Selected, ...]:
    kib = of.settings.sizes_bytes[0] // KIB
    claimed = kib >= KIB
    return (
        _steady(of, f"SEQ {kib}KiB W", 0, kib, "seq_write_mb_per_s" if claimed else None),
        _steady(of, f"SEQ {kib}KiB R", 100, kib, "seq_read_mb_per_s" if claimed else None),
    )


def _latency(of: Measured) -> tuple[Selected, ...]:
    largest = latency_maxima(of.test, of.result).largest
    basis = _LARGEST if _basis(of.result) == STEADY else _basis(of.result)
    return (
        _steady(of, "RND 4KiB R Ave", 100, 4, "read_latency_ms"),
        _steady(of, "RND 4KiB W Ave", 0, 4, "write_latency_ms"),
        replace(_figure(of, "RND 4KiB R Max", largest.get(_cell(100, 4))), basis=basis),
        replace(_figure(of, "RND 4KiB W Max", largest.get(_cell(0, 4))), basis=basis),
    )


_LOOPS = {"iops": _iops, "throughput": _throughput, "latency": _latency}


_LARGEST = "largest in the window, not tracked"
_UNITS = {"iops": "IOPS", "throughput": "MB/s", "latency": "ms"}


def _steady(of: Measured, item: str, read_pct: int, kib: int, claim: str | None = None) -> Selected:
    cell = _cell(read_pct, kib)
    result = _figure(of, item, of.result.matrix.get(cell), claim)
    judged = result.basis != STEADY or cell in of.settings.tracking
    basis = result.basis if judged else _untracked(of, cell)
    return replace(result, basis="; ".join(filter(None, (basis, short_text(of.test, cell)))))


def _untracked(of: Measured, cell: Cell) -> str:
    """What a cell rests on that the verdict says nothing of. Worked: one that moved by 37 % says so."""
    spread = cell_spreads(of.result, of.settings).get(cell)
    return f"{IN_WINDOW}; moved by {spread.apart * 100:.1f} %" if spread and spread.moved else IN_WINDOW


def _figure(of: Measured, item: str, value: float | None, claim: str | None = None) -> Selected:
    settings = of.settings
    text = NOT_AVAILABLE if value is None else shown(settings).text(value)
    unit = _UNITS[settings.variable]
    return Selected(item=item, unit=unit, value=text, basis=_basis(of.result), claim=claim_label(of.run, claim))


def _basis(result: LoopResult) -> str:
    window = headline_window(result)
    if window is None:
        return no_window_reason(result).removeprefix(f"{NOT_AVAILABLE}: ")
    return STEADY if is_reached(window) else NOT_REACHED


def _cell(read_pct: int, kib: int) -> Cell:
    return Cell(read_pct=read_pct, transfer_bytes=kib * KIB)
