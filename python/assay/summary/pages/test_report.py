"""One test on its way to pages: blocks become pages under the test's header."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from assay.results import arrival_label, withheld_reason
from assay.results.queue_depths import asked_depths
from assay.summary.bounds import bounded
from assay.summary.measures import distribution_measures
from assay.summary.pages.axes import readable_time
from assay.summary.pages.header import header
from assay.summary.pages.label import banner, notice, qualified
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Box, Figure, Page, Table
from assay.summary.record import OWN_SLOTS, TestSummary, Tile
from assay.summary.verdict import NO_RULE, framed, unless_withheld
from assay.words.coded import coded
from assay.words.printed import NOT_AVAILABLE, demand_label, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.results.finding import Finding
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.distribution import Distribution
    from assay.summary.pages.facts import TestFacts
    from assay.summary.pages.model import Block, Entry
    from assay.summary.record import Measure, Verdict
    from assay.summary.table import ResultTable
    from assay.summary.verdict import Ruled
    from assay.words.coded import Coded
    from assay.words.subject import Subject

# The taller header of form 2.0 leaves flatter room for figures.
FLATTER = {"1.0": 0.88, "2.0": 1.06}
STRIP = ("objective", "baseline", "samples", "notes")
T = TypeVar("T")
PagePart = tuple[str, tuple["Block", ...]]
Rated = tuple["Subject", float]
"""Accesses with order, direction, size and depth, and their IOPS."""


class Result(Protocol):
    """What every kind of result has."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What a reader must know before any of its numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedCell:
    """A cell that moved in the measurement window, of which the verdict says nothing.

    label : as printed. text : how far, as printed. apart : greatest less least round over their average; limit : from
    where on that is told.
    """

    label: str
    text: str
    apart: float
    limit: float


# Without slots: what several formats need is kept in the instance.
@dataclass(frozen=True, kw_only=True)
class TestReport(ABC):
    """One test on its way to pages; each kind of test has its own. prefix : begins the names of its figures."""

    run: StoredRun
    test: StoredTest
    edition: Edition
    prefix: str
    result: Result

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}

    def once(self, name: str, work: Callable[[], T]) -> T:
        """What some work on this test gives, done once and kept under a name."""
        if name not in self._kept:
            self._kept[name] = work()
        result: T = self._kept[name]
        return result

    @property
    def name(self) -> str:
        """Its name in the run. Worked: the first IOPS test -> ``"iops"``, the second -> ``"iops-2"``."""
        return self.prefix.removesuffix("-1")

    @property
    def label(self) -> str:
        """The test as printed. Worked: ``tp-128`` -> ``"TP-128"``."""
        return self.test.settings.test_label

    @property
    def table(self) -> Any:
        """The test's table in the edition, None where there is none."""
        return self.edition.table(self.test.settings.procedure)

    @property
    def status(self) -> str:
        """``REQUIRED`` or ``OPTIONAL``, as the edition says."""
        return self.table.status.value if self.table else NOT_AVAILABLE

    @property
    @abstractmethod
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries."""

    @property
    def banner(self) -> str | None:
        """The warning over every page."""
        return banner(self.test, self.result.findings)

    @property
    @abstractmethod
    def outline(self) -> str:
        """What the test did, in one sentence with the lengths and amounts that it was set to."""

    @property
    def preparation(self) -> str:
        """How the drive was prepared, with the lengths of the run; empty where it is as the procedure says."""
        return ""

    @abstractmethod
    def report_pages(self) -> tuple[Page, ...]:
        """The standard pages of the test, without its summary."""

    @property
    def key_results(self) -> tuple[Measure, ...]:
        """The numbers that people quote of a drive."""
        return tuple(measure for measure in self.measures if measure.quoted)

    @property
    def selected(self) -> tuple[Measure, ...]:
        """The numbers that the paper form's summary prints: its key results, unless a test has more."""
        return self.key_results

    @cached_property
    def withheld(self) -> Coded | None:
        """Why no result of it may be printed; None where they may."""
        return withheld_reason(self.test)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Every number once, for comparison, limits and lists: those that people quote first."""
        numbers = bounded(self.test, unless_withheld(self.withheld, self.numbers()))
        return tuple(sorted(numbers, key=lambda one: not one.quoted))

    def tiles(self) -> Iterator[Tile]:
        """What a summary shows of it: the first of the numbers that people quote, unless a test says else."""
        for slot, one in zip(OWN_SLOTS, (measure for measure in self.measures if measure.quoted), strict=False):
            yield Tile(slot=slot, title=coded("tile-own", name=one.printed), value=one.identity)

    @property
    def summary(self) -> TestSummary:
        """The same as one record."""
        return TestSummary(
            name=self.name,
            label=self.label,
            procedure=self.test.settings.procedure,
            outstanding=asked_depths(self.test),
            extent=self.facts.extent,
            verdict=self.verdict,
            measures=self.measures,
            tiles=tuple(self.tiles()),
        )

    @property
    def ruled(self) -> Ruled:
        """What its rule of steady state said; none unless a test says so."""
        return NO_RULE

    @cached_property
    def verdict(self) -> Verdict:
        """How it came out."""
        return framed(self.test, self.ruled, self.withheld)

    def numbers(self) -> Iterator[Measure]:
        """The same in any order: the spread of its response times, unless a test says more or else."""
        if numbers := self.distribution():
            yield from distribution_measures(numbers)

    def remarks(self) -> tuple[Coded, ...]:
        """What a reader should know of its numbers that is no warning; none unless a test says so."""
        return ()

    def insights(self) -> Iterator[Insight]:
        """What is worth knowing of its numbers, in any order; none unless a test says so."""
        return iter(())

    def main_figures(self) -> Iterator[MainFigure]:
        """The figures that answer its question, the one that says most first; those of its pages unless a test says
        else. None of them is asked for where its results are withheld.
        """  # noqa: D205 - one sentence
        for page in self.report_pages():
            for one in (block for block in page.blocks if isinstance(block, Figure) and block.kind != "columns"):
                yield MainFigure(kind="curve", title=page.subtitle, figure=replace(one, name=f"{one.name}-main"))

    @property
    def sheet(self) -> str:
        """Tests that share one page of the report have the same; its own name unless a test says else."""
        return self.name

    def overlaid(self) -> tuple[Figure, ...]:
        """Figures whose first series is the drive, to be laid over those of other drives; none unless a test says so.

        Their names are the same in every run, such as ``wsat-1-minutes``.
        """
        return ()

    def moved_cells(self) -> tuple[MovedCell, ...]:
        """Cells that the verdict says nothing of and that moved in the window; none unless a test says so."""
        return ()

    def rates(self) -> Iterator[Rated]:
        """IOPS that other tests may have at another demand or in another order; none unless told here."""
        return iter(())

    def qualified(self, verdict: str, *, steady: bool | None = None) -> str:
        """A verdict with what a reader of it must know, where it is steady. Worked: ``"YES; 3 other cells moved"``.

        steady : whether it is; None takes that of the test.
        """
        reached = self.ruled.reached and not self.withheld if steady is None else steady
        return qualified(self.test, verdict, len(self.moved_cells())) if reached else verdict

    def moved_where(self) -> str:
        """What the cells that moved have in common, such as ``"6 of 7 at 65/35"``; empty unless a test says so."""
        return ""

    def demand_entries(self) -> tuple[Entry, ...]:
        """Its demand, and when I/Os are due."""
        demand = self.test.settings.demand
        arrivals = arrival_label(demand) or "none: as soon as another I/O completes"
        return (("Total OIO - TC/QD", demand_label(demand)), ("Arrivals", arrivals))

    @abstractmethod
    def own_settings(self) -> tuple[Entry, ...]:
        """What only tests of this kind are set to do."""

    def details(self) -> tuple[Table, ...]:
        """Further tables for the disclosure on screen; none unless a test has some."""
        return ()

    @abstractmethod
    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """Tables of numbers, unrounded; ``suffix`` tells tests of the same name apart."""

    def other_files(self, suffix: str) -> Iterator[tuple[str, bytes]]:
        """Files of its numbers in the form of other tools, by name, beside the tables; none unless a test says so."""
        del suffix
        yield from ()

    def distribution(self) -> Distribution | None:
        """How its response times are spread, from stored histograms; None where a test has no such tables."""
        return None

    def pages(self, title: str, test_report: tuple[PagePart, ...]) -> tuple[Page, ...]:
        """Give each sheet the test's title, header and banner."""
        facts = replace(self.facts, convergence=self.qualified(self.facts.convergence))
        head, warning, told = header(self.run, self.test, self.edition, facts), self.banner, notice(self.test)
        return tuple(
            Page(
                title=title,
                subtitle=subtitle,
                header=head,
                banner=warning,
                notice=told,
                blocks=tuple(self._shaped(block) for block in blocks),
            )
            for subtitle, blocks in test_report
        )

    @property
    def readings(self) -> dict[str, str]:
        """How figures are read, by the beginning of what follows the prefix in their name."""
        return {}

    def _shaped(self, block: Block) -> Block:
        if not isinstance(block, Figure):
            return block
        name, known = block.name.removeprefix(f"{self.prefix}-"), self.readings
        best = max((key for key in known if name.startswith(key)), key=len, default="")
        reading = block.reading or known.get(best, "")
        return replace(readable_time(block), aspect=block.aspect * FLATTER[self.edition.header], reading=reading)

    def strip(self) -> tuple[Box, ...]:
        """Objective, baseline, samples and notes of the plan, none where it states none of them.

        Of several, those that it does not state are one entry, the last.
        """
        stated = {key: self.run.description.get(key, "").strip() for key in STRIP}
        entries = [(key.capitalize(), paragraph(text)) for key, text in stated.items() if text]
        if not entries:
            return ()
        if missing := ", ".join(key.capitalize() for key, text in stated.items() if not text):
            entries.append((missing, "not stated"))
        return (Box(title="Report", entries=tuple(entries), wide=True),)
