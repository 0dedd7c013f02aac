"""The figures of a loop test's page: its matrix, the tail of pure reads and writes, and its tracked cells by round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.figures import mixes_figure, tracking_figure
from assay.procedures.families.loop.maps import matrix_map
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.spread import MOVED_SHARE, cell_spreads
from assay.spec.units import KIB, kib_value
from assay.summary.pages.main_figure import MainFigure, main_tail
from assay.words.digits import block, share
from assay.words.printed import depth_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.families.loop.values import LoopResult
    from assay.summary.pages.distribution import Distribution
    from assay.summary.pages.model import Figure

_QUOTED = 4 * KIB
_MARK = f"* varied by more than {share(MOVED_SHARE)}"
_WAYS = {100: "read", 0: "write"}
_TITLES = {"iops": "IOPS by block size and mix", "latency": "Mean response time by block size and mix"}


def loop_main_figures(
    test: StoredTest, result: LoopResult, distribution: Distribution, prefix: str
) -> Iterator[MainFigure]:
    """What says most of it first: of throughput its rounds, of response times their tail, of IOPS the matrix."""
    settings = test.settings_as(LoopSettings)
    matrix, rounds = [*_matrix(settings, result, prefix)], [*_rounds(settings, result, prefix)]
    tail = _tail(settings, distribution, prefix)
    order = {"iops": (*matrix, *tail), "latency": (*tail, *matrix)}
    yield from (*order.get(settings.variable, tail), *rounds)


def _matrix(settings: LoopSettings, result: LoopResult, prefix: str) -> Iterator[MainFigure]:
    """The average of every cell; none of a single block size."""
    title = _TITLES.get(settings.variable)
    figure = matrix_map(f"{prefix}-main-matrix", settings, result) if len(settings.sizes_bytes) > 1 else None
    if figure and title:
        moved = any(cell_spread.moved for cell_spread in cell_spreads(result, settings).values())
        note = "; ".join((depth_label(settings.demand), *([_MARK] if moved else [])))
        yield MainFigure(kind="matrix", title=title, note=note, figure=figure)


def _tail(settings: LoopSettings, distribution: Distribution, prefix: str) -> tuple[MainFigure, ...]:
    """Pure reads and writes of 4 KiB, or of the smallest size where it has no such cell."""
    size = _QUOTED if _QUOTED in settings.sizes_bytes else min(settings.sizes_bytes)
    parts = {part.key: part for part in distribution.parts}
    known = [(way, parts.get((kib_value(size), mix))) for mix, way in _WAYS.items()]
    tails = [(f"{way} {block(size)}", part.times) for way, part in known if part]
    title = f"Response times, {block(size)}"
    return main_tail(f"{prefix}-main-tail", tails, depth_label(settings.demand), title)


def _rounds(settings: LoopSettings, result: LoopResult, prefix: str) -> Iterator[MainFigure]:
    """The tracked cells by round with what is judged; of few cells every cell."""
    figure = _by_round(f"{prefix}-main-rounds", settings, result)
    if figure:
        yield MainFigure(kind="curve", title="Rounds", note=depth_label(settings.demand), figure=figure)


def _by_round(name: str, settings: LoopSettings, result: LoopResult) -> Figure | None:
    drawn = mixes_figure if len(settings.cells) <= len(_WAYS) else tracking_figure
    return drawn(name, result, settings)
