"""The five pages of the five steps, each with its verdict, and a last one with all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.families.loop.figures import matrix_columns
from assay.procedures.families.saturation.figures import iops_figure
from assay.procedures.five_steps.insights import five_steps_insights
from assay.procedures.five_steps.plan import COMPOSITE, INDEPENDENCE, PRECONDITION, STABILITY, SURFACE
from assay.procedures.five_steps.result import five_steps_result
from assay.procedures.five_steps.settings import FiveStepsSettings
from assay.procedures.five_steps.tables import (
    change_table,
    composite_table,
    five_steps_data,
    surface_table,
    verdict_table,
)
from assay.procedures.studies.figures import study_figure
from assay.procedures.studies.pages import StudyReport
from assay.procedures.studies.settings import StudyPlot
from assay.results.step import cell_label
from assay.spec.units import KIB
from assay.summary.measures import quoted
from assay.summary.pages.axes import MINUTES
from assay.summary.pages.facts import steady_word
from assay.summary.pages.model import Box, Text
from assay.summary.pages.test_report import TestReport
from assay.words.coded import Coded, coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.five_steps.result import FiveSteps, StepVerdict
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.main_figure import MainFigure
    from assay.summary.pages.model import Block, Figure, Page, Table
    from assay.summary.record import Measure
    from assay.summary.table import ResultTable

TITLE = "Five Steps - Report Page (no test of the specification)"
_OVER_TIME = StudyPlot(kind="time", variable="throughput")
_SECONDS = StudyPlot(kind="seconds", variable="relative")
_LOADS = tuple(
    StudyPlot(kind="places", variable=variable, x_title="Outstanding I/Os", x_scale="log")
    for variable in ("iops", "response")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveStepsReport(StudyReport):
    """The five steps on their way to pages."""

    found: FiveSteps

    @property
    def used(self) -> FiveStepsSettings:
        """What the steps used."""
        return self.test.settings_as(FiveStepsSettings)

    @property
    def steady(self) -> str:
        """Whether the random writes of the third step became so."""
        return steady_word(self.found.saturation.window, self.found.study.withheld)

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures, by step."""
        return {
            "precondition": "Is throughput constant? Sequential writes over the whole drive, twice.",
            "surface": "What does the drive do at any block size and mix? Random accesses, a step per column. The "
            "surface should have no hole.",
            "samples": "When do random writes become steady? RND 4KiB writes, sample by sample, until the five-point "
            "rule holds.",
            "seconds": "How steady are they then? Every second in per cent of the median.",
            "independence": "Does a workload affect the next? Sequential, random, then sequential writes: the last "
            "part should reach the level of the first.",
            "composite-iops": "What do workloads of whole systems reach? IOPS over the outstanding I/Os.",
            "composite-response": "What do they wait for it? Mean response time over the outstanding I/Os.",
        }

    def main_figures(self) -> Iterator[MainFigure]:
        """Those of its pages."""
        return TestReport.main_figures(self)

    def report_pages(self) -> tuple[Page, ...]:
        """A page per step, each with its verdict; behind them all verdicts and the numbers of the workloads."""
        pages, parts = self.found, self._figures()
        blocks: dict[int, tuple[Block, ...]] = {
            PRECONDITION: (*self.strip(), *parts[PRECONDITION]),
            SURFACE: parts[SURFACE],
            STABILITY: parts[STABILITY],
            INDEPENDENCE: (*parts[INDEPENDENCE], change_table(pages.change, self.settings.recovered_share)),
            COMPOSITE: parts[COMPOSITE],
        }
        steps = ((_subtitle(verdict), (*blocks[index], _box(verdict))) for index, verdict in enumerate(pages.verdicts))
        last = ("Verdict per Step", (verdict_table(pages.verdicts, self.settings.not_run), composite_table(pages)))
        return self.pages(TITLE, (*steps, last))

    def _figures(self) -> dict[int, tuple[Block, ...]]:
        result = self.found
        surface = matrix_columns(
            f"{self.prefix}-surface", ("IOPS", "IOPS"), self.used.sizes_bytes, self.used.read_pcts, result.matrix
        )
        samples = iops_figure(f"{self.prefix}-samples", result.saturation, MINUTES, "linear")
        drawn: dict[int, tuple[Figure | None, ...]] = {
            PRECONDITION: (self._study("precondition", _OVER_TIME, PRECONDITION),),
            SURFACE: (surface,),
            STABILITY: (
                replace(samples, beside=True, aspect=1.25) if samples else None,
                self._study("seconds", _SECONDS, STABILITY),
            ),
            INDEPENDENCE: (self._study("independence", _OVER_TIME, INDEPENDENCE),),
            COMPOSITE: tuple(self._study(f"composite-{plot.variable}", plot, COMPOSITE) for plot in _LOADS),
        }
        nothing = (Text(paragraphs=("n/a: nothing of this step ran to its end",)),)
        return {place: tuple(figure for figure in figures if figure) or nothing for place, figures in drawn.items()}

    def _study(self, name: str, plot: StudyPlot, index: int) -> Figure | None:
        """A figure of one step alone."""
        only = replace(self.result, variants=self.result.variants[index : index + 1])
        return study_figure(f"{self.prefix}-{name}", plot, only)

    def insights(self) -> Iterator[Insight]:
        """The rules that it misses, and what every study says."""
        return five_steps_insights(self.test, self.found)

    def numbers(self) -> Iterator[Measure]:
        """One number per step (last pass, writes of the surface, score, drop), and what every study has."""
        numbers = self.found
        stage = numbers.study.variants[PRECONDITION].stages[0]
        tracked = numbers.matrix.get(_SMALL_WRITES)
        values = (
            ("five steps, SEQ 128KiB writes", "MB/s", stage.settled.mb_per_s if stage.settled else None),
            (f"five steps, {cell_label(_SMALL_WRITES)}", "IOPS", tracked),
            ("five steps, seconds within 10 % of the median", "%", _percent(numbers.stability, "score")),
            ("five steps, drop of sequential writes after random writes", "%", _percent(numbers.change, "drop_share")),
        )
        for number, ((name, unit, value), one) in enumerate(zip(values, numbers.verdicts, strict=False), 1):
            yield quoted((("step", number),), unit, name, value, _basis(one, value))
        yield from (replace(number, quoted=False, name="") for number in StudyReport.numbers(self) if number.cell)

    def remarks(self) -> tuple[Coded, ...]:
        """The steps that fail."""
        failed = [verdict for verdict in self.found.verdicts if verdict.word == "fail"]
        return tuple(coded("reason", reason=f"five steps: {one.name} fails: {one.finding.words}") for one in failed)

    def details(self) -> tuple[Table, ...]:
        """The numbers of the surface, and every step as it was set."""
        surface = replace(surface_table(self.used, self.found.matrix), folded=True)
        return (surface, *StudyReport.details(self))

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """Those of the five steps, then what every study has."""
        yield from five_steps_data(self.found, suffix)
        # Without arguments super() would name the class that slots replaced.
        yield from StudyReport.tables(self, suffix)


_SMALL_WRITES = Cell(read_pct=0, transfer_bytes=4 * KIB)


def _subtitle(step_verdict: StepVerdict) -> str:
    number, _, name = step_verdict.name.partition(" ")
    return f"Step {number}: {name[0].upper()}{name[1:]}"


def _box(step_verdict: StepVerdict) -> Box:
    entries = (("Verdict", step_verdict.word), ("Value", step_verdict.finding.words), ("Rule", step_verdict.rule))
    return Box(title="Verdict", entries=entries, wide=True)


def _percent(found: object, name: str) -> float | None:
    return None if found is None else 100 * float(getattr(found, name))


def _basis(step_verdict: StepVerdict, value: float | None) -> Coded:
    return (
        coded("withheld", reason=step_verdict.finding.reason)
        if value is None
        else coded("step", name=step_verdict.name)
    )


def five_steps_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> FiveStepsReport:
    """The stored five steps with everything that their pages print."""
    found = five_steps_result(test, run.identity.capacity_bytes)
    return FiveStepsReport(run=run, test=test, edition=edition, prefix=prefix, result=found.study, found=found)
