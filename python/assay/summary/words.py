"""The words of every code, in one table, and how values stand in them."""

from __future__ import annotations

import re
from string import Formatter
from typing import TYPE_CHECKING, Any

from assay.pages.printed import (
    milliseconds_text,
    minutes_label,
    mix_label,
    one_decimal,
    paragraph,
    percent,
    rounds_label,
    size_label,
)
from assay.spec.units import GB, count_label, duration_label, kib_label
from assay.summary import digits
from assay.summary.insight import Subject
from assay.summary.record import Coded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

TEMPLATES: dict[str, str] = {
    # What a number comes from.
    "average-of-rounds": "average of rounds {rounds:rounds}[, {steady}][, {outstanding:,} outstanding]",
    "all-ios-of-rounds": "all I/Os of rounds {rounds:rounds}[, {steady}]",
    "missed": "NOT STEADY",
    "not-steady": "not steady",
    "point": "in {span:duration}; {grid:rate} in the grid[, the most with ART < {limit:g} ms]",
    "in-time": "in {span:duration}",
    "baseline": "verdict samples, steady, {outstanding:,} outstanding",
    "bursts": "mean of {count} bursts of {span:duration}, {outstanding:,} outstanding[; {unrested}]",
    "first-is-least": "the least is the first, with no idle before it",
    "over-baseline": "the burst over the baseline",
    "last-tenth": "mean of its last tenth, {outstanding:,} outstanding",
    "slowest-in": "all groups: in group {group}, minute {minute:,.0f}",
    "last-group": "the last group, in samples of {sample:duration}",
    "first-sample": "up to {minutes:minutes}, {fills:.2f} drive fills; {outstanding:,} outstanding",
    "verdict-samples": "average of the last five verdict samples, {outstanding:,} outstanding",
    "last-sample": "at {fills:.2f} drive fills, not settled; {outstanding:,} outstanding",
    "two-above": "the two above",
    "written": "{fills:.2f} drive fills in {minutes:minutes}",
    "all-samples": "mean of all samples, {outstanding:,} outstanding[; {written}]",
    "last-samples": "mean of the last {share:percent} of the samples, {outstanding:,} outstanding[; {written}]",
    "gb-written": "{amount:gb} GB written, {fills:.2f} drive fills",
    "knee": "the knee of its map",
    "seconds": "{count:,} seconds",
    "corner": "run of {name}, {outstanding} outstanding",
    "off-alignment": "the same four tests, begun at 63 sectors",
    "step": "step {name}",
    "replay": "whole replay",
    "stage": "stage {name}",
    "own-value": "value of the test",
    # How a test came out.
    "state-withheld": "WITHHELD: {reason}",
    "state-cut-short": "CUT SHORT: {reason}",
    "state-not-steady": "NOT STEADY[, {window}]",
    "state-not-settled": "not settled[, {window}]",
    "state-not-judged": "not judged[: {reason}]",
    "state-steady": "steady[, {window}]",
    "state-no-rule": "measured",
    "state-not-run": "not run[: {reason}]",
    "reason": "{reason}",
    "window-rounds": "rounds {first}-{last}",
    "window-minutes": "{start:minutes} to {end:minutes}",
    "few-values": "the rule needs five values",
    "early-end": "ended after {ended:minutes}, the rule needs {needed:minutes}",
    "no-sample": "no sample ran to its end, the rule needs {needed:minutes}",
    "since-void": "fewer than five samples of the rule since a void one",
    "host": "host interference in {count} of {of}",
    "void": "{count:void part}",
    "short": "{count:step} too short",
    "unstable": "{count:untracked cell} unstable",
    # Tiles.
    "tile-own": "{name}",
    "tile-most": "{name}, most IOPS",
    "tile-cell": "{size:kib} {order} {way}",
    "tile-time": "{size:kib} {way} p50, p99.9",
    "tile-settled": "{label} fresh, settled",
    "tile-not-settled": "{label} fresh, last",
    "tile-idle": "Baseline, after {idle:g} s idle",
    "tile-recovery": "Recovery",
    "tile-point": "{point} IOPS",
    # The same under a heading of its own, where the demand stands apart.
    "titled-cell": "{size:block} {order} {way}",
    "titled-time": "{size:block} {way} latency",
    "titled-settled": "Writes, fresh to settled",
    "titled-not-settled": "Writes, fresh to last",
    "titled-idle": "Writes, after {idle:g} s idle",
    "titled-recovery": "Recovery after random writes",
    "titled-point": "{point} point",
    "rounds": "rounds {least} to {most}",
    "rounds-equal": "equal in all rounds",
    "claimed": "claim {bound}: {share:share}",
    "bound-least": "at least {bound}",
    "bound-most": "at most {bound}",
    "count": "{value:,.6g}",
    # What a reader must know of a run.
    "deviations": "{count:deviation}: {listed}",
    "held": "Limits: {met} met, {missed} missed, {undecided} undecided (assay limits RUN)",
    "skipped": "{count:test} not run: {names}",
    "not-begun": "{count:test} not begun: {names}",
    # Why there is none.
    "point-not-run": "n/a: the point did not run",
    "no-baseline": "n/a: no steady baseline, {outstanding:,} outstanding",
    "not-whole": "n/a: not whole",
    "not-recovered": "n/a: not recovered",
    "no-level": "n/a: no settled level",
    "results-withheld": "n/a: results withheld",
    "no-stage": "n/a: no stage ran to its end",
    "few-seconds": "n/a: fewer than {count} I/Os in the median second, too few to judge seconds by",
    "not-whole-run": "n/a: did not run whole",
    "withheld": "n/a: {reason}",
    "few-rounds": "n/a: {count:complete round}, a measurement window needs five",
    "few-beyond": "n/a: fewer than ten I/Os beyond",
    "not-applicable": "N/A",
    # Numbers in a statement.
    "amount": "{value:si} {unit}",
    "throughput": "{value:thousands} MB/s",
    "time": "{value:span}",
    "ratio": "{value:times}",
    # What a drive is good for, where nothing speaks against it.
    "good-for": "{name}: {value}[, {share:share} of its link]",
}
"""Words by code. A name in braces is a value, behind a colon how it is printed: a name in ``PRINTERS``, a noun that is
counted, or a format of Python. What stands in brackets is left out where a value in it is missing.
"""

_ORDERS = {"RND": "random ", "SEQ": "sequential ", None: ""}
_SIDES = {None: "I/Os", 100: "reads", 0: "writes"}


def subject_text(found: Subject) -> str:
    """What an insight is about, in the middle of a sentence.

    Worked: 4 KiB writes at random places at QD 8 -> ``"random 4 KiB writes at QD 8"``; all I/Os -> ``"I/Os"``.
    """
    size = f"{digits.block(found.size_bytes)} " if found.size_bytes else ""
    mix = found.read_pct
    side = _SIDES.get(mix) or f"{mix_label(mix or 0)} I/Os"
    depth = f" at QD {found.depth:,}" if found.depth else ""
    part = f" ({paragraph(found.part)})" if found.part else ""
    return f"{_ORDERS[found.order]}{size}{side}{depth}{part}"


def joined(names: Iterable[str]) -> str:
    """Worked: three names -> ``"Min, Mid and Max"``."""
    *first, last = map(paragraph, names)
    return f"{', '.join(first)} and {last}" if first else last


def sentence(words: str) -> str:
    """Worked: ``"reads stall"`` -> ``"Reads stall."``."""
    return f"{words[:1].upper()}{words[1:]}."


PRINTERS: dict[str, Callable[[Any], str]] = {
    "block": digits.block,
    "duration": duration_label,
    "kib": lambda size_bytes: f"{kib_label(size_bytes)} KiB",
    "gb": lambda amount_bytes: f"{amount_bytes / GB:.1f}",
    "list": joined,
    "minutes": minutes_label,
    "ms": milliseconds_text,
    "nth": digits.nth,
    "percent": percent,
    "rate": one_decimal,
    "rounds": rounds_label,
    "share": digits.share,
    "si": digits.si,
    "size": size_label,
    "span": digits.span,
    "thousands": digits.thousands,
    "times": digits.times,
}
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_NOUN = re.compile(r"[a-z][a-z ]+")


def text(said: Coded, templates: Mapping[str, str] = TEMPLATES) -> str:
    """A statement in words.

    Raises KeyError of a code without words, or a value that the words need and that is missing.
    Worked: ``few-rounds`` with a count of 3 -> ``"n/a: 3 complete rounds, a measurement window needs five"``.
    """
    values = {name: value for name, value in said.values.items() if value is not None}

    def part(match: re.Match[str]) -> str:
        return match[1] if values.keys() >= _names(match[1]) else ""

    return _WORDED.vformat(_OPTIONAL.sub(part, templates[said.code]), (), values)


def _names(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


class _Worded(Formatter):
    """Prints values as the words ask for it."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Coded):
            return text(value)
        if isinstance(value, Subject):
            return subject_text(value)
        if format_spec in PRINTERS:
            return PRINTERS[format_spec](value)
        if _NOUN.fullmatch(format_spec):
            return count_label(value, format_spec)
        return paragraph(value) if isinstance(value, str) else format(value, format_spec)


_WORDED = _Worded()
