"""What a write saturation says of the drive, in sentences for the first page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.effect import Effect
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
    below = _below_half(result)
    worn = _worn(result)
    fresh = f"in the first sample{worn}" if worn else "fresh"
    change = last_fill_change(result)
    slowing = change is not None and change < -LEVEL_BAND
    ends = f" and still slowing ({_percent(change)} over the last drive fill)" if change is not None and slowing else ""
    rose = "; IOPS rose as data was written: what a full drive gives is not seen here"
    yield (
        f"{label}: {one_decimal(first)} IOPS {fresh}, {one_decimal(last)} in the last sample, "
        f"{last / first * 100:.0f} % of it{ends}{below}{rose if last > first * (1 + LEVEL_BAND) else ''}."
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


def saturation_effects(label: str, result: SaturationResult) -> Iterator[Effect]:
    """How far sustained writes fall; none where results are withheld.

    Worked: 24,632 IOPS in the first sample, 3,953 in the last, no level -> 6.2 times, ``"RND 4KiB 0/100 falls to 16 %
    of its first sample, not settled"``.
    """
    if result.withheld or len(result.iops) < 2 or not result.iops[0]:  # noqa: PLR2004 - a first and a last
        return
    last = result.steady_iops or result.iops[-1]
    settled = "where it settles" if result.steady_iops else "not settled"
    if last:
        first = f"its first sample{_worn(result)}"
        text = f"{label} falls to {last / result.iops[0] * 100:.0f} % of {first}, {settled}"
        yield Effect(kind="fall", times=result.iops[0] / last, text=text)


def _worn(result: SaturationResult) -> str:
    """Written by the end of a first sample that is not all fresh. Worked: `` (1.34 drive fills at its end)``."""
    return "" if is_fresh(result.fills[0]) else f" ({result.fills[0]:.2f} drive fills at its end)"


def _below_half(result: SaturationResult) -> str:
    """From how many drive fills on IOPS were below half of the first sample, and for good where they came back.

    Worked: below it from 0.69 fills on, above it from 0.92 to 1.45 -> ``"; below half of the first after 0.69 drive
    fills, for good after 1.46"``.
    """
    below = [rate < result.iops[0] / 2 for rate in result.iops]
    if not any(below):
        return ""
    said = f"; below half of the first after {result.fills[below.index(True)]:.2f} drive fills"
    last_above = len(below) - 1 - below[::-1].index(False)
    if last_above < below.index(True):
        return said
    again = result.fills[last_above + 1 : last_above + 2]
    return f"{said}, for good after {again[0]:.2f}" if again else f"{said}, not for good"


def _dip(result: SaturationResult) -> Iterator[str]:
    """The lowest sample, where the drive came back from it."""
    lowest, last = min(result.iops), result.iops[-1]
    if lowest < min(result.iops[0], last) * (1 - _LIKE_SHARE):
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

    What it had a drive fill before its end is on the line between the two samples around that.

    Worked: 5,000 IOPS a fill before the end and 4,000 in the last sample -> -0.2.
    """
    end = result.fills[-1] if result.fills else 0
    before = [place for place, fills in enumerate(result.fills) if fills <= end - 1]
    if not before or before[-1] + 1 == len(result.fills):
        return None
    place = before[-1]
    (least, most), (old, new) = result.fills[place : place + 2], result.iops[place : place + 2]
    then = old + (new - old) * (end - 1 - least) / (most - least) if most > least else old
    return result.iops[-1] / then - 1 if then else None


def _percent(share: float) -> str:
    return f"{share * 100:+z.1f} %"
