"""What headers and summaries say of a test over a grid of demands, in the words that are printed."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from assay.procedures.families.grid.operating_points import cells_below
from assay.procedures.families.grid.result import demand_label as cell_label
from assay.procedures.families.grid.settings import DemandSettings
from assay.results import iops, is_reached
from assay.results.step import mean_latency_ms
from assay.spec.steady import exact_limit
from assay.spec.units import duration_label
from assay.summary.pages.facts import TestFacts, pattern_stimulus, share_label, steady_word
from assay.summary.pages.model import Table
from assay.words.coded import Coded, coded
from assay.words.printed import (
    NOT_AVAILABLE,
    demand_label,
    milliseconds_or_na,
    mix_label,
    one_decimal,
    percent,
    rounds_label,
    size_label,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.families.grid.result import DemandResult, PointRun
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_report import PagePart

CLOSE_SHARE = 0.05
_SAME_SHARE = 0.01


def demand_facts(run: StoredRun, test: StoredTest, result: DemandResult) -> TestFacts:
    """The facts of a test over a grid of demands."""
    settings, withheld = test.settings_as(DemandSettings), result.withheld
    window = None if withheld else result.window
    threads, depths = ({one.thread_count for one in settings.grid}, {one.queue_depth for one in settings.grid})
    grid = f"TC {min(threads)}-{max(threads)} x QD {min(depths)}-{max(depths)}, High to Low"
    return TestFacts(
        dependent=f"{settings.preconditioning.label}; Inter-Round Pre W {duration_label(_pre_write_ns(settings))}",
        preconditioned=share_label(run, settings.range_amount_bytes),
        test_area=share_label(run, settings.range_amount_bytes),
        test_range=share_label(run, settings.range_amount_bytes),
        step=duration_label(settings.cell_ns),
        stimulus=pattern_stimulus(f"{settings.label}, {duration_label(settings.cell_ns)} per cell", settings.pattern),
        demands=(grid, "Max / Mid / Min IOPS Point"),
        second_stimulus=f"{settings.label}, {duration_label(settings.capture_ns)}",
        workload=cell_label(settings, settings.tracking),
        convergence="YES" if is_reached(window) else "NO",
        rounds=rounds_label(window.rounds if window else ()),
        extent=rounds_label(window.rounds if window else ()),
        steady=steady_word(window, withheld),
    )


def demand_outline(settings: DemandSettings) -> str:
    """What the test does, with the lengths that it was set to."""
    points = duration_label(settings.point_pre_write_samples * settings.sample_ns)
    return (
        f"At most {settings.round_limit} rounds of {duration_label(_pre_write_ns(settings))} of pre-writes and "
        f"{len(settings.grid)} cells of {duration_label(settings.cell_ns)} over threads and queue depths, high to low "
        f"total OIO, until {cell_label(settings, settings.tracking)} is steady over five rounds; then Max, Mid and Min "
        f"IOPS points: {points} of pre-writes and {duration_label(settings.capture_ns)} with every completion kept."
    )


def limit_label(settings: DemandSettings) -> str:
    """What the average response time of the Max point has to be below. Worked: 5 ms -> ``ART < 5 ms``."""
    return f"ART < {settings.art_limit_ms:g} ms"


def point_entries(settings: DemandSettings, result: DemandResult) -> tuple[Entry, ...]:
    """The operating points as chosen from the grid."""
    rules = {
        "Max": f"most IOPS with {limit_label(settings)}",
        "Mid": "likewise, nearest to the middle of Max and Min",
        "Min": "fewest IOPS",
    }
    if not result.points:
        return (("Operating points", NOT_AVAILABLE),)
    entries = ((f"{run.point.name}IOPS ({rules[run.point.name]})", _point_text(run)) for run in result.points)
    length = duration_label(settings.capture_ns)
    note = ("Numbers here", f"of the point measured for {length}; the rule chooses among the cells of the grid")
    close = (("Mid", line) for line in mid_near_max(settings, result.points))
    return (*entries, note, *close, *(("Order", line) for line in out_of_order(result.points)))


def mid_near_max(settings: DemandSettings, points: Sequence[PointRun]) -> tuple[str, ...]:
    """That Mid gives about as many IOPS as Max, within 5 % of its cell in the grid, and why it was chosen.

    Worked: Max of 2,642, Min of 2,466 and Mid of 2,616 IOPS -> one sentence, since no cell is nearer to 2,554.
    """
    rates = {run.point.name: run.point.iops for run in points}
    if not {"Max", "Mid", "Min"} <= set(rates) or abs(rates["Max"] - rates["Mid"]) > CLOSE_SHARE * rates["Max"]:
        return ()
    middle = (rates["Max"] + rates["Min"]) / 2
    below = f" with {limit_label(settings)}" if any(run.point.below_limit for run in points) else ""
    pair = f"{one_decimal(rates['Mid'])} of {one_decimal(rates['Max'])} IOPS"
    near = f"in the grid within {percent(CLOSE_SHARE)} of Max ({pair})"
    return (f"{near}: no cell{below} is nearer to the middle, {one_decimal(middle)}",)


def max_by_chance(settings: DemandSettings, result: DemandResult) -> tuple[Coded, ...]:
    """That Max is one of several cells of about the same IOPS, all below the limit; none where it stands alone.

    Worked: 2,642 IOPS, and 19 cells from 2,616 on -> ``"Max is one of 20 cells with ART < 5 ms within 1 % of the
    highest: which of them is the highest may be chance"``.
    """
    best = next((run.point for run in result.points if run.point.name == "Max"), None)
    if best is None or not best.below_limit:
        return ()
    allowed = cells_below(result.cells, exact_limit(settings.art_limit_ms))
    near = sum(float(cell.iops) >= (1 - _SAME_SHARE) * best.iops for cell in allowed)
    tied = coded("max-tied", near=near, limit=limit_label(settings), share=percent(_SAME_SHARE))
    return (tied,) if near > 1 else ()


def out_of_order(points: Sequence[PointRun]) -> tuple[str, ...]:
    """Where points measured at length do not stand in the order in which the grid has them, in words.

    Worked: Max of 2,610 IOPS and Mid of 2,619 -> one sentence that says so; none where Max is above Mid and Mid above
    Min.
    """
    rates = [(run.point.name, float(iops(run.step))) for run in points if run.step]
    return tuple(
        f"measured at length, {name} ({one_decimal(rate)} IOPS) lies below {other} ({one_decimal(higher)} IOPS): "
        "points are chosen by cells of the grid that are shorter, and cells so close may change places"
        for index, (name, rate) in enumerate(rates)
        for other, higher in rates[index + 1 :]
        if rate < higher
    )


def _point_text(run: PointRun) -> str:
    demand = demand_label(run.point.demand)
    if run.step is None:
        return f"{NOT_AVAILABLE}: the point did not run, {demand}"
    art = milliseconds_or_na(mean_latency_ms(run.step))
    return f"{one_decimal(float(iops(run.step)))} IOPS, ART {art} ms, {demand}"


def pattern_part(settings: DemandSettings) -> PagePart:
    """The first page of the composite workload: block sizes with their shares, LBA groups with theirs."""
    reads = round(settings.pattern.read_share * 100)
    sizes = Table(
        caption="Access Pattern Block Sizes",
        columns=("Block Size (bytes)", "Access Probability within each measurement period"),
        rows=tuple((f"{size:,}", percent(round(share, 6))) for size, share in settings.pattern.sizes),
        notes=(f"Every access begins on a {size_label(settings.pattern.alignment_bytes)} border.",),
    )
    ends = list(accumulate(width for _, width in settings.pattern.lba_groups))
    begins = [0.0, *ends]
    groups = Table(
        caption="Access Probabilities by LBA group",
        columns=("LBA group", "% of Accesses", "ActiveRange (% of the drive)"),
        rows=tuple(
            (chr(ord("A") + index), percent(round(share, 6)), f"{begins[index] * 100:g} to {ends[index] * 100:g} %")
            for index, (share, _) in enumerate(settings.pattern.lba_groups)
        ),
        notes=("Block size, LBA group and direction are drawn independently of each other.",),
    )
    return f"Access Pattern Block Sizes & Access Probabilities - {reads}:{100 - reads} RW", (sizes, groups)


def demand_own_settings(settings: DemandSettings) -> tuple[Entry, ...]:
    """What only a test over a grid of demands is set to do."""
    before, checked = settings.preconditioning, settings.preconditioning
    first = checked.first_verdict_sample or checked.samples_per_verdict
    samples = ", ".join(str(first + number * checked.samples_per_verdict) for number in range(3))
    grid = ", ".join(f"{one.thread_count} x {one.queue_depth}" for one in settings.grid)
    return (
        ("Access pattern", settings.label),
        ("Block sizes", ", ".join(f"{size_label(size)} {percent(share)}" for size, share in settings.pattern.sizes)),
        ("Alignment", size_label(settings.pattern.alignment_bytes) if settings.pattern.alignment_bytes else "I/O size"),
        ("Mix", mix_label(round(settings.pattern.read_share * 100))),
        ("Preconditioning", f"{before.label}, {demand_label(before.demand)}, until steady"),
        ("Sample", duration_label(settings.sample_ns)),
        ("Five-point rule over samples", f"{samples} and so on, to {duration_label(checked.time_ns)} at most"),
        ("Pre-writes of a round", f"{before.label}, {duration_label(_pre_write_ns(settings))}"),
        ("TC x QD, in order", grid),
        ("Cell", duration_label(settings.cell_ns)),
        ("Round limit", str(settings.round_limit)),
        ("Tracking variable", f"IOPS, {cell_label(settings, settings.tracking)}"),
        ("Limit of the Max point", limit_label(settings)),
        ("Pre-writes of a point", duration_label(settings.point_pre_write_samples * settings.sample_ns)),
        ("Operating point", f"{duration_label(settings.capture_ns)}, every completion kept"),
    )


def _pre_write_ns(settings: DemandSettings) -> int:
    return settings.pre_write_samples * settings.sample_ns
