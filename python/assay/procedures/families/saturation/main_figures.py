"""The figures of the page of a write saturation: its curve, fresh and settled response times, and how they develop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.families.saturation.figures import FILLS, MANY_FILLS, iops_figure, response_figure
from assay.summary.pages.main_figure import MainFigure, main_tail
from assay.words.printed import depth_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.families.saturation.result import SaturationResult
    from assay.procedures.families.saturation.settings import SaturationSettings
    from assay.summary.pages.distribution import Distribution, Part
    from assay.summary.pages.model import Figure

_AXIS = "Drive Fills"
_PHASES = {"first": "first sample", "window": "settled", "last": "last sample"}


def saturation_main_figures(
    settings: SaturationSettings, result: SaturationResult, distribution: Distribution, prefix: str
) -> Iterator[MainFigure]:
    """The curve over drive fills first."""
    note = f"{settings.label}, {depth_label(settings.demand)}"
    if curve := iops_figure(f"{prefix}-main-curve", result, FILLS, "linear", settings):
        yield MainFigure(kind="saturation", title="Writes from fresh", note=note, figure=_by_fills(curve, result))
    tails = [(_PHASES[str(one.key[0])], one.times) for one in _drawn(distribution)]
    yield from main_tail(f"{prefix}-main-tail", tails, note, "Response times, fresh and after")
    if times := response_figure(f"{prefix}-main-times", result, FILLS):
        title = "Response times over data written"
        yield MainFigure(kind="curve", title=title, note=note, figure=_by_fills(times, result))


def _by_fills(figure: Figure, result: SaturationResult) -> Figure:
    return replace(figure, x_title=_AXIS, x_scale="log" if result.fills[-1] > MANY_FILLS else "linear")


def _drawn(distribution: Distribution) -> list[Part]:
    """The first sample, and the window or else the last sample."""
    phases = {str(part.key[0]): part for part in distribution.parts}
    last = phases.get("window") or phases.get("last")
    return [one for one in (phases.get("first"), last) if one]
