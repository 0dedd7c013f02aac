"""What a write saturation says of the drive, in sentences for the first page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.printed import one_decimal
from assay.procedures.saturation.facts import is_fresh
from assay.procedures.saturation.result import LEVEL_BAND
from assay.spec.units import duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.saturation.result import SaturationResult
    from assay.procedures.saturation.settings import SaturationSettings

_LIKE_SHARE = 0.05
"""IOPS so near to those of the last sample are taken as the same."""


_COARSE_FILLS = 0.25
"""Samples that write more of the drive each make a curve of too few points."""


def saturation_in_short(label: str, result: SaturationResult, behind: float | None = None) -> Iterator[str]:
    """How far writes fall from the first to the last sample, where they fall below half, and what the end still loses.

    label : the accesses, such as ``RND 4KiB 0/100``. behind : IOPS of the histogram that ran behind the samples.
    Nothing where results are withheld or the first sample has no I/O.
    Worked: 10,000 IOPS for one fill, then 2,500 up to the third -> ``"RND 4KiB 0/100: 10,000.0 IOPS fresh, 2,500.0 in
    the last sample, 25 % of it; below half of the first after 1.01 drive fills."``
    """
    if result.withheld or len(result.iops) < 2 or not result.iops[0]:  # noqa: PLR2004 - a first and a last
        return
    first, last = result.iops[0], result.iops[-1]
    half = next((fills for rate, fills in zip(result.iops, result.fills, strict=True) if rate < first / 2), None)
    below = "" if half is None else f"; below half of the first after {half:.2f} drive fills"
    fresh = (
        "fresh" if is_fresh(result.fills[0]) else f"in the first sample ({result.fills[0]:.2f} drive fills at its end)"
    )
    change = last_fill_change(result)
    slowing = change is not None and change < -LEVEL_BAND
    ends = f" and still slowing ({_percent(change)} over the last drive fill)" if change is not None and slowing else ""
    yield (
        f"{label}: {one_decimal(first)} IOPS {fresh}, {one_decimal(last)} in the last sample, "
        f"{last / first * 100:.0f} % of it{ends}{below}."
    )
    yield from _dip(result)
    if change is not None and not slowing:
        yield f"Over the last drive fill IOPS changed by {_percent(change)}."
    if behind and last and abs(behind / last - 1) > _LIKE_SHARE:
        change = (behind / last - 1) * 100
        yield (
            f"Right behind the last sample, in the time of the histogram, it had {one_decimal(behind)} IOPS "
            f"({change:+.0f} %): no level was reached."
        )


def _dip(result: SaturationResult) -> Iterator[str]:
    """The lowest sample, where the drive came back from it."""
    lowest, last = min(result.iops), result.iops[-1]
    if lowest < last * (1 - _LIKE_SHARE):
        fills = result.fills[result.iops.index(lowest)]
        yield f"The lowest sample has {one_decimal(lowest)} IOPS, at {fills:.2f} drive fills; later ones have more."


def coarse_samples(settings: SaturationSettings, result: SaturationResult) -> Iterator[str]:
    """That a sample is so long for the drive that the curve hides what happens within a drive fill.

    Worked: 8 samples of a minute in 4.00 drive fills -> ``"8 samples of 1 min, 0.50 drive fills each: ..."``.
    """
    count = len(result.fills)
    if result.withheld or not count or result.fills[-1] / count <= _COARSE_FILLS:
        return
    each = f"{count:,} samples of {duration_label(settings.sample_ns)}, {result.fills[-1] / count:.2f} drive fills each"
    yield f"{each}: what the drive does within a sample is in no curve"


def last_fill_change(result: SaturationResult) -> float | None:
    """How much IOPS changed over the last drive fill, a share; None where there was none before it.

    Worked: 5,000 IOPS a fill before the end and 4,000 in the last sample -> -0.2.
    """
    end = result.fills[-1] if result.fills else 0
    before = [rate for rate, fills in zip(result.iops, result.fills, strict=True) if fills <= end - 1]
    return result.iops[-1] / before[-1] - 1 if before and before[-1] else None


def _percent(share: float) -> str:
    return f"{share * 100:+z.1f} %"
