"""The words of a write saturation in headers, summaries and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.saturation.result import LEVEL_BAND, LEVEL_SAMPLES, verdict_minutes, verdict_sample
from assay.procedures.families.saturation.settings import SaturationSettings
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import MINUTE_NS, duration_label
from assay.summary.pages.facts import TestFacts, pattern_stimulus, share_label
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    capacity_label,
    minutes_label,
    ordinal,
    percent,
    rate_or_na,
    rounds_label,
    size_label,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import MeasurementWindow, StoredRun, StoredTest
    from assay.procedures.families.saturation.result import Mark, SaturationResult
    from assay.summary.pages.model import Entry


_COARSE_FILLS = 0.25
"""Samples that write more of the drive each make a curve of too few points."""


def saturation_facts(run: StoredRun, test: StoredTest, result: SaturationResult) -> TestFacts:
    """The facts of a write saturation test, which requires no steady state.

    Source: WSAT pages and summaries of "Understanding SSD Performance Using the SNIA SSS PTS" (2012): PC AR 100 %
    though nothing is preconditioned, and AR AMOUNT 100 %, which the published summaries leave out as N/A.
    """
    settings = test.settings_as(SaturationSettings)
    step = duration_label(settings.sample_ns)
    minutes = result.samples.minutes
    extent = f"{minutes_label(minutes[-1])} / {result.written_gb[-1]:,.1f} GB" if minutes else NOT_APPLICABLE
    return TestFacts(
        preconditioned=share_label(run, settings.range_amount_bytes),
        dependent=settings.label,
        test_area=share_label(run, settings.range_amount_bytes),
        test_range=share_label(run, settings.range_amount_bytes),
        step=step,
        stimulus=pattern_stimulus(
            f"{settings.label}, {duration_label(settings.sample_ns)} per sample", settings.pattern
        ),
        workload=settings.label,
        extent=extent,
        convergence=steady_label(settings, result).partition(":")[0],
        rounds=rounds_label(result.window.rounds) if result.window else NOT_APPLICABLE,
        time=window_minutes(settings, result.window) if result.window else "",
        steady=steady_label(settings, result),
    )


def steady_label(settings: SaturationSettings, result: SaturationResult) -> str:
    """Whether steady state was reached, or why it could not be judged; n/a where nothing may be printed.

    Worked: 65 minutes of samples where the rule takes the 31st to the 155th ->
    ``"not judged: ended after 65 min, the rule needs 155 min"``.
    """
    if result.withheld:
        return NOT_AVAILABLE
    if result.window is not None:
        return "YES" if result.steady_iops is not None else "not reached"
    needed = minutes_label(verdict_sample(WINDOW_ROUNDS, settings) * settings.sample_ns / MINUTE_NS)
    if not result.samples.minutes:
        return f"not judged: no sample ran to its end, the rule needs {needed}"
    if len(result.samples.minutes) >= verdict_sample(WINDOW_ROUNDS, settings):
        return "not judged: fewer than five samples of the rule after a void sample"
    return f"not judged: ended after {minutes_label(result.samples.minutes[-1])}, the rule needs {needed}"


def saturation_outline(settings: SaturationSettings) -> str:
    """Worked: samples of a minute, first of all rules -> ``"RND 4KiB 0/100 in samples of 1 min ..."``."""
    limits = {
        "time": f"for {duration_label(settings.time_ns)}",
        "amount": f"to {capacity_label(settings.amount_bytes)} written",
        "steady": f"until the five-point rule holds over every {ordinal(settings.samples_per_verdict)} sample",
    }
    both = ", or ".join(limits.values()) + ", whichever comes first"
    return (
        f"{settings.label} in samples of {duration_label(settings.sample_ns)} without a gap, "
        f"{limits.get(settings.stop, both)}."
    )


def saturation_settings(settings: SaturationSettings) -> tuple[Entry, ...]:
    """What only a write saturation test is set to do."""
    return (
        ("Workload", settings.label),
        ("Block sizes", ", ".join(f"{size_label(size)} {percent(share)}" for size, share in settings.pattern.sizes)),
        ("Alignment", size_label(settings.pattern.alignment_bytes) if settings.pattern.alignment_bytes else "I/O size"),
        ("Sample", duration_label(settings.sample_ns)),
        ("Five-point rule over every", f"{ordinal(settings.samples_per_verdict)} sample"),
        ("Ends by", "first of time, amount, five-point rule" if settings.stop == "first" else settings.stop),
        ("Time limit", duration_label(settings.time_ns)),
        ("Amount limit", capacity_label(settings.amount_bytes)),
        ("Preconditioning", "none"),
    )


def fresh_label(settings: SaturationSettings, first: Mark) -> str:
    """What the first sample is: its length, how much of the drive was written when it ended, and if it was fresh.

    Worked: a minute in which a fifth of the drive was written -> ``"the first 1 min, 0.20 drive fills written at its
    end"``; one of 1.34 fills is ``"not all fresh out of box"``.
    """
    text = f"the first {duration_label(settings.sample_ns)}, {first.fills:.2f} drive fills written at its end"
    return text if is_fresh(first.fills) else f"{text}: not all fresh out of box"


def is_fresh(fills: float) -> bool:
    """Whether no more was written in the first sample than the drive holds, so that all of it is of a fresh drive.

    fills : drive fills written at its end. Worked: 0.2 -> True, 1.34 -> False.
    """
    return fills <= 1


def level_text(settings: SaturationSettings, result: SaturationResult) -> str:
    """What the mark where the level is reached says, beside the verdict; that there is none where there is none.

    Worked: samples of a minute, every 30th from the 30th -> ``"level reached: the median of five samples stays within
    10 % of 3,252.8 IOPS for the next 30 samples; that is the average of the five that the rule judges (30 min to 150
    min)"``.
    """
    window = result.window
    if result.steady is None or window is None or result.steady_iops is None:
        return "no level was reached"
    rest = len(result.samples.iops) - result.steady.sample + 1
    lasting = f"for the next {LEVEL_SAMPLES} samples" if rest >= LEVEL_SAMPLES else f"in the last {rest} samples"
    return (
        f"level reached: the median of five samples stays within {percent(LEVEL_BAND)} of "
        f"{rate_or_na(result.steady_iops)} IOPS {lasting}; that is the average of the five "
        f"that the rule judges ({window_minutes(settings, window)})"
    )


def window_minutes(settings: SaturationSettings, window: MeasurementWindow) -> str:
    """When the first and the last judged sample were taken. Worked: minutes 1 and 121 -> ``"1 min to 121 min"``."""
    minutes = verdict_minutes(window.verdicts[settings.label], settings)
    return f"{minutes_label(minutes[0])} to {minutes_label(minutes[-1])}"


def coarse_samples(settings: SaturationSettings, result: SaturationResult) -> Iterator[str]:
    """That a sample is so long for the drive that the curve hides what happens within a drive fill.

    Worked: 8 samples of a minute in 4.00 drive fills -> ``"8 samples of 1 min, 0.50 drive fills each: ..."``.
    """
    count = len(result.fills)
    if result.withheld or not count or result.fills[-1] / count <= _COARSE_FILLS:
        return
    each = f"{count:,} samples of {duration_label(settings.sample_ns)}, {result.fills[-1] / count:.2f} drive fills each"
    yield f"{each}: what the drive does within a sample is in no curve"
