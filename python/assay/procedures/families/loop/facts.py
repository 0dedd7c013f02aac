"""The words of a test loop in headers, summaries and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.values import headline_window
from assay.results import cell_label, is_reached
from assay.spec.units import duration_label, kib_label
from assay.summary.pages.facts import TestFacts, share_label, steady_word
from assay.words.printed import (
    amount_label,
    capacity_label,
    demand_label,
    mix_label,
    paragraph,
    percent,
    rounds_label,
    size_label,
)

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.families.loop.values import LoopResult
    from assay.summary.pages.model import Entry


WORKLOAD_DEPENDENT = {
    "iops": "Full IOPS Loop",
    "tp-128": "SEQ 128KiB",
    "tp-1024": "SEQ 1024KiB",
    "lat": "Full Latency Loop",
}


def loop_facts(run: StoredRun, test: StoredTest, result: LoopResult) -> TestFacts:
    """The facts of a test loop. Worked: a window of rounds 1 to 5 that held prints convergence YES, rounds 1-5."""
    settings, window = test.settings_as(LoopSettings), headline_window(result)
    reached = "YES" if is_reached(window) else "NO"
    return TestFacts(
        independent=_independent(run, test, settings),
        independent_demand=demand_label(settings.preconditioning_demand),
        independent_amount=_amount(run, settings),
        preconditioned=percent(settings.preconditioning_share),
        dependent=WORKLOAD_DEPENDENT.get(settings.test, "test loop"),
        test_area=percent(1.0) if settings.segment_count else share_label(run, settings.range_amount_bytes),
        test_range=_range(run, settings),
        step=duration_label(settings.step_ns),
        stimulus=_loop_stimulus(settings),
        workload="; ".join(cell_label(cell, settings.access) for cell in settings.tracking),
        convergence=reached,
        rounds=rounds_label(window.rounds if window else ()),
        extent=rounds_label(window.rounds if window else ()),
        steady=steady_word(result.window, result.withheld),
    )


def loop_outline(settings: LoopSettings) -> str:
    """Worked: 56 cells of a minute -> ``"At most 25 rounds of 56 cells of 1 min: read share outside, ..."``."""
    runs_on = "; the position runs on from cell to cell" if settings.access == "sequential" else ""
    return (
        f"At most {settings.round_limit} rounds of {len(settings.cells)} cells of {duration_label(settings.step_ns)}: "
        f"read share outside, block size inside{runs_on}; until {'; '.join(_tracked(settings))} "
        f"{'is' if len(settings.tracking) == 1 else 'are'} steady over five rounds."
    )


def loop_preparation(settings: LoopSettings) -> str:
    """How the drive is prepared where it is not as the specification says; empty where it is."""
    if not settings.preconditioning_bytes:
        return "None: nothing is written before the test loop."
    return (
        "" if settings.purges else "Sequential writes over the test range without a purge before, then the test loop."
    )


def _tracked(settings: LoopSettings) -> list[str]:
    return [cell_label(cell, settings.access) for cell in settings.tracking]


def preconditioned_by(settings: LoopSettings) -> str:
    """What the workload-independent preconditioning writes; empty without one. Worked: ``SEQ 128KiB W``."""
    size = size_label(settings.preconditioning_transfer_bytes)
    return f"SEQ {size} W" if settings.preconditioning_bytes else ""


def loop_settings(settings: LoopSettings) -> tuple[Entry, ...]:
    """What only a test loop is set to do."""
    by = preconditioned_by(settings)
    fill = f"{capacity_label(settings.preconditioning_bytes)}, {by}" if by else "none"
    return (
        ("Read/write mixes, in order", ", ".join(mix_label(mix) for mix in settings.read_pcts)),
        ("Block sizes, in order", ", ".join(size_label(size) for size in settings.sizes_bytes)),
        ("Step duration", duration_label(settings.step_ns)),
        ("Round limit", str(settings.round_limit)),
        ("Tracking variables", ", ".join(cell_label(cell, settings.access) for cell in settings.tracking)),
        ("Preconditioning", fill),
        ("Preconditioning OIO - TC/QD", demand_label(settings.preconditioning_demand)),
        ("Preconditioning ActiveRange", percent(settings.preconditioning_share)),
        *((f"{size_label(size)} not run", paragraph(why)) for size, why in sorted(settings.not_applicable.items())),
    )


def _amount(run: StoredRun, settings: LoopSettings) -> str:
    """How much is written, in user capacities as the specification says it, and in gigabytes."""
    if not settings.preconditioning_bytes:
        return "none"
    multiple = settings.preconditioning_bytes / run.identity.capacity_bytes
    return f"{multiple:.3g}X capacity, {capacity_label(settings.preconditioning_bytes)}"


def _range(run: StoredRun, settings: LoopSettings) -> str:
    """An amount in segments as such, a contiguous one as the share of the drive."""
    amount_bytes, segments = settings.range_amount_bytes, settings.segment_count
    return amount_label(amount_bytes, segments) if segments else share_label(run, amount_bytes)


def _independent(run: StoredRun, test: StoredTest, settings: LoopSettings) -> str:
    """Workload-independent preconditioning in units of the user capacity, as the specification does."""
    if not test.preconditioning:
        return "none recorded" if settings.preconditioning_bytes else "none"
    multiple = settings.preconditioning_bytes / run.identity.capacity_bytes
    return f"{multiple:.3g}X SEQ/{size_label(settings.preconditioning_transfer_bytes)}"


def _loop_stimulus(settings: LoopSettings) -> tuple[Entry, Entry, Entry]:
    mixes = f"Outer Loop, {mix_label(settings.read_pcts[0])} to {mix_label(settings.read_pcts[-1])}"
    sizes = f"Inner Loop, {kib_label(settings.sizes_bytes[0])} to {size_label(settings.sizes_bytes[-1])}"
    return (
        ("Test Stimulus 1", f"{settings.test_label} Loop, {duration_label(settings.step_ns)} per cell"),
        ("RW Mix", mixes),
        ("Block Sizes", sizes),
    )
