"""The summary page, and what stands with it on the first pages: method and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.procedures.conformity_label import deviations
from assay.report.annex.disclosure import drive_entries, platform_entries, settings_entries
from assay.report.first_page.tiles import run_tiles
from assay.spec.units import GB, count_label, duration_label
from assay.summary.insights import in_words, level_of_said
from assay.summary.pages.figures import chosen
from assay.summary.record import Status
from assay.summary.verdict import STATE_WORDS, gravity, level_of, stated, verdict_caveats
from assay.words.coded import coded, quantity
from assay.words.digits import three_digits
from assay.words.merged import merged, shape
from assay.words.printed import UNKNOWN, paragraph, utc
from assay.words.text import sentence, text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.report.first_page.tiles import TileView
    from assay.summary.pages.figures import MainFigure
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Held, HeldNumber, Level, Outcome, RunSummary, State, TestSummary
    from assay.words.coded import Coded, Number


LIMITS_MAX = 8
"""So many limits stand in the strip."""

_LEVELS: dict[Outcome, Level] = {"fail": "bad", "not decided": "unknown", "pass": "good"}
_WORDS: dict[Outcome, str] = {"fail": "missed", "not decided": "not decided", "pass": "met"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitView:
    """One limit as printed. outcome : in a word, by which its level can be known without its colour."""

    name: str
    value: str
    bound: str
    outcome: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitStrip:
    """The limits. counts : in words. level : of all. more : how many are not among the first."""

    counts: str
    level: Level
    limits: tuple[LimitView, ...]
    more: int


def limit_strip(held: Held | None) -> LimitStrip | None:
    """The strip; None of a run that states no limits.

    Worked: nine limits, one of them missed -> that one first, then seven, and one more.
    """
    if held is None:
        return None
    parts = ((held.missed, "missed"), (held.undecided, "not decided"), (held.met, "met"))
    return LimitStrip(
        counts=", ".join(f"{count} {name}" for count, name in parts if count),
        level="bad" if held.missed else "unknown" if held.undecided else "good",
        limits=tuple(map(_view, held.numbers[:LIMITS_MAX])),
        more=max(len(held.numbers) - LIMITS_MAX, 0),
    )


def _view(held_number: HeldNumber) -> LimitView:
    bound = coded(
        "bound-least" if held_number.is_least else "bound-most", bound=_number(held_number.bound, held_number.unit)
    )
    value = _number(held_number.value, held_number.unit)
    return LimitView(
        name=held_number.name,
        value=text(value) if value else "n/a",
        bound=text(bound),
        outcome=_WORDS[held_number.outcome],
        level=_LEVELS[held_number.outcome],
    )


def _number(value: Number | None, unit: str) -> Coded | None:
    """A number with its unit; a count has none. Worked: 3 findings -> ``"3"``."""
    return quantity(value, unit) if unit or value is None else coded("count", value=float(value))


CAVEATS_MAX = 4
"""So many caveats are shown; then how many more there are."""
DEVIATIONS_NAMED = 2

_NEEDS_NO_REASON = {"steady", "no-rule", "not-run"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence with its level. tests : labels of those that it comes from."""

    text: str
    level: Level
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPage:
    """All that the summary page shows, printed.

    name, facts : of the drive and the run. states : label, edition, and how the tests came out. sentence : the gravest
    insight, or what the drive is good for. findings : those behind it. more_caveats : how many are not shown.
    """

    name: str
    facts: tuple[str, ...]
    states: tuple[Said, ...]
    sentence: Said
    tiles: tuple[TileView, ...]
    limits: LimitStrip | None
    figures: tuple[MainFigure, ...]
    findings: tuple[Said, ...]
    caveats: tuple[Said, ...]
    more_caveats: int


def summary_page(run: RunSummary, figures: Iterable[MainFigure]) -> SummaryPage:
    """Lay out the summary of a run. figures : of all its tests, in their order.

    Worked: a client suite -> eight tiles, the curve of write saturation and the matrix, at most four findings.
    """
    caveats = [*_caveats(run)]
    return SummaryPage(
        name=run.model,
        facts=tuple(_facts(run)),
        states=tuple(_states(run)),
        sentence=_sentence(run),
        tiles=run_tiles(run.tests, [one for _, one in run.said], run.claims),
        limits=limit_strip(run.held),
        figures=chosen(figures),
        findings=tuple(_finding(*one) for one in run.said[1:]),
        caveats=tuple(caveats[:CAVEATS_MAX]),
        more_caveats=max(len(caveats) - CAVEATS_MAX, 0),
    )


def _state(test: TestSummary) -> str:
    """How a test came out, without caveats. Worked: ``"steady, rounds 1-5"``."""
    return paragraph(text(stated(test.verdict)))


def _sentence(run: RunSummary) -> Said:
    """What leads; of a run that shows nothing how its first test came out."""
    if run.said:
        return _finding(*run.said[0])
    first = run.tests[0]
    return Said(text=sentence(f"{first.label}: {_state(first)}"), level=level_of(first.verdict))


def _finding(tests: tuple[str, ...], said: Coded) -> Said:
    return Said(text=in_words(said), level=level_of_said(said), tests=tests)


def _facts(run: RunSummary) -> Iterator[str]:
    yield f"{three_digits(run.capacity_bytes / GB)} GB"
    yield from run.facts
    yield utc(run.started_wall_ns)
    yield run.level


def _states(run: RunSummary) -> Iterator[Said]:
    """How far the run conforms, its edition, and how its tests came out."""
    yield Said(text=run.label_class, level=run.label_level)
    yield Said(text=run.edition_title, level="unknown")
    if run.deviations:
        yield Said(text=count_label(len(run.deviations), "deviation"), level="warn")
    yield from _outcomes(run.tests)
    if behind := len(run.skipped) + len(run.not_begun):
        yield Said(text=f"{behind} not run", level="bad" if run.not_begun else "unknown")


def _outcomes(tests: Sequence[TestSummary]) -> Iterator[Said]:
    """Each state once with its tests, the gravest first. Worked: three of four steady -> ``"3 of 4 steady"``."""
    outcomes: dict[State, list[TestSummary]] = {}
    for test in tests:
        outcomes.setdefault(test.verdict.state, []).append(test)
    for state, same in sorted(outcomes.items(), key=lambda pair: gravity(_worst(pair[1]))):
        if state == "no-rule":
            continue
        few = len(tests) == 1 or state in _NEEDS_NO_REASON
        named = f"{len(same)} of {len(tests)} {STATE_WORDS[state]}" if few else f"{_labels(same)} {STATE_WORDS[state]}"
        yield Said(text=STATE_WORDS[state] if len(tests) == 1 else named, level=_worst(same))


def worst(levels: Iterable[Level]) -> Level:
    """The gravest of some levels. Worked: good and warn -> warn."""
    return min(levels, key=gravity)


def _worst(tests: Sequence[TestSummary]) -> Level:
    return worst(level_of(test.verdict) for test in tests)


def _labels(tests: Sequence[TestSummary]) -> str:
    return ", ".join(test.label for test in tests)


def _caveats(run: RunSummary) -> Iterator[Said]:
    """Why tests have no verdict or a bad one, then what concerns the run, the deviations last."""
    for one in sorted(run.tests, key=lambda test: gravity(level_of(test.verdict))):
        if one.verdict.state not in _NEEDS_NO_REASON and one.verdict.reason:
            yield Said(text=f"{one.label}: {_state(one)}", level=level_of(one.verdict))
    for caveat in run.caveats:
        listed = caveat.said.code == "deviations"
        words = deviations_text(run.deviations) if listed else paragraph(text(caveat.said))
        yield Said(text=words, level=caveat.level)
    yield from _of_tests(run.tests)


def _of_tests(tests: Sequence[TestSummary]) -> Iterator[Said]:
    """What is to be known of tests, the gravest first; of one shape once. Worked: ``"ECW, HIR: 3 steps too short"``."""
    told = [
        (test.label, line)
        for test in tests
        for line in (*(Status(level="warn", said=said) for said in verdict_caveats(test.verdict)), *test.caveats)
    ]
    groups: dict[Hashable, list[tuple[str, Status]]] = {}
    for label, line in sorted(told, key=lambda pair: gravity(pair[1].level)):
        groups.setdefault((line.level, shape(line.said)), []).append((label, line))
    for same in groups.values():
        labels = ", ".join(dict.fromkeys(label for label, _ in same))
        words = text(merged([line.said for _, line in same]))
        yield Said(text=f"{labels}: {paragraph(words)}", level=same[0][1].level)


def deviations_text(listed: Sequence[str]) -> str:
    """How many there are, and the first of them. Worked: eleven -> ``"11 deviations: a; b; and 9 more"``."""
    rest = len(listed) - DEVIATIONS_NAMED
    named = "; ".join((*listed[:DEVIATIONS_NAMED], *([f"and {rest} more"] if rest > 0 else [])))
    return f"{count_label(len(listed), 'deviation')}: {named}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A row of the matrix. values : one for each test, empty where it has none. shared : that of all, where it is."""

    name: str
    values: tuple[str, ...]

    @property
    def shared(self) -> str:
        """The value of all tests; empty where they differ. Worked: PTS-C 1.0 in each of four -> ``"PTS-C 1.0"``."""
        return self.values[0] if len(set(self.values)) == 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPage:
    """How the run was made. tests : labels. drive, platform : name and value of what is known."""

    tests: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    deviations: tuple[str, ...]
    drive: tuple[Entry, ...]
    platform: tuple[Entry, ...]


def method_page(run: StoredRun, tests: Sequence[TestRecord]) -> MethodPage:
    """Lay out the method of a run.

    Worked: a client suite -> a column for each of four tests, a row for each parameter that any of them has.
    """
    return MethodPage(
        tests=tuple(test.label for test in tests),
        parameters=_parameters([dict(_of_test(test)) for test in tests]),
        deviations=deviations(run),
        drive=_known(drive_entries(run)),
        platform=_known(platform_entries(run)),
    )


def _of_test(report: TestRecord) -> tuple[Entry, ...]:
    """Purge, outline and settings, as they ran."""
    purge = report.test.purge
    purged = (("Purge", f"{paragraph(purge.method)}, {duration_label(purge.span_ns)}"),) if purge else ()
    return (*purged, *settings_entries(report), ("Extent", paragraph(report.facts.extent)))


def _parameters(tests: Sequence[dict[str, str]]) -> tuple[Parameter, ...]:
    """A row for each name, in the order in which they come, those that all tests share first."""
    names = dict.fromkeys(name for test in tests for name in test)
    rows = [Parameter(name=name, values=tuple(test.get(name, "") for test in tests)) for name in names]
    return tuple(sorted(rows, key=lambda row: not row.shared))


def _known(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple((name, value) for name, value in entries if value != UNKNOWN)
