"""The kinds of insights in one table: how grave, how large, from where on, and in which words.

A new kind is an entry here, and whoever raises it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay.summary.insight import KindName

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


def _disturbed(values: Mapping[str, Any]) -> int:
    return INVALID if values["count"] == values["of"] else DOUBT


def _unstable(values: Mapping[str, Any]) -> int:
    return DOUBT if values["share"] > _CELLS_SHARE and values.get("only") is None else FACT


_CELLS_SHARE = 0.1
"""Share of all cells above which moved ones are a doubt of the whole test."""

KINDS: dict[KindName, Kind] = {
    "withheld": Kind(harm=INVALID, size="share", words="results of {test} are withheld: {reason}"),
    "unwritten-reads": Kind(
        harm=INVALID, size="share", least={"share": 0.01}, words="{share:share} of the reads met blocks never written"
    ),
    "host-interference": Kind(
        harm=_disturbed,
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
        harm=_unstable,
        words="{count:untracked cell} varied by more than {limit:share}[, in round {only} only][, most {worst:share}]",
    ),
}  # fmt: skip
"""Every kind, by name; of equal rank the first in this order is the graver."""
