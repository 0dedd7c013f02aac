"""The words of a write saturation in headers, summaries and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.facts import TestFacts, pattern_stimulus, share_label
from assay.pages.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    capacity_label,
    minutes_label,
    one_decimal,
    percent,
    size_label,
)
from assay.pages.select import Selected, claim_label
from assay.procedures.saturation.settings import SaturationSettings
from assay.spec.units import duration_label

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredTest
    from assay.pages.model import Entry
    from assay.procedures.saturation.result import SaturationResult


def saturation_facts(run: StoredRun, test: StoredTest, result: SaturationResult) -> TestFacts:
    """The facts of a write saturation test, which requires no steady state.

    Source: WSAT pages and summaries of "Understanding SSD Performance Using the SNIA SSS PTS" (2012): PC AR 100 %
    though nothing is preconditioned; AR AMOUNT 100 % on its pages, AR AMT N/A in the summaries.
    """
    settings = test.settings_as(SaturationSettings)
    step = duration_label(settings.sample_ns)
    extent = (
        f"{minutes_label(result.minutes[-1])} / {result.written_gb[-1]:,.1f} GB" if result.minutes else NOT_APPLICABLE
    )
    steady = "reached" if result.steady_iops is not None else "not reached"
    return TestFacts(
        preconditioned=share_label(run, settings.range_amount_bytes),
        summary_range=NOT_APPLICABLE,
        dependent=settings.label,
        test_area=share_label(run, settings.range_amount_bytes),
        test_range=share_label(run, settings.range_amount_bytes),
        step=step,
        stimulus=pattern_stimulus(
            f"{settings.label}, {duration_label(settings.sample_ns)} per sample", settings.pattern
        ),
        workload=settings.label,
        extent=extent,
        steady=NOT_AVAILABLE if result.withheld else steady,
    )


def saturation_settings(settings: SaturationSettings) -> tuple[Entry, ...]:
    """What only a write saturation test is set to do."""
    return (
        ("Workload", settings.label),
        ("Block sizes", ", ".join(f"{size_label(size)} {percent(share)}" for size, share in settings.pattern.sizes)),
        ("Alignment", size_label(settings.pattern.alignment_bytes) if settings.pattern.alignment_bytes else "own size"),
        ("Sample", duration_label(settings.sample_ns)),
        ("Five-point rule over every", f"{settings.samples_per_verdict}th sample"),
        ("Ends by", "first of time, amount, five-point rule" if settings.stop == "first" else settings.stop),
        ("Time limit", duration_label(settings.time_ns)),
        ("Amount limit", capacity_label(settings.amount_bytes)),
        ("Preconditioning", "none"),
    )


def saturation_selection(run: StoredRun, label: str, result: SaturationResult) -> tuple[Selected, ...]:
    """Fresh and steady IOPS of a write saturation test."""
    fresh = NOT_AVAILABLE if result.peak is None else one_decimal(result.peak.iops)
    steady = NOT_AVAILABLE if result.steady_iops is None else one_decimal(result.steady_iops)
    claim = "rnd_4k_write_iops" if label == "RND 4KiB 0/100" else None
    return (Selected(item=label, unit="IOPS", fresh=fresh, steady=steady, claim=claim_label(run, claim)),)
