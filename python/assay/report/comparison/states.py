"""How each test of each drive came out: a word or two with the level that its colour follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.report.comparison.words import remark_sentence, worded
from assay.summary.pages.model import Table
from assay.summary.ranking import is_raised
from assay.summary.verdict import STATE_WORDS, beside, gravity, level_of
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.compare.comparison import Comparison
    from assay.compare.subject import Subject
    from assay.compare.summary import Remark
    from assay.summary.pages.test_report import TestReport
    from assay.summary.record import Level, State
    from assay.words.coded import Coded

SETTLED: frozenset[State] = frozenset({"steady", "no-rule"})
"""Of other tests the dots are hollow."""
_NO_RESULT: frozenset[State] = frozenset({"withheld", "cut-short", "not-run"})
_BESIDE_MAX = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TestState:
    """How one test of one drive came out. beside : what a reader must know besides, gravest first."""

    state: State
    level: Level
    beside: tuple[Coded, ...] = ()

    @property
    def text(self) -> str:
        """In words. Worked: ``steady, 8 cells unstable``."""
        return ", ".join((STATE_WORDS[self.state], *map(worded, self.beside)))


NOT_RUN = TestState(state="not-run", level="unknown")


def test_states(comparison: Comparison) -> dict[str, dict[str, TestState]]:
    """How every test came out, by the letter of the drive and the name of the test."""
    return {
        subject.letter: {
            test: _with_apart(_of_subject(subject, test), subject, shown) for test, shown in comparison.tests
        }
        for subject in comparison.subjects
    }


def _with_apart(state: TestState, subject: Subject, shown: str) -> TestState:
    """A state with the first condition for which the drive stands apart in this test."""
    unlike = subject.unlike_in(shown)
    if not unlike or state.state in _NO_RESULT:
        return state
    return replace(state, level="unknown", beside=(coded("apart", what=unlike[0].what),))


def drives_table(comparison: Comparison, said: Sequence[Remark]) -> Table:
    """A row per drive: one sentence that compares it, and how each of its tests came out."""
    states = test_states(comparison)
    rows = tuple(
        (
            remark.subject.title,
            remark_sentence(remark, _failed(comparison, states[remark.subject.letter])),
            *(states[remark.subject.letter][test].text for test, _ in comparison.tests),
        )
        for remark in said
    )
    columns = ("Drive", "Compared", *(shown for _, shown in comparison.tests))
    levels = tuple(
        (line, place, states[remark.subject.letter][test].level)
        for line, remark in enumerate(said)
        for place, (test, _) in enumerate(comparison.tests, 2)
    )
    return Table(caption="Drives", columns=columns, rows=rows, levels=levels)


def _failed(comparison: Comparison, states: Mapping[str, TestState]) -> str:
    """The tests that have no result, for a sentence. Worked: ``IOPS withheld, TP-128 cut short``."""
    listed = ((shown, states[test].state) for test, shown in comparison.tests)
    return (
        ", ".join(f"{shown} {STATE_WORDS[state]}" for shown, state in listed if state in _NO_RESULT)
        or "other conditions"
    )


def _of_subject(subject: Subject, test: str) -> TestState:
    """Of repeats the gravest."""
    reports = [next((one for one in run.tests if one.prefix == test), None) for run in subject.runs]
    states = [_of_test(report) if report else NOT_RUN for report in reports]
    return min(states, key=lambda state: (state.state not in _NO_RESULT, gravity(state.level)))


def _of_test(report: TestReport) -> TestState:
    verdict = report.verdict
    if verdict.state in _NO_RESULT:
        return TestState(state=verdict.state, level=level_of(verdict))
    stalls = tuple(_stalls(report))
    level: Level = "bad" if stalls else level_of(verdict)
    return TestState(state=verdict.state, level=level, beside=(*stalls, *beside(verdict))[:_BESIDE_MAX])


def _stalls(report: TestReport) -> Iterator[Coded]:
    """The longest time for which the drive stood still, where that is worth knowing."""
    stalls = [insight for insight in report.insights() if insight.kind == "stalls" and is_raised(insight)]
    if stalls:
        yield coded("stalls", longest_ms=max(stall.values["longest_ms"] for stall in stalls))
