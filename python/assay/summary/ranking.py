"""Insights by harm: which are raised, in which order, what leads, and in words."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import log10
from typing import TYPE_CHECKING, Any

from assay.summary.insight import Insight, KindName
from assay.summary.insights import COSTS, DOUBT, FACT, FAILS, INVALID, KINDS, WILL_NOT_STAY
from assay.words.coded import Coded, coded
from assay.words.subject import subject_text
from assay.words.text import joined, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.summary.record import Level

TEST_MAX, RUN_MAX = 3, 5
"""So many insights of a test, and of a run, are shown."""

_ALSO_MAX = 2
"""So many further subjects are named."""
_BELOW_ONE = 0.999
_LEVELS: dict[int, Level] = {
    INVALID: "bad", FAILS: "bad", WILL_NOT_STAY: "warn", COSTS: "warn", DOUBT: "unknown", FACT: "good"
}  # fmt: skip
_SILENCED = (COSTS, FACT)
_PLACES = {name: index for index, name in enumerate(KINDS)}


def harm(insight: Insight) -> int:
    """Its class, 1 to 6. Worked: host interference in 2 of 5 parts -> 2, in all -> 6."""
    result = KINDS[insight.kind].harm
    return result if isinstance(result, int) else result(insight.values)


def magnitude(insight: Insight) -> float:
    """How large it is within its class, in [0, 1). Worked: a stall of 400 ms -> log10(400) / 6 = 0.434."""
    kind = KINDS[insight.kind]
    size = float(insight.values.get(kind.size) or 0.0) if kind.size else 0.0
    result = log10(max(size, 1.0)) / kind.decades if kind.decades else size
    return min(max(result, 0.0), _BELOW_ONE)


def rank(insight: Insight) -> float:
    """Class plus magnitude: the greater, the graver. Worked: 5 % writes that cost 31 % of the reads -> 3.31."""
    return harm(insight) + magnitude(insight)


def level(insight: Insight) -> Level:
    """The severity that sets its colour."""
    return _LEVELS[harm(insight)]


def level_of_said(statement: Coded) -> Level:
    """The same of a statement; good of one that is no insight. Worked: ``stalls`` -> ``bad``, ``good-for`` -> good."""
    kind = _kind_of(statement)
    return level(Insight(kind=kind, values=statement.values)) if kind else "good"


def is_raised(insight: Insight) -> bool:
    """Whether it reaches every floor of its kind. Worked: 9 % of reads lost to writes -> no; 10 % -> yes."""
    kind = KINDS[insight.kind]
    least = all(value >= floor for floor, value in _bounded(kind.least, insight.values))
    return least and all(value < floor for floor, value in _bounded(kind.most, insight.values))


def ordered(insights: Iterable[Insight]) -> tuple[Insight, ...]:
    """Those that are raised and not silenced, one of a kind for the same tests and class, the gravest first.

    A test that did not get steady has no costs and no facts.
    """
    raised = [insight for insight in insights if is_raised(insight)]
    restless = {test for one in raised if one.kind == "not-steady" for test in one.tests}
    heard = [one for one in raised if harm(one) not in _SILENCED or not restless.intersection(one.tests)]
    return tuple(sorted(_merged(heard), key=_order))


def lead(insights: Sequence[Insight], strength: Coded | None = None) -> Coded | None:
    """What the sentence of a run says: the gravest, or what the drive is good for where nothing is worse than a fact.

    insights : ordered. strength : what it is good for, None where no number is known.
    """
    gravest = said(insights[0]) if insights else None
    return strength if strength and (not insights or harm(insights[0]) < DOUBT) else gravest


def said(insight: Insight) -> Coded:
    """An insight as a statement, its words those of its kind."""
    others = {subject_text(each.subject): coded("also", subject=each.subject, **each.values) for each in insight.also}
    others.pop(subject_text(insight.subject), None)
    return coded(insight.kind, **{"subject": insight.subject, **insight.values, "also": tuple(others.values()) or None})


def in_words(statement: Coded) -> str:
    """A statement as a sentence: an insight's words and what else it is about, or the words of another code."""
    kind = _kind_of(statement)
    if kind is None:
        return sentence(text(statement))
    words: dict[str, str] = {kind: KINDS[kind].words, "also": KINDS[kind].also}
    others = [text(one, words) for one in statement.values.get("also") or ()]
    rest = [f"{len(others) - _ALSO_MAX} more"] if others[_ALSO_MAX:] else []
    also = f"; also {joined([*others[:_ALSO_MAX], *rest])}" if others else ""
    return sentence(f"{text(statement, words)}{also}")


def _kind_of(statement: Coded) -> KindName | None:
    """The kind of insight that a statement is; None of another."""
    return next((name for name in KINDS if name == statement.code), None)


def _bounded(floors: Mapping[str, float], values: Mapping[str, Any]) -> Iterator[tuple[float, Any]]:
    return ((floor, values[name]) for name, floor in floors.items() if values.get(name) is not None)


def _order(insight: Insight) -> tuple[float, int]:
    return -rank(insight), _PLACES[insight.kind]


def _merged(insights: Iterable[Insight]) -> Iterator[Insight]:
    """The gravest of each kind and class; the others add their subjects and tests to it."""
    for _, same in groupby(sorted(insights, key=_same), key=_same):
        first, *others = sorted(same, key=_order)
        tests = dict.fromkeys(test for other in (first, *others) for test in other.tests)
        also = (each for other in others for each in (replace(other, also=()), *other.also))
        yield replace(first, tests=tuple(tests), also=(*first.also, *also))


def _same(insight: Insight) -> tuple[int, int, str]:
    apart = str(insight.values.get("test", "")) if insight.kind == "withheld" else ""
    return _PLACES[insight.kind], harm(insight), apart
