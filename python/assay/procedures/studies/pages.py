"""The pages of a study: overlaid curves of its variants, and a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.procedures.studies.data import study_data
from assay.procedures.studies.distribution import study_distribution
from assay.procedures.studies.figures import study_figure
from assay.procedures.studies.insights import study_insights
from assay.procedures.studies.measures import fastest_stages, study_measures
from assay.procedures.studies.readings import SAME_SHARE
from assay.procedures.studies.result import study_result
from assay.procedures.studies.settings import StudySettings
from assay.procedures.studies.tables import study_tables
from assay.spec.units import duration_label
from assay.summary.pages.facts import TestFacts, share_label
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Figure, Table, Text
from assay.summary.pages.test_report import TestReport
from assay.summary.record import OWN_SLOTS, Tile
from assay.words.coded import coded
from assay.words.printed import NOT_APPLICABLE, mix_label, paragraph, percent, size_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records.run import StoredRun, StoredTest
    from assay.procedures.studies.result import StudyResult
    from assay.procedures.studies.settings import StudyStep
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.distribution import Distribution
    from assay.summary.pages.main_figure import FigureKind
    from assay.summary.pages.model import Block, Entry, Page
    from assay.summary.record import Measure
    from assay.summary.table import ResultTable

ROWS_WITH_CURVES = 4
"""A table of so few rows leaves a page its place for the curves."""
LOWER = 1.7
_MAIN_TITLES = {
    "iops": "IOPS",
    "throughput": "Throughput",
    "response": "Mean response time",
    "largest": "Slowest I/O",
    "relative": "IOPS against their median",
}
TITLE = "Study - Report Page (no test of the specification)"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport(TestReport):
    """One study on its way to pages."""

    result: StudyResult

    @property
    def settings(self) -> StudySettings:
        """What the study used."""
        return self.test.settings_as(StudySettings)

    @property
    def facts(self) -> TestFacts:
        """The study in the words of headers and summaries."""
        settings = self.settings
        sizes = sorted({size for step in self._measured() for size, _ in step.pattern.sizes})
        mixes = sorted({round(step.pattern.read_share * 100) for step in self._measured()})
        lengths = {step.length_bytes for step in self._measured()}
        spans = [step.span_ns for step in self._measured() if step.span_ns]
        return TestFacts(
            independent="by variant",
            dependent="by variant",
            test_area=share_label(self.run, lengths.pop()) if len(lengths) == 1 else "by variant",
            test_range="by variant",
            step=duration_label(max(spans)) if spans else "by amount",
            stimulus=(
                ("Test Stimulus 1", settings.title),
                ("RW Mix", ", ".join(mix_label(mix) for mix in mixes)),
                ("Block Sizes", ", ".join(size_label(size) for size in sizes)),
            ),
            workload="by variant",
            extent=f"{len(settings.variants)} variants",
            steady=self.steady,
        )

    @property
    def steady(self) -> str:
        """Whether it became steady, which studies do not ask."""
        return NOT_APPLICABLE

    def _measured(self) -> list[StudyStep]:
        return [step for variant in self.settings.variants for step in variant.steps if step.role == "measure"]

    @property
    def outline(self) -> str:
        """In the words of the study, with the lengths that it was set to."""
        return self.settings.outline

    @property
    def preparation(self) -> str:
        """The same of the preparation."""
        return self.settings.preparation

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures, which are numbered."""
        how = {
            "time": "Samples over time, a line per variant",
            "seconds": "Every second of the measured time, a line per variant",
            "places": "The mean of the last samples over what is varied, a point for each",
        }
        question = paragraph(self.settings.question)
        plots = enumerate(self.settings.plots, 1)
        return {str(place): f"{question} {how[plot.kind]}." for place, plot in plots}

    def tiles(self) -> Iterator[Tile]:
        """The most IOPS of each variant, of several variants; else the first of the numbers that people quote."""
        tiles = [*fastest_stages(self.result)]
        if len(tiles) < 2:  # noqa: PLR2004 - nothing to compare
            yield from TestReport.tiles(self)
        for slot, (variant, cell) in zip(OWN_SLOTS, tiles, strict=False):
            yield Tile(slot=slot, title=coded("tile-most", name=variant), value=(cell, "iops"))

    def main_figures(self) -> Iterator[MainFigure]:
        """What it found over what it varies, then the others."""
        plots = sorted(self.settings.plots, key=lambda plot: plot.kind != "places")
        for index, plot in enumerate(plots, 1):
            if figure := study_figure(f"{self.prefix}-main-{index}", plot, self.result):
                kind: FigureKind = "demand" if plot.kind == "places" else "curve"
                title = f"{_MAIN_TITLES[plot.variable]} over {plot.x_title or 'time'}"
                yield MainFigure(kind=kind, title=title, figure=figure)

    def report_pages(self) -> tuple[Page, ...]:
        """Lay out a page of curves and a page with the table."""
        settings = self.settings
        figures: list[Block] = [
            figure
            for index, plot in enumerate(settings.plots, 1)
            if (figure := study_figure(f"{self.prefix}-{index}", plot, self.result)) is not None
        ]
        nothing = Text(paragraphs=("n/a: no sample ran to its end",))
        notes = tuple(f"{label} not run: {reason}." for label, reason in settings.not_run)
        asked = tuple(paragraph(text) for text in (settings.question, settings.outline, *notes))
        first, *others = study_tables(settings, self.result)
        together = same_lines(self.result) if settings.plots and settings.plots[0].kind == "time" else ()
        first = replace(first, notes=(*asked, *first.notes, *together))
        if not others and len(first.rows) <= ROWS_WITH_CURVES:
            # The question stands below the curves and on the summary.
            short = replace(first, notes=(*notes, *first.notes[len(asked) :]))
            lower = [_lower(figure) for figure in figures]
            return self.pages(TITLE, ((settings.title, (*self.strip(), short, *(lower or [nothing]))),))
        return self.pages(
            TITLE,
            (
                (f"{settings.title}: Curves", (*self.strip(), *(figures or [nothing]))),
                (f"{settings.title}: Table", (first, *others)),
            ),
        )

    def insights(self) -> Iterator[Insight]:
        """How far a setting moves it, and what the reading of the study finds."""
        return study_insights(self.test, self.result)

    def numbers(self) -> Iterator[Measure]:
        """The slowest and the fastest variant, what the reading found, and every stage of every variant."""
        yield from study_measures(self.settings, self.result, self.run.identity.capacity_bytes)
        yield from TestReport.numbers(self)

    def own_settings(self) -> tuple[Entry, ...]:
        """Variants, and how values are taken from samples."""
        settings = self.settings
        return (
            *((f"Variant {number}", variant.label) for number, variant in enumerate(settings.variants, 1)),
            *((f"{label} not run", paragraph(reason)) for label, reason in settings.not_run),
            ("Preparation", settings.preparation),
            ("Settled value", f"mean of the last {percent(settings.settled_share)} of a stage's samples"),
        )

    def details(self) -> tuple[Table, ...]:
        """Every step of every variant, as it was set."""
        rows = tuple(
            (
                variant.label,
                step.role,
                step.label,
                str(step.samples),
                _stop(step),
                share_label(self.run, step.length_bytes),
            )
            for variant in self.settings.variants
            for step in variant.steps
        )
        columns = ("Variant", "Role", "Accesses", "Samples", "Each", "Range")
        return (Table(caption=f"{self.settings.test_label}: steps", columns=columns, rows=rows, folded=True),)

    def distribution(self) -> Distribution:
        """Response times of the settled part of every stage."""
        return self.once("distribution", lambda: study_distribution(self.test, self.result, self.prefix))

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """Every sample, the settled values, and what the reading found."""
        return study_data(self.settings, self.result, suffix)


def _lower(block: Block) -> Block:
    return replace(block, low=True, aspect=block.aspect * LOWER) if isinstance(block, Figure) else block


def same_lines(result: StudyResult) -> tuple[str, ...]:
    """Which variants settle at values so close that their curves lie on one another: within 1 % of the higher.

    Worked: 56,678.6 IOPS of AR 10 % and of AR 5 % -> ``"AR 10 %, AR 5 %: settled within 1 % ..."``.
    """
    lines = [
        (variant.label, variant.stages[0].settled.iops)
        for variant in result.variants
        if len(variant.stages) == 1 and variant.stages[0].settled
    ]
    groups: list[list[tuple[str, float]]] = []
    for line in sorted(lines, key=lambda pair: -pair[1]):
        if groups and line[1] >= (1 - SAME_SHARE) * groups[-1][0][1]:
            groups[-1].append(line)
        else:
            groups.append([line])
    order = [label for label, _ in lines]
    names = [sorted((label for label, _ in group), key=order.index) for group in groups if len(group) > 1]
    return tuple(
        f"{', '.join(group)}: settled within {percent(SAME_SHARE)} of each other; their curves overlap there."
        for group in names
    )


def _stop(step: StudyStep) -> str:
    if step.role == "trim":
        return NOT_APPLICABLE
    return duration_label(step.span_ns) if step.span_ns else f"{step.amount_bytes:,} bytes"


def study_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> StudyReport:
    """A stored study with everything that its pages print."""
    return StudyReport(run=run, test=test, edition=edition, prefix=prefix, result=study_result(test))
