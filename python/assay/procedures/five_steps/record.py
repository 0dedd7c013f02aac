"""What the five steps show: a page per step, each with its verdict, and a last one with all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from assay.engine.records import Cell
from assay.procedures.families.loop.figures import matrix_columns
from assay.procedures.families.saturation.figures import iops_figure
from assay.procedures.families.saturation.record import falls
from assay.procedures.five_steps.plan import (
    COMPOSITE,
    INDEPENDENCE,
    PRECONDITION,
    STABILITY,
    FiveStepsSettings,
)
from assay.procedures.five_steps.result import RULES, five_steps_result
from assay.procedures.studies.figures import study_figure
from assay.procedures.studies.measures import slow_recovery, study_insights
from assay.procedures.studies.plan import over_places
from assay.procedures.studies.record import (
    CHANGE_VALUES,
    SECONDS,
    StudyRow,
    change_table,
    not_quoted,
    of_settled,
    study_shown,
)
from assay.procedures.studies.result import Change, StudyResult
from assay.procedures.studies.run import StudyPlot
from assay.procedures.traits import pattern_subject
from assay.results.step import cell_label
from assay.spec.units import KIB, kib_value
from assay.summary import table as of
from assay.summary.insights import insight
from assay.summary.measures import quoted
from assay.summary.pages.figures import MINUTES
from assay.summary.pages.header import steady_word
from assay.summary.pages.model import Box, Text, column_levels
from assay.summary.pages.test_record import PagePart, Shown, Source
from assay.summary.table import Column, Lines, Pivot, field_columns, picked, printed_pivot, printed_table, table_of
from assay.words.coded import coded
from assay.words.printed import mix_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import StoredTest
    from assay.procedures.five_steps.result import FiveSteps, StepVerdict
    from assay.summary.insights import Insight
    from assay.summary.pages.model import Block, Figure, Table
    from assay.summary.record import Measure
    from assay.summary.table import Declared, ResultTable

TITLE = "Five Steps - Report Page (no test of the specification)"
_OVER_TIME = StudyPlot(kind="time", variable="throughput")
_SECONDS = StudyPlot(kind="seconds", variable="relative")
_VERDICTS: Declared[StepVerdict] = (
    (Column("step", "Step", role="key"), lambda verdict: verdict.name),
    (Column("verdict", "Verdict"), lambda verdict: verdict.word),
    (Column("measured", "Measured"), lambda verdict: verdict.finding.measured),
    (Column("limit", "Limit"), lambda verdict: verdict.finding.limit),
)
_PRINTED_VERDICTS: Declared[StepVerdict] = (
    *_VERDICTS[:2],
    (Column("value", "Value"), lambda verdict: verdict.finding.words),
    (Column("rule", "Rule"), lambda verdict: verdict.rule),
)
_SURFACE: Declared[Any] = (
    (
        replace(of.BLOCK_KIB, page_title="Block Size (KiB)", printer="{:g}".format),
        lambda row: kib_value(row[0].transfer_bytes),
    ),
    (replace(of.READ_PCT, printer=mix_label), lambda row: row[0].read_pct),
    (of.IOPS, lambda row: row[1]),
)
_COMPOSITES: Declared[Any] = (
    (Column("workload", "Workload"), attrgetter("series")),
    (Column("load", printer="{:g}".format), attrgetter("place")),
    (of.IOPS, of_settled("iops")),
)


_READINGS = {
    "precondition": "Is throughput constant? Sequential writes over the whole drive, twice.",
    "surface": "What does the drive do at any block size and mix? Random accesses, a step per column. The surface "
    "should have no hole.",
    "samples": "When do random writes become steady? RND 4KiB writes, sample by sample, until the five-point rule "
    "holds.",
    "seconds": "How steady are they then? Every second in per cent of the median.",
    "independence": "Does a workload affect the next? Sequential, random, then sequential writes: the last part should "
    "reach the level of the first.",
    "composite-iops": "What do workloads of whole systems reach? IOPS over the outstanding I/Os.",
    "composite-response": "What do they wait for it? Mean response time over the outstanding I/Os.",
}


@dataclass(frozen=True, kw_only=True)
class FiveStepsPages(Source):
    """What the pages of the five steps are made of."""

    found: FiveSteps

    @property
    def settings(self) -> FiveStepsSettings:
        """What the steps used."""
        return self.test.settings_as(FiveStepsSettings)

    @property
    def result(self) -> StudyResult:
        """The steps as a study."""
        return self.found.study

    def parts(self) -> Iterator[PagePart]:
        """A page per step, each with its verdict; behind them all verdicts and the numbers of the workloads."""
        nothing = Text(paragraphs=("n/a: nothing of this step ran to its end",))
        before, behind = {PRECONDITION: self.plan_box()}, {INDEPENDENCE: (self._change(),)}
        for index, (rule, verdict) in enumerate(zip(RULES, self.found.verdicts, strict=True)):
            figures: tuple[Block, ...] = tuple(figure for figure in self._figures(index) if figure) or (nothing,)
            entries = (("Verdict", verdict.word), ("Value", verdict.finding.words), ("Rule", verdict.rule))
            box = Box(title="Verdict", entries=entries, wide=True, levels=(("Verdict", verdict.level),))
            blocks = (*before.get(index, ()), *figures, *behind.get(index, ()), box)
            yield f"Step {index + 1}: {rule.title}", blocks
        yield "Verdict per Step", (self._verdicts(), self._composites())

    def _figures(self, index: int) -> tuple[Figure | None, ...]:
        """The figures of a step."""
        match index:
            case 0:
                return (self._study("precondition", _OVER_TIME, index),)
            case 1:
                sizes, mixes = self.settings.sizes_bytes, self.settings.read_pcts
                return (matrix_columns(f"{self.prefix}-surface", ("IOPS", "IOPS"), sizes, mixes, self.found.matrix),)
            case 2:
                samples = iops_figure(f"{self.prefix}-samples", self.found.saturation, MINUTES, "linear")
                drawn = replace(samples, room="figure", aspect=1.25) if samples else None
                return (drawn, self._study("seconds", _SECONDS, index))
            case 3:
                return (self._study("independence", _OVER_TIME, index),)
        plots = over_places("Outstanding I/Os", "log", "iops", "response")
        return tuple(self._study(f"composite-{plot.variable}", plot, index) for plot in plots)

    def _study(self, name: str, plot: StudyPlot, index: int) -> Figure | None:
        """A figure of one step alone."""
        only = replace(self.result, variants=self.result.variants[index : index + 1])
        return study_figure(f"{self.prefix}-{name}", plot, only)

    def _verdicts(self) -> Table:
        notes = (
            "The five steps come from the source, the rules and their limits do not: a plan may state others.",
            *(f"{label} not run: it {reason}." for label, reason in self.settings.not_run),
        )
        table = table_of("verdicts", "Verdict per Step", _PRINTED_VERDICTS, self.found.verdicts)
        levels = column_levels(table.place("verdict"), (verdict.level for verdict in self.found.verdicts))
        return printed_table(table, notes=notes, levels=levels)

    def _change(self) -> Table:
        """Sequential writes before the random ones, behind them, and when they are back."""
        note = (
            "Before: the sequential pass before the random writes. After: the first sequential pass after them. "
            f"Recovered: the end of the first sample at {self.settings.recovered_share * 100:g} % of before."
        )
        changes = [(self.result.variants[INDEPENDENCE], self.found.change)]
        return change_table(changes, *CHANGE_VALUES, caption="Sequential, Random, Sequential", notes=(note,))

    def _composites(self) -> Table:
        """IOPS of every workload at every load."""
        stages = self.result.variants[COMPOSITE].stages
        table = table_of("composites", "Composite Workloads", _COMPOSITES, stages)
        return printed_pivot(table, "workload", "load", of.IOPS.key, spanner="IOPS by outstanding I/Os")


def five_steps_shown(source: Source) -> Shown:
    """What the stored five steps show."""
    found = five_steps_result(source.test, source.run.identity.capacity_bytes)
    study, pages = study_shown(source, found.study), FiveStepsPages(**source.origin, found=found)
    failed = [verdict for verdict in found.verdicts if verdict.finding.level == "warn"]
    remarks = (f"five steps: {one.name} fails: {one.finding.words}" for one in failed)
    return replace(
        study,
        title=TITLE,
        facts=replace(study.facts, steady=steady_word(found.saturation.window, found.study.withheld)),
        parts=pages.parts(),
        readings=_READINGS,
        drawn=None,
        numbers=_numbers(found, study.numbers),
        seen=_insights(source.test, found),
        remarks=tuple(coded("reason", reason=remark) for remark in remarks),
        details=(_surface(pages.settings, found), *study.details),
        tables=lambda: chain(_tables(found, source.suffix), study.tables()),
    )


def _insights(test: StoredTest, found: FiveSteps) -> Iterator[Insight]:
    """What every study says, rules that it misses, how far writes fall, and how soon sequential ones are back."""
    settings = test.settings_as(FiveStepsSettings)
    yield from study_insights(test, found.study)
    if found.study.withheld:
        return
    yield from rules_missed(found.verdicts)
    if found.saturation.samples.iops:
        yield from falls(pattern_subject(settings.stability.pattern), found.saturation)
    if found.change:
        stages = found.study.variants[INDEPENDENCE].stages
        yield slow_recovery(settings.variants[INDEPENDENCE], stages, found.change)


def _numbers(found: FiveSteps, of_study: Iterable[Measure]) -> Iterator[Measure]:
    """One number per step (last pass, writes of the surface, score, drop), and what every study has."""
    small = Cell(read_pct=0, transfer_bytes=4 * KIB)
    (first,) = found.study.variants[PRECONDITION].stages
    values = (
        ("SEQ 128KiB writes", "MB/s", first.settled.throughput if first.settled else None),
        (cell_label(small), "IOPS", found.matrix.get(small)),
        ("seconds within 10 % of the median", "%", _percent(found.stability and found.stability.score)),
        ("drop of sequential writes after random writes", "%", _percent(found.change and found.change.drop_share)),
    )
    for number, ((name, unit, value), verdict) in enumerate(zip(values, found.verdicts, strict=False), 1):
        withheld = coded("withheld", reason=verdict.finding.reason)
        basis = withheld if value is None else coded("step", name=verdict.name)
        yield quoted((("step", number),), unit, f"five steps, {name}", value, basis)
    yield from not_quoted(of_study)


def _surface(settings: FiveStepsSettings, found: FiveSteps) -> Table:
    """The numbers of the surface."""
    cells = [(cell, found.matrix.get(cell)) for cell in settings.surface.values()]
    keys, spanner = (column.key for column, _ in _SURFACE), "IOPS by read/write mix"
    table = table_of("surface", "IOPS Surface", _SURFACE, cells)
    return printed_pivot(table, *keys, corner="Block Size (KiB)", spanner=spanner, folded=True)


def _tables(found: FiveSteps, suffix: str) -> Iterator[ResultTable]:
    """Verdicts, surface, samples until steady and the change."""
    stem = "study_five_steps_"
    yield table_of(f"{stem}verdicts{suffix}", "Verdict per step", _VERDICTS, found.verdicts, section="results")
    pivot = Pivot((of.BLOCK_KIB.key,), of.READ_PCT.key, of.IOPS.key)
    cells = found.matrix.items()
    yield table_of(f"{stem}surface{suffix}", "IOPS surface", _SURFACE, cells, pivots=(pivot,), section="results")
    step = found.study.variants[STABILITY]
    samples = (StudyRow(step, sample=sample) for sample in found.saturation.samples.each())
    columns = picked(of.SAMPLE_COLUMNS, of.MINUTE.key, of.IOPS.key, of.MEAN.key, of.MAXIMUM.key)
    lines = (Lines(of.MINUTE.key, of.IOPS.key),)
    yield table_of(f"{stem}until_steady{suffix}", "Samples until steady", columns, samples, lines=lines)
    seconds = (StudyRow(step, second=second) for second in step.stages[0].seconds)
    columns = picked(SECONDS, of.SECOND.key, of.IOPS.key, of.MAXIMUM.key)
    lines = (Lines(of.SECOND.key, of.IOPS.key),)
    yield table_of(f"{stem}seconds{suffix}", "Seconds", columns, seconds, lines=lines)
    # Without a change nobody knows but its label.
    fields = field_columns(Change) if found.change else field_columns(Change)[:1]
    changes = (found.change,) if found.change else ()
    yield table_of(f"{stem}change{suffix}", "Sequential, random, sequential", fields, changes, section="results")


def rules_missed(verdicts: Sequence[StepVerdict]) -> Iterator[Insight]:
    """How many of the rules failed, and the first that did; none where none did."""
    failed = [verdict for verdict in verdicts if verdict.finding.level == "warn"]
    if failed:
        yield insight(
            "held-against-missed",
            failed=len(failed),
            of=len(verdicts),
            share=len(failed) / len(verdicts),
            held="rules",
            worst=failed[0].name,
            undecided=sum(verdict.finding.level == "n/a" for verdict in verdicts) or None,
        )


def _percent(share: Any) -> float | None:
    return None if share is None else 100 * share
