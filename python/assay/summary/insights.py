"""What a good analyst would say of a run, as records: the kinds in one table, ranked by harm, and in words.

A new kind is an entry of the table, and whoever raises it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from math import log10
from typing import TYPE_CHECKING, Any, Literal

from assay.words.coded import ALL_IOS, Coded, Subject, coded, subject_text
from assay.words.text import joined, sentence, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.summary.record import Level


KindName = Literal[
    "withheld", "unwritten-reads", "host-interference", "held-against-missed", "stalls", "not-steady",
    "still-falling", "settled-fall", "tail", "mixed-penalty", "transfer-penalty", "slow-recovery", "uneven-seconds",
    "rate-missed", "setting-effect", "tests-disagree", "unstable-cells", "baseline-change", "limit", "far-below",
    "saturates", "no-gain-by-depth", "sequential-gain", "indistinct", "idle-gain", "idle-no-gain", "rate-kept",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """One thing worth knowing. tests : labels of those that it comes from. values : unrounded; None where missing.

    also : further ones of the same kind that are less grave.
    """

    kind: KindName
    values: Mapping[str, Any] = field(default_factory=dict)
    subject: Subject = ALL_IOS
    tests: tuple[str, ...] = ()
    also: tuple[Insight, ...] = ()


def insight(kind: KindName, subject: Subject = ALL_IOS, **values: Any) -> Insight:
    """An insight of one test, which adds its label. Worked: ``insight("unwritten-reads", share=0.4)``."""
    return Insight(kind=kind, subject=subject, values=values)


INVALID, FAILS, WILL_NOT_STAY, COSTS, DOUBT, FACT = 6, 5, 4, 3, 2, 1
"""Classes of harm to whoever uses the drive or its numbers."""

_MS, _TIMES = 6.0, 4.0
"""Decades from 1 ms and from 1x over which a magnitude is spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of insight.

    harm : its class, or how its values give that. words : the template, as in the table of words, without full stop.
    also : likewise of each further one of its kind.
    size : the value that is its magnitude within the class. decades : of that above 1, where it is taken as a
    logarithm; 0 where it is a share.
    leads : it is the sentence of a run in which nothing is worse than a fact.
    least, most : floors by value: it is raised from the least on and up to the most; a value that is missing has none.
    """

    harm: int | Callable[[Mapping[str, Any]], int]
    words: str
    also: str = "{subject}"
    size: str = ""
    decades: float = 0.0
    leads: bool = False
    least: Mapping[str, float] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)


_CELLS_SHARE = 0.1
"""Share of all cells above which moved ones are a doubt of the whole test."""

KINDS: dict[KindName, Kind] = {
    "withheld": Kind(harm=INVALID, size="share", words="results of {test} are withheld: {reason}"),
    "unwritten-reads": Kind(
        harm=INVALID, size="share", least={"share": 0.01}, words="{share:share} of the reads met blocks never written"
    ),
    "host-interference": Kind(
        harm=lambda values: INVALID if values["count"] == values["of"] else DOUBT,
        size="share",
        words="host interference in {count} of {of:measured part}[, worst {worst_ms:span}]",
    ),
    "held-against-missed": Kind(
        harm=FAILS,
        size="share",
        words="{failed} of {of} {held} missed[, worst {worst}][: {measured} for {bound}]"
        "[; {undecided} not judged]",
    ),
    "stalls": Kind(
        harm=FAILS,
        size="longest_ms",
        decades=_MS,
        least={"longest_ms": 100, "ratio": 10},
        also="{subject} ({longest_ms:span})",
        words="{subject} stall: {count:time} for up to {longest_ms:span}[, {share:share} of the time]",
    ),
    "not-steady": Kind(
        harm=WILL_NOT_STAY,
        size="worst",
        words="{subject} did not get steady in {rounds:round}"
        "[: varied by {excursion:share}, {allowed:share} is allowed]"
        "[: drifted by {drift:share}, {drift_allowed:share} is allowed]",
    ),
    "still-falling": Kind(
        harm=WILL_NOT_STAY,
        size="lost",
        least={"per_fill": 0.1},
        also="{subject} (by {per_fill:share})",
        words="{subject} drop to [{kept:share} of fresh][{kept_of_first:share} of the first sample] and still fall by "
        "{per_fill:share} per drive fill",
    ),
    "settled-fall": Kind(
        harm=COSTS,
        size="lost",
        least={"lost": 0.2},
        words="sustained {subject} keep [{kept:share} of fresh speed][{kept_of_first:share} of the first sample] "
        "({first:si} to {settled:si} IOPS)",
    ),
    "tail": Kind(
        harm=COSTS,
        size="slow_ms",
        decades=_MS,
        least={"slow_ms": 1, "ratio": 10},
        also="{subject} ({share:nth} {slow_ms:span})",
        words="{subject} wait: median {median_ms:span}, {share:nth} {slow_ms:span} ({ratio:times})"
        "[, slowest {slowest_ms:span}]",
    ),
    "mixed-penalty": Kind(
        harm=COSTS,
        size="cost",
        least={"cost": 0.1},
        also="{subject} ({cost:share})",
        words="{writes:share} writes cost {cost:share} of the IOPS of {subject}",
    ),
    "transfer-penalty": Kind(
        harm=COSTS,
        size="times",
        decades=_TIMES,
        least={"times": 2},
        also="{subject} ({times:times})",
        words="{subject} take {times:times} as long as those of {other:block}",
    ),
    "slow-recovery": Kind(
        harm=COSTS,
        size="lost",
        least={"lasting_ms": 30_000},
        most={"kept": 0.9},
        also="{subject} (at {kept:share})",
        words="after {before}, {subject} restart at {kept:share}[ and recover in {recovered_ms:span}]"
        "[ and do not recover in {within_ms:span}]",
    ),
    "uneven-seconds": Kind(
        harm=COSTS,
        size="uneven",
        most={"near": 0.9},
        words="{subject}: only {near:share} of seconds lie within {band:share} of the median"
        "[, the worst at {worst:share}]",
    ),
    "rate-missed": Kind(
        harm=COSTS,
        size="lost",
        most={"kept": 0.99},
        words="{subject} kept {kept:share} of the target rate of {rate:si} IOPS",
    ),
    "setting-effect": Kind(
        harm=COSTS,
        size="times",
        decades=_TIMES,
        least={"times": 1.2},
        words="{best}: {times:times} the IOPS of {worst} ({high:si} to {low:si})",
    ),
    "tests-disagree": Kind(
        harm=DOUBT,
        size="apart",
        least={"apart": 0.25},
        words="{first} and {second} differ by {apart:share} in {subject}[ ({conditions})]",
    ),
    "baseline-change": Kind(
        harm=DOUBT,
        size="worst",
        least={"worst": 0.05},
        words="{worse} of {of:number} worse than the baseline, most {name} by {worst:share}[; {better} better]",
    ),
    "limit": Kind(
        harm=FACT,
        least={"share": 0.85},
        words="{subject}[ run at the link: {rate:thousands} of {link:thousands} MB/s][ from {size:block} up]"
        "[: command-limited to {up_to:block} ({iops:si} IOPS), bandwidth-limited above ({most:thousands} MB/s)]",
    ),
    "far-below": Kind(
        harm=FACT, leads=True, most={"busy": 0.1}, words="the drive was busy at most {busy:share} of the time"
    ),
    "rate-kept": Kind(
        harm=FACT,
        leads=True,
        least={"kept": 0.99},
        words="{count:paced stream} kept the target rate[, at most {late_ms:span} late]"
        "[; {stream} reached {rate:si} IOPS][, p99 {p99_ms:span}]",
    ),
    "saturates": Kind(
        harm=FACT,
        least={"gain": 1.2},
        also="{subject} (QD {depth:,})",
        words="{subject} saturate at QD {depth:,} ({rate:si} IOPS, {gain:times} QD {shallow:,})"
        "[; QD {deepest:,} only adds latency][ ({wait_ms:span})]",
    ),
    "no-gain-by-depth": Kind(harm=FACT, words="{subject} gain nothing from QD {depth:,} over QD {shallow:,}"),
    "sequential-gain": Kind(
        harm=FACT,
        size="times",
        decades=_TIMES,
        least={"times": 1.5},
        also="{subject} ({times:times})",
        words="{subject} move {times:times} the MB/s of random ones[ (QD {depth:,} against {other_depth:,})]",
    ),
    "idle-gain": Kind(
        harm=FACT,
        size="gain",
        least={"gain": 0.02},
        words="{idle_ms:span} idle gains {gain:share}[; up to {same_ms:span} idle gains nothing more]",
    ),
    "idle-no-gain": Kind(
        harm=FACT, words="idle up to {longest_ms:span} gains nothing ({least:change} to {most:change})"
    ),
    "indistinct": Kind(harm=FACT, words="{names:list} are indistinguishable: the drive is saturated"),
    "unstable-cells": Kind(
        harm=lambda values: (
            DOUBT if values["share"] > _CELLS_SHARE and values.get("only") is None else FACT
        ),
        words="{count:untracked cell} varied by more than {limit:share}[, in round {only} only][, most {worst:share}]",
    ),
}  # fmt: skip
"""Every kind, by name; of equal rank the first in this order is the graver."""


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
    """The severity of a statement; good if it is no insight. Worked: ``stalls`` -> bad, ``good-for`` -> good."""
    kind = _kind_of(statement)
    return level(Insight(kind=kind, values=statement.values)) if kind else "good"


def is_raised(insight: Insight) -> bool:
    """Whether it reaches every floor of its kind. Worked: 9 % of reads lost to writes -> no; 10 % -> yes."""
    kind = KINDS[insight.kind]
    least = all(value >= floor for floor, value in _bounded(kind.least, insight.values))
    return least and all(value < floor for floor, value in _bounded(kind.most, insight.values))


def ordered(insights: Iterable[Insight]) -> tuple[Insight, ...]:
    """The insights that are raised and not silenced, one of a kind for the same tests and class, the gravest first.

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
