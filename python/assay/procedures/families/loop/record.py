"""What IOPS, throughput and latency show: facts, captions, and the parts of their pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.engine.records import Cell
from assay.procedures.families.loop import figures as loop_figures
from assay.procedures.families.loop.figures import loop_main_figures
from assay.procedures.families.loop.measures import loop_insights, loop_measures, loop_rates, loop_tiles
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import (
    MOVED_SHARE,
    UNITS,
    cell_spreads,
    headline_window,
    loop_result,
    moved_places,
    moved_when,
    moved_where,
    no_window_reason,
    rounds_origin,
    shown,
)
from assay.procedures.families.loop.tables import cell_tables, loop_distribution, loop_tables
from assay.results.neighbours import link_mb_per_s
from assay.results.outcome import is_reached
from assay.results.step import cell_label
from assay.spec.units import count_label, duration_label, kib_label
from assay.summary.pages.figures import in_us, is_in_us, time_box, verdict_box
from assay.summary.pages.header import TestFacts, share_label, steady_word
from assay.summary.pages.model import Box, Figure, Table, Text
from assay.summary.pages.test_record import MovedCell, Shown, Source
from assay.summary.verdict import annex_caveats, framed, ruled_by
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
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
    from collections.abc import Callable, Iterator, Mapping

    from assay.engine.records import SteadyVerdict, StoredRun, StoredTest
    from assay.procedures.families.loop.result import LoopResult, Spread
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_record import PagePart


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


def loop_readings(settings: LoopSettings, moved: int) -> dict[str, str]:
    """The sentences by the beginning of a figure's name. moved : how many cells moved that are not tracked.

    Worked: ``plane`` -> that of the plot over block size.
    """
    noun, cell = shown(settings).spoken, duration_label(settings.step_ns)
    better = "lower is faster" if settings.variable == "latency" else "higher is faster"
    single = len(settings.sizes_bytes) == 1
    hidden = f"; {count_label(moved, 'cell')} moved in them, each with an asterisk in the table" if moved else ""
    matrix = f"averages of the last five rounds{hidden}; {better}"
    mark, varied = ("bar", "mix") if single else ("line", "block size and mix")
    return {
        "maxima": (
            f"How does the longest response time vary by round? Each point is the slowest I/O of a cell of {cell}, "
            "a line per block size; it is a single I/O, so it varies in a settled drive, too."
        ),
        "tracking": (
            f"When is the drive steady? A point is a tracked cell of the {len(settings.cells)} in each round; the "
            "last five must stay close to their average, and the line fitted to them must be nearly level."
        ),
        "window": (
            "Are the last five rounds steady? The points are the measured rounds; greatest less least, and the rise of "
            "the fitted line over the window, must stay within the limits in the box."
        ),
        "plane": f"How does {noun} depend on {varied}? A {mark} per read/write mix, {matrix}.",
        "columns": f"How does {noun} depend on {varied}? A column per cell, {matrix}.",
        "average": f"How long does an I/O take on average? A column per cell, {matrix}.",
        "largest": "How long did the slowest I/O take? A column per cell, the largest of the last five rounds.",
        **HISTOGRAM_READINGS,
    }


def convergence_reading(settings: LoopSettings, read_pct: int, *, logarithmic: bool) -> str:
    """The sentence below the rounds of one mix. logarithmic : its axis is, where a step is hardly seen.

    Worked: reads of one size in cells of 1 min -> ``"Do reads settle as the rounds go on? Each point is a cell of 1
    min."``
    """
    asked = "Do reads" if read_pct == 100 else f"Does {shown(settings).spoken}"  # noqa: PLR2004 - per cent
    lines = ", a line per block size" if len(settings.sizes_bytes) > 1 else ""
    hidden = (
        "; on a logarithmic axis a step of 20 % is hardly seen: a cell that moved by more in the shaded window has an "
        "asterisk in the table of all cells"
    )
    each = f"Each point is a cell of {duration_label(settings.step_ns)}{lines}"
    return f"{asked} settle as the rounds go on? {each}{hidden if logarithmic else ''}."


SPREAD = "counted by response time on logarithmic axes; a second hill or a long tail on the right are I/Os that waited."

HISTOGRAM_READINGS = {
    "histogram": (f"How are response times distributed? All I/Os of a separate period after the test, {SPREAD}"),
    "confidence": (
        "Which share of the I/Os completed within which time? The I/Os of the histogram, a separate period after the "
        "test; each nine on the left axis means ten times fewer slower I/Os."
    ),
}
"""Of the response-time histogram, which several tests have."""


Column = tuple[str, "Mapping[Cell, float]"]


_MOVED_NAMED = 8
_SPREAD_NOTE = (
    f"* Greatest less least is more than {percent(MOVED_SHARE)} of the average, and the cell is not tracked: steady "
    "state says nothing of it."
)


@dataclass(frozen=True, kw_only=True)
class LoopPages(Source):
    """What the pages of a test loop are made of.

    moved : cells that are not tracked and moved in the window. caveats : of its verdict where that is steady.
    """

    result: LoopResult
    moved: tuple[MovedCell, ...]
    caveats: tuple[str, ...]

    @property
    def settings(self) -> LoopSettings:
        """What the test used."""
        return self.test.settings_as(LoopSettings)

    def convergence(
        self,
        subtitle: str,
        *,
        name: str = "convergence",
        read_pct: int = 0,
        values: Mapping[Cell, tuple[float, ...]] | None = None,
    ) -> PagePart:
        """One mix by round, a line per block size; the test's own variable unless ``values`` says else."""
        drawn = self.result.by_round if values is None else values
        name = f"{self.prefix}-{name}"
        figure = loop_figures.convergence_figure(name, self.result, self.settings, drawn, read_pct)
        if figure and values is None:
            logarithmic = figure.y_drawn_scale == "log"
            figure = replace(figure, reading=convergence_reading(self.settings, read_pct, logarithmic=logarithmic))
        return subtitle, (self.or_reason(figure),)

    def tracking(self) -> PagePart:
        """The tracking variables in all rounds."""
        figure = loop_figures.tracking_figure(f"{self.prefix}-tracking", self.result, self.settings)
        return "Steady State Measurement Window", (self.or_reason(figure),)

    def windows(self) -> tuple[PagePart, ...]:
        """One sheet per tracking variable, with the Steady State Determination Data."""
        return tuple(self._window(cell, number) for number, cell in enumerate(self.settings.tracking, 1))

    def matrix(self, caption: str, *columns: Column, decimals: int | None = None) -> Table:
        """A table of sizes (rows) and mixes ascending in read share, with one column or more for each mix.

        columns : name and values of each; without any, the average over the window.
        decimals : of the values, as the test's own variable where None.
        """
        settings, mixes = self.settings, sorted(self.settings.read_pcts)
        sizes = sorted({*settings.sizes_bytes, *settings.not_applicable})
        chosen = columns or (("", self.result.matrix),)
        spreads = self._spread_notes() if any(values is self.result.matrix for _, values in chosen) else ()
        marked = tuple(
            (line, 1 + place * len(chosen) + offset)
            for offset, (_, values) in enumerate(chosen)
            if values is self.result.matrix
            for line, place in moved_places(cell_spreads(self.result, settings), sizes, mixes)
        )
        return Table(
            caption=caption,
            marked=marked,
            spanner=f"{caption}: Read / Write Mix %" if columns else "Read / Write Mix %",
            columns=("Block Size (KiB)", *(f"{mix_label(mix)} {name}".strip() for mix in mixes for name, _ in chosen)),
            rows=tuple(
                (kib_label(size), *(self._cell(values, mix, size, decimals) for mix in mixes for _, values in chosen))
                for size in sizes
            ),
            notes=(
                rounds_origin(self.result, "Over" if columns else "Average of"),
                *self._not_applicable(),
                *self._idle_cells(),
                *spreads,
            ),
        )

    def _spread_notes(self) -> tuple[str, ...]:
        """Name the cells whose average hides a movement, and say how far the others lie apart."""
        result = cell_spreads(self.result, self.settings)
        moved = sorted(self.moved, key=lambda moved_cell: -moved_cell.apart)
        largest = max((one.variation for one in result.values() if not one.moved), default=None)
        notes = []
        if moved:
            notes.append(f"* Not tracked, and moved by more than {percent(MOVED_SHARE)} of the average in the window:")
            notes += [f"{one.label}: {one.text}." for one in moved[:_MOVED_NAMED]]
            notes += (
                [f"And {len(moved) - _MOVED_NAMED} more that moved less; see Disclosure, Findings."]
                if len(moved) > _MOVED_NAMED
                else []
            )
        if largest is not None:
            which = "Other cells" if moved else "All cells"
            notes.append(f"{which}: coefficient of variation over the rounds of the window at most {_share(largest)}.")
        return tuple(notes)

    def _not_applicable(self) -> tuple[str, ...]:
        reasons = sorted(self.settings.not_applicable.items())
        return tuple(f"{NOT_APPLICABLE}: {size_label(size)} - {paragraph(reason)}" for size, reason in reasons)

    def _idle_cells(self) -> tuple[str, ...]:
        """Say of cells without a completion that they have no value."""
        idle = len(self.settings.cells) - len(self.result.matrix)
        if not self.result.matrix or not idle:
            return ()
        cells = "1 cell" if idle == 1 else f"{idle} cells"
        return (f"{cells} n/a: no I/O completed inside; the cell is too short for this drive and demand.",)

    def or_reason(self, figure: Figure | None) -> Figure | Text:
        """The figure, or why there is none."""
        reason = "n/a: no cell completed an I/O" if self.result.matrix else no_window_reason(self.result)
        return figure or Text(paragraphs=(reason,))

    def _window(self, cell: Cell, number: int) -> PagePart:
        several = len(self.settings.tracking) > 1
        prefix = loop_figures.PREFIX[self.settings.access]
        subject = f"{prefix}/{size_label(cell.transfer_bytes)}" + (f" {mix_label(cell.read_pct)}" if several else "")
        figure = loop_figures.window_figure(f"{self.prefix}-window-{number}", self.result, self.settings, cell)
        verdict = self._verdict(cell)
        if figure and verdict and self.settings.variable == "latency" and is_in_us(verdict):
            figure = in_us(figure)
        box = self.determination_box(cell)
        return f"Steady State Measurement Window - {subject}", (self.or_reason(figure), box)

    def _verdict(self, cell: Cell) -> SteadyVerdict | None:
        """The verdict on a tracked cell; None where no number may be printed."""
        window = headline_window(self.result)
        return window.verdicts[cell_label(cell, self.settings.access)] if window else None

    def determination_box(self, cell: Cell) -> Box:
        """Lay out the Steady State Determination Data; n/a where no number may be printed."""
        window = headline_window(self.result)
        variable, label, verdict = shown(self.settings), cell_label(cell, self.settings.access), self._verdict(cell)
        rounds = f"Rounds {rounds_label(window.rounds)}" if window else no_window_reason(self.result)
        if self.settings.variable == "latency":
            box = time_box(label, verdict, rounds)
        else:
            box = verdict_box(variable.noun, label, verdict, variable.text, rounds)
        *figures, (name, told) = box.entries
        steady = verdict is not None and verdict.steady
        caveats = self.caveats if steady else ()
        levels = tuple((title, "warn" if caveats else level) for title, level in box.levels)
        return replace(box, entries=(*figures, (name, "; ".join((told, *caveats)))), levels=levels)

    def _cell(self, values: Mapping[Cell, float], read_pct: int, transfer_bytes: int, decimals: int | None) -> str:
        if transfer_bytes in self.settings.not_applicable:
            return NOT_APPLICABLE
        value = values.get(Cell(read_pct=read_pct, transfer_bytes=transfer_bytes))
        if value is None:
            return NOT_AVAILABLE
        return shown(self.settings).text(value) if decimals is None else f"{value:z,.{decimals}f}"


def _moved_text(spread: Spread, settings: LoopSettings) -> str:
    """How far its rounds lie apart, and the round that alone is off.

    Worked: 279, 162, 159, 158, 158 IOPS -> ``"158.0 to 279.0 IOPS, 66.0 % of the average apart; round 1 alone is off,
    the others average 159.2 IOPS"``.
    """
    text, unit = shown(settings).text, UNITS[settings.variable]
    apart = f"{text(spread.least)} to {text(spread.greatest)} {unit}, {_share(spread.apart)} of the average apart"
    if spread.odd is None or spread.others is None:
        return apart
    stays = "; whether it stays so is not known" if spread.last else ""
    return f"{apart}; {spread.off()}, the others average {text(spread.others)} {unit}{stays}"


def _spread_text(spread: Spread | None, settings: LoopSettings) -> str:
    """Worked: 158 to 279 IOPS, not tracked -> ``"158.0 to 279.0 (29.2 %) *"``."""
    if spread is None:
        return NOT_AVAILABLE
    text = shown(settings).text
    marked = " *" if spread.moved else ""
    return f"{text(spread.least)} to {text(spread.greatest)} ({_share(spread.variation)}){marked}"


def _share(share: float) -> str:
    return f"{share * 100:.1f} %"


def loop_shown(
    source: Source,
    layout: Callable[[LoopPages], tuple[str, tuple[PagePart, ...]]],
    also_selected: frozenset[Any] = frozenset(),
) -> Shown:
    """What a test loop shows. layout : title and parts of the standard pages of one of them.

    also_selected : identities of numbers of the summary beside the key results.
    """
    run, test, prefix = source.run, source.test, source.prefix
    result, settings = loop_result(test), test.settings_as(LoopSettings)
    moved, spread = tuple(_moved_cells(result, settings)), loop_distribution(test, result, prefix)
    ruled = ruled_by(result.window, unstable_count=len(moved))
    caveats = annex_caveats(framed(test, ruled, None))
    title, parts = layout(LoopPages(**source.origin, result=result, moved=moved, caveats=caveats))
    return Shown(
        **source.origin,
        findings=result.findings,
        facts=loop_facts(run, test, result),
        outline=loop_outline(settings),
        preparation=loop_preparation(settings),
        title=title,
        parts=parts,
        readings=loop_readings(settings, len(moved)),
        drawn=loop_main_figures(test, result, spread, prefix),
        sheet=_sheet(source.name, settings),
        numbers=loop_measures(test, result),
        tiled=lambda _: loop_tiles(test),
        seen=loop_insights(test, result, link_mb_per_s(run)),
        ruled=ruled,
        moved=moved,
        moved_where=_moved_where(result, settings),
        rated=lambda measures: loop_rates(settings, measures),
        also_selected=also_selected,
        settings=loop_settings(settings),
        details=(*_spread_table(settings, result), *cell_tables(test)),
        tables=lambda: loop_tables(run, test, result, source.suffix),
        distribution=spread,
    )


def _sheet(name: str, settings: LoopSettings) -> str:
    """One for the block sizes of a test that runs once for each. Worked: TP 128 and TP 1024 -> ``"tp"``."""
    if settings.variable != "throughput":
        return name
    return f"{settings.procedure}{name.removeprefix(settings.test)}"


def _moved_cells(result: LoopResult, settings: LoopSettings) -> Iterator[MovedCell]:
    for cell, spread in cell_spreads(result, settings).items():
        if spread.moved:
            label, text = cell_label(cell, settings.access), _moved_text(spread, settings)
            yield MovedCell(label=label, text=text, apart=spread.apart, limit=MOVED_SHARE)


def _moved_where(result: LoopResult, settings: LoopSettings) -> str:
    """The mix that more than half of the cells that moved have, and the round that alone is off in them."""
    spreads = cell_spreads(result, settings)
    return "; ".join(filter(None, (moved_where(spreads), moved_when(spreads, preconditioned_by(settings)))))


def _spread_table(settings: LoopSettings, result: LoopResult) -> tuple[Table, ...]:
    """Least and greatest round of the window and the coefficient of variation, of each cell that has an average."""
    mixes, spreads = sorted(settings.read_pcts), cell_spreads(result, settings)
    rows = tuple(
        (
            kib_label(size),
            *(_spread_text(spreads.get(Cell(read_pct=mix, transfer_bytes=size)), settings) for mix in mixes),
        )
        for size in sorted(settings.sizes_bytes)
    )
    table = Table(
        caption=f"{settings.test_label}: {shown(settings).noun}, least to greatest round of the window "
        "(coefficient of variation)",
        columns=("Block Size (KiB)", *(mix_label(mix) for mix in mixes)),
        rows=rows,
        notes=(_SPREAD_NOTE,) if any(one.moved for one in spreads.values()) else (),
        folded=True,
    )
    return (table,) if spreads else ()
