"""The stream map of a trace as tables and points: what it is like, before and after it was put on a drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.units import GB, MB, MILLISECOND_NS, SECOND_NS, duration_label
from assay.summary.pages.model import Table
from assay.words.printed import NOT_AVAILABLE, size_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.workloads.traces import StreamMap

_KINDS = ("read", "write", "trim", "flush")
_SHOWN = 16


def map_table(trace: StreamMap, issued: StreamMap | None, notes: tuple[str, ...]) -> Table:
    """Both maps side by side. issued : on this drive; None where nothing was issued."""
    rows = tuple(
        (name, text(trace), NOT_AVAILABLE if issued is None else text(issued))
        for name, text in _ROWS
        if name.split()[0].lower() not in _KINDS or _has(trace, name.split()[0].lower())
    )
    return Table(caption="Stream map", columns=("", "Trace", "As issued on this drive"), rows=rows, notes=notes)


def size_table(trace: StreamMap, issued: StreamMap | None) -> Table:
    """The most frequent sizes of the trace, and their shares as issued, which whole blocks may have changed."""
    after = {} if issued is None else {(size.operation, size.length_bytes): size.share for size in issued.sizes}
    rows = tuple(
        (
            f"{size.operation} {'of other sizes' if size.length_bytes is None else _length(size.length_bytes)}",
            f"{size.io_count:,}",
            f"{size.share:.2%}",
            NOT_AVAILABLE if issued is None else f"{after.get((size.operation, size.length_bytes), 0.0):.2%}",
        )
        for size in trace.sizes[:_SHOWN]
    )
    more = len(trace.sizes) - _SHOWN
    notes = (f"{more} further sizes are in the table of numbers.",) if more > 0 else ()
    return Table(
        caption="Operations and sizes",
        columns=("", "I/Os of the trace", "Share", "Share as issued"),
        rows=rows,
        notes=notes,
    )


def intensity(stream_map: StreamMap) -> tuple[tuple[float, float], ...]:
    """Middle in s and I/Os per second of each interval, of which the last may be cut short and is left out.

    Worked: 5 and 7 I/Os in two intervals of 0.5 s -> one point, at 0.25 s and 10 a second.
    """
    seconds = stream_map.interval_ns / SECOND_NS
    return tuple(((index + 0.5) * seconds, count / seconds) for index, count in enumerate(stream_map.intensity[:-1]))


def _has(stream_map: StreamMap, operation: str) -> bool:
    return bool(stream_map.io_count[operation])


def _length(length_bytes: int) -> str:
    return size_label(length_bytes) if length_bytes else "no bytes"


def _amount(amount_bytes: int) -> str:
    """Worked: 52,000,000 bytes -> ``52.0 MB``, 3.2e12 -> ``3,200.0 GB``."""
    return f"{amount_bytes / GB:,.1f} GB" if amount_bytes >= 10 * GB else f"{amount_bytes / MB:,.1f} MB"


def _count(operation: str) -> Callable[[StreamMap], str]:
    def text(stream_map: StreamMap) -> str:
        share = stream_map.io_count[operation] / max(stream_map.total_count, 1)
        return f"{stream_map.io_count[operation]:,} ({share:.1%}), {_amount(stream_map.io_bytes[operation])}"

    return text


def _order(operation: str) -> Callable[[StreamMap], str]:
    def text(stream_map: StreamMap) -> str:
        return f"{stream_map.sequential_count[operation] / max(stream_map.io_count[operation], 1):.1%}"

    return text


def _rate(stream_map: StreamMap) -> str:
    rate = stream_map.ios_per_s
    return NOT_AVAILABLE if rate is None else f"{rate:,.1f}"


def _peak(stream_map: StreamMap) -> str:
    if not stream_map.span_ns:
        return NOT_AVAILABLE
    most = max(stream_map.intensity) * SECOND_NS / stream_map.interval_ns
    return f"{most:,.1f} (in {duration_label(stream_map.interval_ns)})"


def _gap(share: float) -> Callable[[StreamMap], str]:
    def text(stream_map: StreamMap) -> str:
        return (
            NOT_AVAILABLE if share not in stream_map.gap_ns else f"{stream_map.gap_ns[share] / MILLISECOND_NS:,.4g} ms"
        )

    return text


_ROWS: tuple[tuple[str, Callable[[StreamMap], str]], ...] = (
    ("I/Os", lambda found: f"{found.total_count:,}"),
    *((f"{name.capitalize()} I/Os", _count(name)) for name in _KINDS),
    *((f"{name.capitalize()} in order", _order(name)) for name in _KINDS[:3]),
    ("Length", lambda found: duration_label(found.span_ns)),
    ("I/Os per second, mean", _rate),
    ("I/Os per second, peak", _peak),
    ("Time between I/Os, 50 %", _gap(0.5)),
    ("Time between I/Os, 99 %", _gap(0.99)),
    ("Bytes touched", lambda found: _amount(found.footprint_bytes)),
    ("Last byte", lambda found: _amount(found.end_bytes)),
)
