"""Select Performance Data: the few figures of each test that summaries print, beside what the data sheet claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.records import Cell, LoopSettings
from assay.report.printed import NOT_AVAILABLE, one_decimal
from assay.report.variable import shown
from assay.units import KIB
from assay.window import latency_maxima

if TYPE_CHECKING:
    from assay.records import StoredRun
    from assay.report.loop import LoopSheets
    from assay.report.wsat import SaturationSheets

_NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """One selected figure as printed. fresh, steady : n/a where there is none. claim : of the data sheet."""

    item: str
    unit: str
    fresh: str
    steady: str
    claim: str


def claim_label(run: StoredRun, name: str | None) -> str:
    """What the data sheet claims of a figure, as the plan states it."""
    claims: dict[str, Any] = run.plan.get("claims") or {}
    value = claims.get(name) if name else None
    return _NOT_STATED if value is None else f"{value:,.12g}"


def saturation_selection(sheets: SaturationSheets) -> tuple[Selected, ...]:
    """Fresh and steady IOPS of a write saturation test."""
    result, label = sheets.result, sheets.settings.label
    fresh = NOT_AVAILABLE if result.peak is None else one_decimal(result.peak.iops)
    steady = NOT_AVAILABLE if result.steady_iops is None else one_decimal(result.steady_iops)
    claim = "rnd_4k_write_iops" if label == "RND 4KiB 0/100" else None
    return (Selected(item=label, unit="IOPS", fresh=fresh, steady=steady, claim=claim_label(sheets.run, claim)),)


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
