"""The matrix of a test loop as heat maps: IOPS, MB/s and mean response time, with the numbers in the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.families.loop.spread import MOVED_SHARE, cell_spreads
from assay.procedures.families.loop.variable import shown
from assay.results import throughput
from assay.spec.units import kib_label
from assay.summary.pages.heat_figures import matrix_heat
from assay.words.digits import si
from assay.words.printed import NOT_AVAILABLE, mix_label, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from assay.engine.records import StoredSequence
    from assay.procedures.families.loop.settings import LoopSettings
    from assay.procedures.families.loop.values import LoopResult
    from assay.summary.pages.distribution import Part
    from assay.summary.pages.model import Figure

_IOPS = "IOPS"
_DIGITS = 3
MOVED_MARK = f"* IOPS moved by more than {percent(MOVED_SHARE)} in the window"
_LARGE, _THOUSAND = 99.95, 1000


def matrix_maps(
    settings: LoopSettings,
    result: LoopResult,
    sequences: Sequence[StoredSequence],
    parts: dict[Cell, Part],
    prefix: str,
) -> Iterator[tuple[str, Figure]]:
    """A map per quantity of a test of IOPS, each behind a sentence; none without a measurement window."""
    quantities: tuple[tuple[str, str, Mapping[Cell, float | None]], ...] = (
        ("iops", _IOPS, result.matrix),
        ("mb", "Throughput (MB/s)", _mean_throughput(settings, sequences)),
        ("mean", "Mean Response Time (ms)", {cell: maps.latency_ms_mean for cell, maps in parts.items()}),
    )
    moved = _moved(settings, result)
    mark = f"; {MOVED_MARK}" if moved else ""
    for name, title, values in quantities:
        figure = _map(f"{prefix}-map-{name}", title, settings, values, moved)
        if figure:
            yield f"{title} of every cell, averaged over the measurement window{mark}.", figure


def matrix_map(name: str, settings: LoopSettings, result: LoopResult) -> Figure | None:
    """The test's own variable in every cell, with a mark at those that moved; None without a measurement window."""
    return _map(name, shown(settings).axis, settings, result.matrix, _moved(settings, result), text=_few_digits)


def _moved(settings: LoopSettings, result: LoopResult) -> frozenset[Cell]:
    return frozenset(cell for cell, one in cell_spreads(result, settings).items() if one.moved)


def _mean_throughput(settings: LoopSettings, sequences: Sequence[StoredSequence]) -> dict[Cell, float | None]:
    return {
        cell: float(sum(throughput(sequence.steps[index]) for sequence in sequences) / len(sequences))
        for index, cell in enumerate(settings.cells)
        if sequences
    }


def _map(
    name: str,
    title: str,
    settings: LoopSettings,
    values: Mapping[Cell, float | None],
    moved: Container[Cell],
    *,
    text: Callable[[float | None], str] | None = None,
) -> Figure | None:
    printed = text or _text
    sizes, mixes = sorted(settings.sizes_bytes), sorted(settings.read_pcts)
    rows = [[Cell(read_pct=mix, transfer_bytes=size) for size in sizes] for mix in mixes]
    return matrix_heat(
        name,
        [[values.get(cell) for cell in row] for row in rows],
        [[printed(values.get(cell)) + ("*" if cell in moved else "") for cell in row] for row in rows],
        columns=[kib_label(size) for size in sizes],
        rows=[mix_label(mix) for mix in mixes],
        titles=("Block Size (KiB)", "R/W Mix", title),
    )


def _few_digits(value: float | None) -> str:
    """As ``_text``, thousands in three digits. Worked: 24632.0 -> ``"24.6k"``."""
    return si(value) if value and value >= _THOUSAND else _text(value)


def _text(value: float | None) -> str:
    """Three digits or all before the point. Worked: 24632.0 -> ``"24,632"``, 99.97 -> ``"100"``, 14 -> ``"14.0"``."""
    if not value:
        return NOT_AVAILABLE
    return f"{value:,.0f}" if value >= _LARGE else f"{value:#.{_DIGITS}g}"
