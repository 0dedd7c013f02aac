"""What ECW and DIRTH show: facts, and the parts of their pages."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from assay.procedures.families.grid import figures
from assay.procedures.families.grid.figures import demand_main_figures, grid_readings
from assay.procedures.families.grid.measures import demand_insights, demand_measures, demand_tables
from assay.procedures.families.grid.plan import DemandSettings
from assay.procedures.families.grid.result import CLOSE_SHARE, cells_below, demand_result, grid_label
from assay.procedures.families.saturation.record import saturation_window_of
from assay.procedures.families.saturation.result import verdict_minutes
from assay.results.captured import POINT_SHARES
from assay.results.histogram import percentiles
from assay.results.outcome import is_reached
from assay.results.step import iops, latency_count, max_latency_ns, mean_latency_ms, rate_count, response_time
from assay.spec.steady import exact_limit
from assay.spec.units import MILLISECOND_NS, MINUTE_NS, duration_label
from assay.summary.measures import MEAN
from assay.summary.pages.figures import minutes_window, verdict_box, verdict_figure
from assay.summary.pages.header import TestFacts, pattern_stimulus, share_label, steady_word
from assay.summary.pages.histograms import histogram_figure
from assay.summary.pages.model import Box, Table, Text, figure_or_reason
from assay.summary.pages.test_record import Shown, Source
from assay.summary.record import Key, Tile
from assay.summary.verdict import ruled_by
from assay.words.coded import Coded, coded
from assay.words.printed import (
    NOT_AVAILABLE,
    demand_label,
    milliseconds_or_na,
    milliseconds_text,
    mix_label,
    one_decimal,
    percent,
    rounds_label,
    size_label,
)
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.engine.records import Demand, MeasurementWindow, StepRecord, StoredRun, StoredTest
    from assay.procedures.families.grid.result import DemandCell, DemandResult, PointRun
    from assay.results.captured import ExactTimes
    from assay.summary.pages.model import Block, Entry, Figure
    from assay.summary.pages.test_record import PagePart


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
        workload=grid_label(settings, settings.tracking),
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
        f"total OIO, until {grid_label(settings, settings.tracking)} is steady over five rounds; then Max, Mid and Min "
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
        ("Tracking variable", f"IOPS, {grid_label(settings, settings.tracking)}"),
        ("Limit of the Max point", limit_label(settings)),
        ("Pre-writes of a point", duration_label(settings.point_pre_write_samples * settings.sample_ns)),
        ("Operating point", f"{duration_label(settings.capture_ns)}, every completion kept"),
    )


def _pre_write_ns(settings: DemandSettings) -> int:
    return settings.pre_write_samples * settings.sample_ns


@dataclass(frozen=True, kw_only=True)
class DemandPages(Source):
    """What the pages of a test over a grid of demands are made of."""

    result: DemandResult

    @property
    def settings(self) -> DemandSettings:
        """What the test used."""
        return self.test.settings_as(DemandSettings)


def demand_shown(source: Source) -> Shown:
    """What a stored test over a grid of demands shows. Raises VerificationError as ``demand_result``."""
    test, result = source.test, demand_result(source.test)
    settings, before = test.settings_as(DemandSettings), result.precondition_window
    windows = () if before is None else (saturation_window_of(settings.preconditioning, before),)
    pages = DemandPages(**source.origin, result=result)
    processor = (("System CPU utilization", "n/a: not known, as where a simulated drive runs in virtual time"),)
    return Shown(
        **source.origin,
        findings=result.findings,
        facts=demand_facts(source.run, test, result),
        outline=demand_outline(settings),
        title=_title(pages),
        parts=_parts(pages),
        readings=grid_readings(settings),
        drawn=demand_main_figures(settings, result, source.prefix),
        numbers=demand_measures(settings, result),
        tiled=lambda _: _tiles(settings, result),
        seen=demand_insights(test, result),
        remarks=_remarks(settings, result),
        ruled=ruled_by(result.window, others=windows),
        settings=(*demand_own_settings(settings), *(processor if _without_processor(pages) else ())),
        details=_grid_tables(settings, result),
        tables=lambda: demand_tables(test, result, source.suffix),
    )


def _tiles(settings: DemandSettings, result: DemandResult) -> Iterator[Tile]:
    """The Max point, and how long its I/Os take."""
    cell: Key = (("point", "Max"),)
    best = next((run.point for run in result.points if run.point.name == "Max"), None)
    limit = settings.art_limit_ms if best and best.below_limit else None
    title = coded("tile-point", point="Max", label=settings.label, limit=limit)
    yield Tile(slot="demand-max", title=title, value=(cell, "iops"), then=(cell, MEAN))


def _remarks(settings: DemandSettings, result: DemandResult) -> tuple[Coded, ...]:
    """Where Max stands not alone, Mid is about Max, and points change places when they are measured at length."""
    lines = (*(f"Mid lies {line}" for line in mid_near_max(settings, result.points)), *out_of_order(result.points))
    return (*max_by_chance(settings, result), *(coded("reason", reason=line) for line in lines))


def _title(pages: DemandPages) -> str:
    settings, edition = pages.settings, pages.edition
    workload = "" if settings.label.startswith(settings.name) else f" - {settings.label}"
    if edition.header == "2.0":
        return f"{settings.name} Test{workload} - Report Page"
    return f"{edition.market} {settings.name} ({pages.status}){workload} - Report Page"


def _parts(pages: DemandPages) -> Iterator[PagePart]:
    settings, result = pages.settings, pages.result
    if len(settings.pattern.sizes) > 1:
        yield pattern_part(settings)
    minutes = settings.sample_ns / MINUTE_NS
    first = figures.samples_figure(
        f"{pages.prefix}-precondition",
        result.precondition_iops,
        minutes,
        "IOPS of the preconditioning over time",
        _judged_minutes(pages),
    )
    tracked = _tracked(settings)
    yield "Pre Conditioning IOPS Plot", (*pages.plan_box(), figure_or_reason(first, "no sample ran to its end"))
    yield (
        f"PC Steady State Check {_cell(settings.preconditioning.demand)}",
        _window(pages, "pc", _prepared(pages)),
    )
    yield "Between Round Pre Writes", (_round_figure(pages, "pre-writes", figures.pre_writes_figure),)
    threads = settings.tracking.thread_count
    yield (
        f"DV IOPS, TC={threads} (tracking), all QD",
        (_round_figure(pages, "by-round", figures.variation_by_round),),
    )
    yield f"Demand Variation Steady State Check {tracked}", _window(pages, "dv", result.window)
    variation = figures.variation_figure(f"{pages.prefix}-variation", settings, result.cells)
    yield "Demand Variation", (_or_window(pages, variation),)
    intensity = figures.intensity_figures(f"{pages.prefix}-intensity", result)
    yield "Demand Intensity", (_points_box(pages), *(intensity or (_or_window(pages, None),)))
    maps = figures.demand_maps(f"{pages.prefix}-map", result.cells)
    if maps:
        yield "IOPS and Average Response Time by Threads and Queue Depth", maps
    if not _without_processor(pages):
        yield "System CPU Utilization During Demand Variation Test", _processor(pages)
    if result.points:
        writes = figures.point_writes_figure(f"{pages.prefix}-point-writes", settings, result)
        names = ", ".join(run.point.name for run in result.points)
        yield f"Pre Writes of the {names} IOPS Points", (figure_or_reason(writes, "no sample ran to its end"),)
    for run in result.points:
        yield from _point_parts(pages, run)
    if pages.edition.header == "2.0":
        for noun, times in (("IOPS", False), ("ART", True)):
            total = figures.total_figure(f"{pages.prefix}-total-{noun.lower()}", result.cells, times=times)
            yield f"{noun} v Total OIO", (_or_window(pages, total),)


def _round_figure(
    pages: DemandPages, name: str, draw: Callable[[str, DemandSettings, DemandResult], Figure | None]
) -> Block:
    figure = draw(f"{pages.prefix}-{name}", pages.settings, pages.result)
    return figure_or_reason(figure, "no round ran to its end")


def _window(pages: DemandPages, name: str, window: MeasurementWindow | None) -> tuple[Block, ...]:
    """A verdict as plot and box; n/a where there is none or no number may be printed."""
    reason = _missing(pages, "five values make a window")
    if window is None or pages.result.withheld:
        label = grid_label(pages.settings, pages.settings.tracking)
        return Text(paragraphs=(reason,)), verdict_box("IOPS", label, None, one_decimal, reason)
    ((label, verdict),) = window.verdicts.items()
    before = pages.settings.preconditioning
    minutes = verdict_minutes(verdict, before) if label == before.label else ()
    figure = verdict_figure(f"{pages.prefix}-window-{name}", label, verdict, "IOPS", minutes)
    rounds = minutes_window(verdict, minutes) if minutes else f"Rounds {rounds_label(window.rounds)}"
    return figure, verdict_box("IOPS", label, verdict, one_decimal, rounds)


def _prepared(pages: DemandPages) -> MeasurementWindow | None:
    return pages.result.precondition_window


def _judged_minutes(pages: DemandPages) -> tuple[float, float] | None:
    """From the first to the last sample that the verdict on the preconditioning took; None without a verdict."""
    window = _prepared(pages)
    if window is None or pages.result.withheld:
        return None
    (verdict,) = window.verdicts.values()
    minutes = verdict_minutes(verdict, pages.settings.preconditioning)
    return minutes[0], minutes[-1]


def _points_box(pages: DemandPages) -> Box:
    return Box(title="Operating points", entries=point_entries(pages.settings, pages.result), wide=True)


def _without_processor(pages: DemandPages) -> bool:
    """Whether nobody can know the processor's time: a page would say nothing else; the settings do."""
    cells = pages.result.cells
    return bool(cells) and all(cell.cpu_share is None for cell in cells)


def _processor(pages: DemandPages) -> tuple[Block, ...]:
    count = pages.run.platform.extra.get("logical_cpu_count")
    known = count if isinstance(count, int) and count > 0 else 1
    figure = figures.processor_figure(f"{pages.prefix}-cpu", pages.settings, pages.result.cells, known)
    if not pages.result.cells:
        return (Text(paragraphs=(_missing(pages, "a measurement window needs five complete rounds"),)),)
    of_what = f"{known} logical CPUs" if known > 1 else "a single CPU"
    note = f"CPU time of the stimulus threads in percent of {of_what}, average of the measurement window."
    return (Text(paragraphs=(note,)), figure_or_reason(figure, "nobody watched"))


def _point_parts(pages: DemandPages, run: PointRun) -> Iterator[PagePart]:
    name = run.point.name
    prefix = f"{pages.prefix}-{name.lower()}"
    if run.step is None or run.times is None or not run.times.io_count:
        yield f"{name} IOPS Response Time Histogram", (Text(paragraphs=("n/a: no I/O completed",)),)
        return
    latency_ms_max = (max_latency_ns(run.step) or 0) / MILLISECOND_NS
    where = f"{_cell(run.point.demand)}, {duration_label(run.step.span_ns)}"
    figure = histogram_figure(f"{prefix}-histogram", run.times, float(response_time(run.step)), _percentiles(run))
    yield (
        f"{name} IOPS Response Time Histogram, MRT={milliseconds_text(latency_ms_max)} ms - {where}",
        (_times_box(run, run.step), figure_or_reason(figure, "no I/O completed")),
    )


def _times_box(run: PointRun, step: StepRecord) -> Box:
    """Percentiles from every completion where they were kept and agree with the counts, else from the counts."""
    result = _percentiles(run)
    nines = tuple((f"{percent(share)} (ms)", _ms(result.get(share))) for share in POINT_SHARES)
    origin = "every completion" if _exact(run) else "counts, within 0.1 %"
    entries = (
        ("IOPS", one_decimal(float(iops(step)))),
        ("ART (ms)", _ms(mean_latency_ms(step))),
        *nines,
        ("MRT (ms)", _ms((max_latency_ns(step) or 0) / MILLISECOND_NS)),
        ("I/Os in the IOPS", f"{rate_count(step):,}"),
        ("I/Os in the times", f"{latency_count(step):,}"),
        ("I/Os captured", _captured(run)),
        ("Percentiles from", origin),
    )
    return Box(title=f"{run.point.name}IOPS point", entries=entries, wide=True)


def _exact(run: PointRun) -> ExactTimes | None:
    return run.exact if run.exact and run.exact.agrees else None


def _percentiles(run: PointRun) -> dict[float, float | None]:
    exact = _exact(run)
    return exact.percentiles_ms if exact else percentiles(run.times, POINT_SHARES) if run.times else {}


def _captured(run: PointRun) -> str:
    if run.exact is None:
        return "not kept"
    return f"{run.exact.io_count:,}" + ("" if run.exact.agrees else " - NOT those counted")


def _grid_tables(settings: DemandSettings, result: DemandResult) -> tuple[Table, ...]:
    contents: tuple[tuple[str, Callable[[DemandCell], str]], ...] = (
        ("IOPS", lambda cell: one_decimal(float(cell.iops))),
        (
            "average response time (ms)",
            lambda cell: _ms(float(cell.latency_ms_mean)) if cell.completed else NOT_AVAILABLE,
        ),
    )
    return tuple(
        _grid_table(result, f"{settings.name}: {title}, average of the window", printed)
        for title, printed in contents
        if result.cells
    )


def _grid_table(result: DemandResult, caption: str, printed: Callable[[DemandCell], str]) -> Table:
    cells = {(cell.demand.thread_count, cell.demand.queue_depth): cell for cell in result.cells}
    threads, depths = ({key[place] for key in cells} for place in (0, 1))
    return Table(
        caption=caption,
        columns=("Threads", *(f"QD {depth}" for depth in sorted(depths))),
        rows=tuple(
            (f"TC {count}", *(printed(cells[count, depth]) for depth in sorted(depths))) for count in sorted(threads)
        ),
        folded=True,
    )


def _tracked(settings: DemandSettings) -> str:
    return _cell(settings.tracking)


def _cell(demand: Demand) -> str:
    return f"TC{demand.thread_count}-QD{demand.queue_depth}"


def _or_window(pages: DemandPages, figure: Figure | None) -> Block:
    return figure or Text(paragraphs=(_missing(pages, "a measurement window needs five complete rounds"),))


def _missing(pages: DemandPages, reason: str) -> str:
    return text(coded("withheld", reason=pages.result.withheld or reason))


def _ms(value: float | None) -> str:
    return milliseconds_or_na(value)
