"""What the pages of IOPS, throughput and latency have in common: convergence, windows, matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.families.loop import figures as loop_figures
from assay.procedures.families.loop.cell_tables import cell_tables
from assay.procedures.families.loop.distribution import loop_distribution
from assay.procedures.families.loop.facts import (
    loop_facts,
    loop_outline,
    loop_preparation,
    loop_settings,
    preconditioned_by,
)
from assay.procedures.families.loop.insights import loop_insights
from assay.procedures.families.loop.main_figures import loop_main_figures
from assay.procedures.families.loop.measures import cell_key, loop_measures, loop_rates, loop_tiles
from assay.procedures.families.loop.readings import convergence_reading, loop_readings
from assay.procedures.families.loop.result import UNITS, loop_result
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.families.loop.spread import MOVED_SHARE, cell_spreads, moved_places, moved_when, moved_where
from assay.procedures.families.loop.tables import loop_tables
from assay.procedures.families.loop.values import headline_window, no_window_reason
from assay.procedures.families.loop.variable import shown
from assay.results import cell_label
from assay.results.link import link_mb_per_s
from assay.spec.units import KIB, kib_label
from assay.summary.pages.model import Box, Figure, Table, Text
from assay.summary.pages.test_report import MovedCell, TestReport
from assay.summary.pages.verdict import in_us, is_in_us, time_box, verdict_box
from assay.summary.verdict import Ruled, ruled_by
from assay.words.printed import NOT_APPLICABLE, NOT_AVAILABLE, mix_label, paragraph, percent, rounds_label, size_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay.engine.records import SteadyVerdict
    from assay.engine.records.run import StoredRun, StoredTest
    from assay.procedures.families.loop.spread import Spread
    from assay.procedures.families.loop.values import LoopResult
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.distribution import Distribution
    from assay.summary.pages.facts import TestFacts
    from assay.summary.pages.main_figure import MainFigure
    from assay.summary.pages.model import Entry, Page
    from assay.summary.pages.test_report import PagePart, Rated
    from assay.summary.record import Measure, Tile
    from assay.summary.table import ResultTable

Column = tuple[str, "Mapping[Cell, float]"]


_FURTHER = frozenset(cell_key(Cell(read_pct=read_pct, transfer_bytes=8 * KIB)) for read_pct in (0, 100))
_MOVED_NAMED = 8
_SPREAD_NOTE = (
    f"* Greatest less least is more than {percent(MOVED_SHARE)} of the average, and the cell is not tracked: steady "
    "state says nothing of it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopReport(TestReport):
    """One loop test on its way to pages."""

    result: LoopResult
    layout: Callable[[LoopReport], tuple[Page, ...]]

    @property
    def settings(self) -> LoopSettings:
        """What the test used."""
        return self.test.settings_as(LoopSettings)

    @property
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries."""
        return loop_facts(self.run, self.test, self.result)

    @property
    def outline(self) -> str:
        """Rounds of cells until steady."""
        return loop_outline(self.settings)

    @property
    def preparation(self) -> str:
        """What a quick look does instead of purge and preconditioning."""
        return loop_preparation(self.settings)

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        return loop_readings(self.settings, len(self.moved_cells()))

    def main_figures(self) -> Iterator[MainFigure]:
        """Its matrix, the tail of reads and writes, and its rounds."""
        return loop_main_figures(self.test, self.result, self.distribution(), self.prefix)

    @property
    def sheet(self) -> str:
        """One for the block sizes of a test that runs once for each. Worked: TP 128 and TP 1024 -> ``"tp"``."""
        if self.settings.variable != "throughput":
            return self.name
        return f"{self.settings.procedure}{self.name.removeprefix(self.settings.test)}"

    def report_pages(self) -> tuple[Page, ...]:
        """The standard pages of its test."""
        return self.layout(self)

    @property
    def selected(self) -> tuple[Measure, ...]:
        """Its key results; of IOPS those of 8 KiB, too. Source: summary of the SSSI deck, 2012."""
        further = (measure for measure in self.measures if measure.key == "iops" and measure.cell in _FURTHER)
        return (*self.key_results, *(further if self.settings.variable == "iops" else ()))

    def insights(self) -> Iterator[Insight]:
        """Steadiness, tails, stalls, what mixes and sizes cost, and its limit."""
        return loop_insights(self.test, self.result, link_mb_per_s(self.run))

    @property
    def ruled(self) -> Ruled:
        """That of the tracked cells, all at once."""
        return ruled_by(self.result.window, unstable_count=len(self.moved_cells()))

    def tiles(self) -> Iterator[Tile]:
        """Reads and writes of the size that people quote."""
        return loop_tiles(self.test)

    def numbers(self) -> Iterator[Measure]:
        """Every cell of the matrix."""
        return loop_measures(self.test, self.result)

    def moved_cells(self) -> tuple[MovedCell, ...]:
        """Least to greatest round of each cell that is not tracked and moved."""
        cells = cell_spreads(self.result, self.settings)
        return tuple(
            MovedCell(
                label=cell_label(cell, self.settings.access),
                text=_moved_text(one, self.settings),
                apart=one.apart,
                limit=MOVED_SHARE,
            )
            for cell, one in cells.items()
            if one.moved
        )

    def moved_where(self) -> str:
        """The mix that more than half of the cells that moved have, and the round that alone is off in them."""
        result = cell_spreads(self.result, self.settings)
        return "; ".join(filter(None, (moved_where(result), moved_when(result, preconditioned_by(self.settings)))))

    def rates(self) -> Iterator[Rated]:
        """IOPS of reads and writes of 4 KiB and of large transfers."""
        return loop_rates(self.settings, self.measures)

    def own_settings(self) -> tuple[Entry, ...]:
        """Cells, preconditioning, tracking."""
        return loop_settings(self.settings)

    def details(self) -> tuple[Table, ...]:
        """Every cell of the last rounds."""
        return (*self._spread_table(), *cell_tables(self.test))

    def distribution(self) -> Distribution:
        """Response times of every cell over the measurement window."""
        return self.once("distribution", lambda: loop_distribution(self.test, self.result, self.prefix))

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """Matrix, rounds, response times and the histogram behind them."""
        return loop_tables(self.run, self.test, self.result, suffix)

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
                self.origin("Over" if columns else "Average of"),
                *self._not_applicable(),
                *self._idle_cells(),
                *spreads,
            ),
        )

    def _spread_table(self) -> tuple[Table, ...]:
        """Least and greatest round of the window and the coefficient of variation, of each cell that has an average."""
        settings, mixes = self.settings, sorted(self.settings.read_pcts)
        result = cell_spreads(self.result, settings)
        rows = tuple(
            (
                kib_label(size),
                *(_spread_text(result.get(Cell(read_pct=mix, transfer_bytes=size)), settings) for mix in mixes),
            )
            for size in sorted(settings.sizes_bytes)
        )
        table = Table(
            caption=f"{settings.test_label}: {shown(settings).noun}, least to greatest round of the window "
            "(coefficient of variation)",
            columns=("Block Size (KiB)", *(mix_label(mix) for mix in mixes)),
            rows=rows,
            notes=(_SPREAD_NOTE,) if any(one.moved for one in result.values()) else (),
            folded=True,
        )
        return (table,) if result else ()

    def _spread_notes(self) -> tuple[str, ...]:
        """Name the cells whose average hides a movement, and say how far the others lie apart."""
        result = cell_spreads(self.result, self.settings)
        moved = sorted(self.moved_cells(), key=lambda moved_cell: -moved_cell.apart)
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

    def origin(self, what: str) -> str:
        """Say what rounds a number comes from, or why there is none."""
        window = headline_window(self.result)
        return f"{what} rounds {rounds_label(window.rounds)}." if window else no_window_reason(self.result)

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
        """That of a tracked cell, None where no number may be printed."""
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
        return replace(box, entries=(*figures, (name, self.qualified(told, steady=steady))))

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


def loop_report(
    layout: Callable[[LoopReport], tuple[Page, ...]],
) -> Callable[[StoredRun, StoredTest, Edition, str], LoopReport]:
    """How a stored test loop comes to its pages. layout : the standard pages of one of them."""

    def test_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> LoopReport:
        result = loop_result(test)
        return LoopReport(run=run, test=test, edition=edition, prefix=prefix, result=result, layout=layout)

    return test_report
