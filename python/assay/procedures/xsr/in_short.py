"""What cross stimulus recovery says of the drive, in sentences: how low it begins, when it is back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.effect import Effect
from assay.pages.printed import NOT_AVAILABLE, milliseconds_text, minutes_label, one_decimal, percent
from assay.procedures.xsr.result import slowest
from assay.spec.units import GB, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.xsr.result import CrossStimulusResult
    from assay.procedures.xsr.settings import CrossStimulusSettings


def cross_stimulus_in_short(
    settings: CrossStimulusSettings, result: CrossStimulusResult, capacity_bytes: int
) -> Iterator[str]:
    """How low the last group begins, when it has recovered, and the slowest I/O; none without a last group.

    capacity_bytes : of the drive. Worked: 16.67 of 100 MB/s in the lowest sample -> ``"The lowest sample of the last
    group is 16.67 % of the first group's mean. ..."``.
    """
    if result.lowest_share is None:
        return
    lowest = percent(round(result.lowest_share, 4))
    fills = (result.recovery_gb or 0) * GB / capacity_bytes
    amount = f", {one_decimal(result.recovery_gb)} GB or {fills:.2f} drive fills" if result.recovery_gb else ""
    recovered = f"{recovery_name(settings)}: {recovery_label(result)}{amount}."
    yield f"The lowest sample of the last group is {lowest} of the first group's mean. {recovered}"
    if found := slowest(result):
        where = f"in group {found.group} ({result.groups[found.group - 1].label})"
        took = f"The slowest I/O of all groups took {milliseconds_text(found.latency_ms)} ms"
        yield f"{took}, {where}, minute {found.minute:,.0f} of the test."


def cross_stimulus_effects(settings: CrossStimulusSettings, result: CrossStimulusResult) -> Iterator[Effect]:
    """How low the last group begins, and how far the slowest I/O is above the average of its sample.

    Worked: 16.67 of 100 MB/s in the lowest sample -> 6.0 times; 2,465 ms where the sample has 320 ms on average -> 7.7.
    """
    if share := result.lowest_share:
        last, lowest = settings.groups[-1].label, percent(round(share, 4))
        again = f"{percent(settings.recovered_share)} again: {recovery_label(result)}"
        lasting = f"in the lowest {duration_label(settings.sample_ns)} after the change of accesses"
        yield Effect(kind="recovery", times=1 / share, text=f"{last} has {lowest} of its first mean {lasting}; {again}")
    if found := slowest(result):
        times = found.latency_ms / found.mean_ms
        took = f"{milliseconds_text(found.latency_ms)} ms, {times:.1f} times the average of its sample"
        where = f"minute {found.minute:,.0f} of {settings.test_label}, {result.groups[found.group - 1].label}"
        yield Effect(kind="slowest", times=times, text=f"the slowest I/O took {took} ({where})")


def recovery_name(settings: CrossStimulusSettings) -> str:
    """Name the recovery time with the share. Worked: ``"Recovery time to 95 % of the first group's mean"``."""
    return f"Recovery time to {percent(settings.recovered_share)} of the first group's mean"


def recovery_label(result: CrossStimulusResult) -> str:
    """Print the recovery time. Worked: recovered at the end of the third minute -> ``"3 min"``."""
    if result.recovery_minutes is not None:
        return minutes_label(result.recovery_minutes)
    return NOT_AVAILABLE if result.lowest_share is None else "not recovered"
