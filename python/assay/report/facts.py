"""What the header and the summaries say of one test, in the words that are printed; each kind of test says its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.report.label import headline_window
from assay.report.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    amount_label,
    capacity_label,
    demand_label,
    minutes_label,
    mix_label,
    paragraph,
    percent,
    rounds_label,
    size_label,
)
from assay.units import duration_label, kib_label
from assay.window import cell_label, is_reached

if TYPE_CHECKING:
    from assay.records import AccessPattern, LoopSettings, SaturationSettings, StoredRun, StoredTest
    from assay.report.page import Entry
    from assay.window import LoopResult, SaturationResult

WORKLOAD_DEPENDENT = {
    "iops": "Full IOPS Loop",
    "tp-128": "SEQ 128KiB",
    "tp-1024": "SEQ 1024KiB",
    "lat": "Full Latency Loop",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """One test in the words of headers and summaries.

    independent, independent_demand, independent_amount : workload-independent preconditioning.
    preconditioned : share of the drive that it covers. dependent : workload-dependent preconditioning.
    test_area, test_range : share of the drive that is tested, and the test ActiveRange; summary_range : the latter on
    summary pages, where it is another. step : length of a test step.
    stimulus : the three entries of form 2.0: test stimulus, mix, block sizes.
    demands : where a test has several, of the first stimulus and of the second; second_stimulus : behind the first.
    workload : what is tracked. convergence, rounds : of the measurement window.
    extent : rounds, or time and gigabytes. steady : whether steady state was reached.
    """

    independent: str = "None"
    independent_demand: str = NOT_APPLICABLE
    independent_amount: str = NOT_APPLICABLE
    preconditioned: str = NOT_APPLICABLE
    summary_range: str | None = None
    dependent: str
    test_area: str
    test_range: str
    step: str
    stimulus: tuple[Entry, Entry, Entry]
    demands: tuple[str, str] | None = None
    second_stimulus: str = ""
    workload: str
    convergence: str = NOT_APPLICABLE
    rounds: str = NOT_APPLICABLE
    extent: str
    steady: str


def loop_facts(run: StoredRun, test: StoredTest, result: LoopResult) -> TestFacts:
    """The facts of a test loop. Worked: a window of rounds 1 to 5 that held prints convergence YES, rounds 1-5."""
    settings, window = test.loop, headline_window(result)
    reached = "YES" if is_reached(window) else "NO"
    return TestFacts(
        independent=_independent(run, test, settings),
        independent_demand=demand_label(settings.preconditioning_demand),
        independent_amount=capacity_label(settings.preconditioning_bytes),
        preconditioned=percent(settings.preconditioning_share),
        dependent=WORKLOAD_DEPENDENT.get(settings.test, "test loop"),
        test_area=percent(1.0) if settings.segment_count else share_label(run, settings.range_amount_bytes),
        test_range=amount_label(settings.range_amount_bytes, settings.segment_count),
        step=duration_label(settings.step_ns),
        stimulus=_loop_stimulus(settings),
        workload="; ".join(cell_label(cell, settings.access) for cell in settings.tracking),
        convergence=reached,
        rounds=rounds_label(window.rounds if window else ()),
        extent=rounds_label(window.rounds if window else ()),
        steady=NOT_AVAILABLE if result.withheld else "YES" if is_reached(result.window) else "NO",
    )


def saturation_facts(run: StoredRun, test: StoredTest, result: SaturationResult) -> TestFacts:
    """The facts of a write saturation test, which requires no steady state.

    Source: WSAT pages and summaries of "Understanding SSD Performance Using the SNIA SSS PTS" (2012): PC AR 100 %
    though nothing is preconditioned; AR AMOUNT 100 % on its pages, AR AMT N/A in the summaries.
    """
    settings = test.saturation
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


def share_label(run: StoredRun, amount_bytes: int) -> str:
    """A contiguous test range as a share of the drive. Worked: 64 GB of 256 GB -> ``"25 %"``."""
    return f"{amount_bytes / run.identity.capacity_bytes * 100:.4g} %"


def pattern_stimulus(what: str, pattern: AccessPattern) -> tuple[Entry, Entry, Entry]:
    """The stimulus of form 2.0 for a test of a single access pattern."""
    sizes = sorted(size for size, _ in pattern.sizes)
    span = size_label(sizes[0]) if len(sizes) == 1 else f"{kib_label(sizes[0])} to {size_label(sizes[-1])}"
    return (("Test Stimulus 1", what), ("RW Mix", mix_label(round(pattern.read_share * 100))), ("Block Sizes", span))


def loop_settings(settings: LoopSettings) -> tuple[Entry, ...]:
    """What only a test loop is set to do."""
    written = capacity_label(settings.preconditioning_bytes)
    return (
        ("Read/write mixes, in order", ", ".join(mix_label(mix) for mix in settings.read_pcts)),
        ("Block sizes, in order", ", ".join(size_label(size) for size in settings.sizes_bytes)),
        ("Step duration", duration_label(settings.step_ns)),
        ("Round limit", str(settings.round_limit)),
        ("Tracking variables", ", ".join(cell_label(cell, settings.access) for cell in settings.tracking)),
        ("Preconditioning", f"{written}, SEQ {size_label(settings.preconditioning_transfer_bytes)} W"),
        ("Preconditioning OIO - TC/QD", demand_label(settings.preconditioning_demand)),
        ("Preconditioning ActiveRange", percent(settings.preconditioning_share)),
        *((f"{size_label(size)} not run", paragraph(why)) for size, why in sorted(settings.not_applicable.items())),
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


def _independent(run: StoredRun, test: StoredTest, settings: LoopSettings) -> str:
    """Workload-independent preconditioning in units of the user capacity, as the specification does."""
    if not test.preconditioning:
        return "none recorded"
    multiple = settings.preconditioning_bytes / run.identity.capacity_bytes
    return f"{multiple:.3g}X SEQ/{size_label(settings.preconditioning_transfer_bytes)}"


def _loop_stimulus(settings: LoopSettings) -> tuple[Entry, Entry, Entry]:
    mixes = f"Outer Loop, {mix_label(settings.read_pcts[0])} to {mix_label(settings.read_pcts[-1])}"
    sizes = f"Inner Loop, {kib_label(settings.sizes_bytes[0])} to {size_label(settings.sizes_bytes[-1])}"
    return (
        ("Test Stimulus 1", f"{settings.test.upper()} Loop, {duration_label(settings.step_ns)} per cell"),
        ("RW Mix", mixes),
        ("Block Sizes", sizes),
    )
