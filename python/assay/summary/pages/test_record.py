"""One test with all that its outputs show: what its procedure declares, and what follows from that for every test."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from assay.results.host import disturbed_count, host_late_ns_max, window_disturbed
from assay.results.outcome import withheld_reason
from assay.results.step import arrival_label
from assay.results.unwritten import unwritten_reads
from assay.spec.units import MILLISECOND_NS
from assay.summary.findings import checks_of
from assay.summary.insights import Insight, insight
from assay.summary.measures import bounded
from assay.summary.pages.figures import MainFigure, readable_time
from assay.summary.pages.header import banner, header
from assay.summary.pages.model import Box, Figure, Page
from assay.summary.record import OWN_SLOTS, Tile
from assay.summary.verdict import NO_RULE, annex_caveats, framed, host_words, level_of, unless_withheld
from assay.words.coded import coded
from assay.words.printed import NOT_AVAILABLE, NOT_STATED, demand_label, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.engine.records import Demand, StoredRun, StoredTest
    from assay.results.finding import Checked, Finding
    from assay.spec.edition import Edition
    from assay.summary.pages.header import TestFacts
    from assay.summary.pages.histograms import Distribution
    from assay.summary.pages.model import Block, Entry, Table
    from assay.summary.record import Measure, Verdict
    from assay.summary.table import ResultTable
    from assay.summary.verdict import Ruled
    from assay.words.coded import Coded, Subject

# The taller header of form 2.0 leaves flatter room for figures.
_FLATTER = {"1.0": 0.88, "2.0": 1.06}
_STRIP = ("objective", "baseline", "samples", "notes")
PagePart = tuple[str, tuple["Block", ...]]
"""Subtitle and content of a page."""
Rated = tuple["Subject", float]
"""Accesses with order, direction, size and depth, and their IOPS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedCell:
    """A cell that moved in the measurement window, of which the verdict says nothing.

    label : as printed. text : how far, as printed. apart : greatest less least round over their average; limit : from
    where on that is a finding.
    """

    label: str
    text: str
    apart: float
    limit: float


@dataclass(frozen=True, kw_only=True)
class Source:
    """A stored test and its run. prefix : begins the names of its figures, such as ``iops-1``."""

    run: StoredRun
    test: StoredTest
    edition: Edition
    prefix: str

    @property
    def name(self) -> str:
        """Its name in the run. Worked: the first IOPS test -> ``"iops"``, the second -> ``"iops-2"``."""
        return self.prefix.removesuffix("-1")

    @property
    def suffix(self) -> str:
        """What tells the files of tests of one name apart. Worked: of the second -> ``_2``."""
        number = self.prefix.rpartition("-")[2]
        return "" if number == "1" else f"_{number}"

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
    def origin(self) -> dict[str, Any]:
        """Run, test, edition and prefix, for a record that adds to them."""
        return {"run": self.run, "test": self.test, "edition": self.edition, "prefix": self.prefix}

    def plan_box(self) -> tuple[Box, ...]:
        """Objective, baseline, samples and notes of the plan, none where it states none of them.

        Of several, those that it does not state are one entry, the last.
        """
        stated = {key: self.run.description.get(key, "").strip() for key in _STRIP}
        entries = [(key.capitalize(), paragraph(text)) for key, text in stated.items() if text]
        if not entries:
            return ()
        if missing := ", ".join(key.capitalize() for key, text in stated.items() if not text):
            entries.append((missing, NOT_STATED))
        return (Box(title="Report", entries=tuple(entries), wide=True),)


def own_tiles(measures: Sequence[Measure]) -> Iterator[Tile]:
    """The first of the key results, a tile each."""
    for slot, one in zip(OWN_SLOTS, (measure for measure in measures if measure.quoted), strict=False):
        yield Tile(slot=slot, title=coded("tile-own", name=one.printed), value=one.identity)


@dataclass(frozen=True, kw_only=True)
class Shown(Source):
    """What a procedure shows of a stored test; everything that has no default is its own.

    findings : what a reader must know before any of its numbers. facts : the test in the words of headers.
    outline : what it did, in one sentence with the lengths and amounts that it was set to. preparation : how the drive
    was prepared; empty where it is as the procedure says.
    title, parts : over each standard page, and the pages. readings : the sentence below a figure by the beginning of
    what follows the prefix in its name. overlaid : figures whose first series is the drive, to be laid over those of
    other drives; their names are the same in every run. drawn : the figures that answer its question, the one that says
    most first; None: those of its pages. sheet : tests that share a page of the report have the same; empty: its name.
    numbers : every measure, whether or not its results are withheld. tiled : the tiles, of the measures.
    seen : insights. remarks : what a reader should know of its numbers that is no warning.
    ruled : what its rule of steady state said. moved : cells that it says nothing of and that moved in the window;
    moved_where : what they have in common. rated : of the measures IOPS that other tests may have at another demand or
    in another order. also_selected : identities beside the key results that the paper form's summary prints.
    demand, settings : what tests of any kind and only tests of this kind are set to do; without a demand that of the
    test's settings. details : further tables for the disclosure on screen.
    tables : of numbers, unrounded, and files in the form of other tools, by name : made when they are written, as those
    of long logs are large.
    distribution : how its response times are spread; None where a test has no such tables.
    shows_withheld : its results are true whatever withholds its rates.
    """

    findings: tuple[Finding, ...] = ()
    facts: TestFacts
    outline: str
    title: str
    parts: Iterable[PagePart]
    numbers: Iterable[Measure]
    settings: tuple[Entry, ...]
    tables: Callable[[], Iterable[ResultTable]]
    demand: tuple[Entry, ...] = ()
    preparation: str = ""
    readings: Mapping[str, str] = field(default_factory=dict)
    overlaid: Iterable[Figure] = ()
    drawn: Iterable[MainFigure] | None = None
    sheet: str = ""
    tiled: Callable[[Sequence[Measure]], Iterable[Tile]] = own_tiles
    seen: Iterable[Insight] = ()
    remarks: tuple[Coded, ...] = ()
    ruled: Ruled = NO_RULE
    moved: tuple[MovedCell, ...] = ()
    moved_where: str = ""
    rated: Callable[[Sequence[Measure]], Iterable[Rated]] = lambda _: ()
    also_selected: frozenset[Any] = frozenset()
    details: tuple[Table, ...] = ()
    files: Callable[[], Iterable[tuple[str, bytes]]] = lambda: ()
    distribution: Distribution | None = None
    shows_withheld: bool = False


@dataclass(frozen=True, kw_only=True)
class TestRecord(Shown):
    """One test, worked out: outputs read it and ask nothing else.

    withheld : why no result of it may be printed; None where they may. verdict : how it came out.
    measures : every number once, the key results first. insights : each with the label of the test.
    checks : every check of it. banner : the warning over every page. steady : whether steady state was reached, with
    what stands beside that. pages : the standard pages, without its summary. figures : of its own page; none where its
    results are withheld.
    """

    __test__ = False

    withheld: Coded | None
    verdict: Verdict
    measures: tuple[Measure, ...]
    tiles: tuple[Tile, ...]
    rates: tuple[Rated, ...]
    insights: tuple[Insight, ...]
    checks: tuple[Checked, ...]
    banner: str | None
    steady: str
    pages: tuple[Page, ...]
    figures: tuple[MainFigure, ...]

    @property
    def key_results(self) -> tuple[Measure, ...]:
        """The numbers that people quote of a drive."""
        return tuple(measure for measure in self.measures if measure.quoted)


def record_of(shown: Shown) -> TestRecord:
    """Work out the record of a test: numbers bounded by the host, withheld where they may not be printed; pages framed.

    Worked: a test with an I/O error -> no value in any measure, and no figure.
    """
    test = shown.test
    stopped = withheld_reason(test)
    withheld = None if shown.shows_withheld else stopped
    verdict = framed(test, shown.ruled, stopped)
    numbers = bounded(test, unless_withheld(withheld, shown.numbers))
    measures = tuple(sorted(numbers, key=lambda one: not one.quoted))
    caveats = annex_caveats(verdict) if shown.ruled.reached and not withheld else ()
    warning = banner(test, shown.findings)
    pages = _pages(shown, verdict, caveats, warning)
    figures: Iterable[MainFigure] = shown.drawn or ()
    if shown.drawn is None:
        own = ((page.subtitle, block) for page in pages for block in page.blocks)
        figures = (
            MainFigure(kind="curve", title=title, figure=replace(figure, name=f"{figure.name}-main"))
            for title, figure in own
            if isinstance(figure, Figure) and figure.kind != "columns"
        )
    declared = {field.name: getattr(shown, field.name) for field in fields(shown)}
    # What was worked out is in fields of the record; an iterator may be read once.
    spent = {"parts": (), "numbers": (), "seen": (), "drawn": ()}
    return TestRecord(
        **declared
        | spent
        | {
            "overlaid": tuple(shown.overlaid),
            "sheet": shown.sheet or shown.name,
            "demand": shown.demand or _demand(test.settings.demand),
        },
        withheld=withheld,
        verdict=verdict,
        measures=measures,
        tiles=tuple(shown.tiled(measures)),
        rates=tuple(shown.rated(measures)),
        insights=tuple(
            replace(insight, tests=(shown.label,)) for insight in (*_shared_insights(shown, stopped), *shown.seen)
        ),
        checks=checks_of(shown.run, test),
        banner=warning,
        steady="; ".join((shown.facts.steady, *caveats)),
        pages=pages,
        figures=()
        if withheld
        else tuple(replace(figure, figure=replace(figure.figure, reading="")) for figure in figures),
    )


def _demand(demand: Demand) -> tuple[Entry, ...]:
    """A demand, and when I/Os are due."""
    arrivals = arrival_label(demand) or "none: as soon as another I/O completes"
    return (("Total OIO - TC/QD", demand_label(demand)), ("Arrivals", arrivals))


def _pages(shown: Shown, verdict: Verdict, caveats: Sequence[str], warning: str | None) -> tuple[Page, ...]:
    """Each part under the test's title, header and banner."""
    facts = replace(shown.facts, convergence="; ".join((shown.facts.convergence, *caveats)))
    head = header(shown.run, shown.test, shown.edition, facts, level_of(verdict))
    # That the host disturbed all parts is in the banner.
    words = host_words(verdict) if not window_disturbed(shown.test) else ""
    note = f"{words} measured parts" if words else ""
    return tuple(
        Page(
            title=shown.title,
            subtitle=subtitle,
            header=head,
            banner=warning,
            notice=note,
            blocks=tuple(_shaped(shown, block) for block in blocks),
        )
        for subtitle, blocks in shown.parts
    )


def _shaped(shown: Shown, block: Block) -> Block:
    if not isinstance(block, Figure):
        return block
    name = block.name.removeprefix(f"{shown.prefix}-")
    best = max((key for key in shown.readings if name.startswith(key)), key=len, default="")
    reading = block.reading or shown.readings.get(best, "")
    return replace(readable_time(block), aspect=block.aspect * _FLATTER[shown.edition.header], reading=reading)


def _shared_insights(source: Source, withheld: Coded | None) -> Iterator[Insight]:
    """Insights of any test: results withheld, a busy host, reads of blocks never written."""
    test = source.test
    if withheld:
        yield insight("withheld", test=source.label, reason=withheld, share=1.0)
    if (disturbed := disturbed_count(test)) and disturbed[0]:
        count, of = disturbed
        worst = host_late_ns_max(test) / MILLISECOND_NS or None
        yield insight("host-interference", count=count, of=of, share=count / of, worst_ms=worst)
    if share := max((check.measured or 0.0 for check in unwritten_reads(test)), default=0.0):
        yield insight("unwritten-reads", share=share)
