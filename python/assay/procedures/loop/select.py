"""The figures of a test loop that summaries print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.printed import NOT_AVAILABLE
from assay.pages.select import Selected, claim_label
from assay.procedures.loop.result import latency_maxima
from assay.procedures.loop.variable import shown
from assay.records import Cell
from assay.units import KIB

if TYPE_CHECKING:
    from assay.procedures.loop.report import LoopSheets
    from assay.procedures.loop.settings import LoopSettings


def loop_selection(sheets: LoopSheets) -> tuple[Selected, ...]:
    """Figures of a test loop: IOPS of 4 and 8 KiB, throughput of the size, response times of 4 KiB."""
    return _LOOPS[sheets.settings.variable](sheets)


def _iops(sheets: LoopSheets) -> tuple[Selected, ...]:
    return (
        _steady(sheets, "RND 4KiB W", 0, 4, "rnd_4k_write_iops"),
        _steady(sheets, "RND 4KiB R", 100, 4, "rnd_4k_read_iops"),
        _steady(sheets, "RND 8KiB W", 0, 8),
        _steady(sheets, "RND 8KiB R", 100, 8),
    )


def _throughput(sheets: LoopSheets) -> tuple[Selected, ...]:
    kib = sheets.settings.sizes_bytes[0] // KIB
    claimed = kib >= KIB
    return (
        _steady(sheets, f"SEQ {kib}KiB W", 0, kib, "seq_write_mb_per_s" if claimed else None),
        _steady(sheets, f"SEQ {kib}KiB R", 100, kib, "seq_read_mb_per_s" if claimed else None),
    )


def _latency(sheets: LoopSheets) -> tuple[Selected, ...]:
    largest = latency_maxima(sheets.test, sheets.result).largest
    return (
        _steady(sheets, "RND 4KiB R Ave", 100, 4, "read_latency_ms"),
        _steady(sheets, "RND 4KiB W Ave", 0, 4, "write_latency_ms"),
        _figure(sheets, "RND 4KiB R Max", largest.get(_cell(100, 4))),
        _figure(sheets, "RND 4KiB W Max", largest.get(_cell(0, 4))),
    )


_LOOPS = {"iops": _iops, "throughput": _throughput, "latency": _latency}


_UNITS = {"iops": "IOPS", "throughput": "MB/s", "latency": "ms"}


def _steady(sheets: LoopSheets, item: str, read_pct: int, kib: int, claim: str | None = None) -> Selected:
    return _figure(sheets, item, sheets.result.matrix.get(_cell(read_pct, kib)), claim)


def _figure(sheets: LoopSheets, item: str, value: float | None, claim: str | None = None) -> Selected:
    settings: LoopSettings = sheets.settings
    text = NOT_AVAILABLE if value is None else shown(settings).text(value)
    unit = _UNITS[settings.variable]
    return Selected(item=item, unit=unit, fresh=NOT_AVAILABLE, steady=text, claim=claim_label(sheets.run, claim))


def _cell(read_pct: int, kib: int) -> Cell:
    return Cell(read_pct=read_pct, transfer_bytes=kib * KIB)
