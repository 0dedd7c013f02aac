"""The gate for firmware: whether a number got worse by more than a limit and by more than its uncertainty."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay.compare.comparison import number_names
from assay.compare.sides import Side, ratio_of, side_of, uncertainty
from assay.compare.subject import blinded, check_given_once, check_independent, named, subjects_of, with_unlike
from assay.errors import UsageError
from assay.spec.toml_file import read_toml, validated
from assay.spec.units import count_label
from assay.words.printed import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from assay.compare.numbers import Number, NumberName
    from assay.compare.subject import LoadedRun, Subject

Verdict = Literal["pass", "fail", "undecided"]
FALSE_ALARMS = 0.02
"""The share of gates over unchanged drives that may fail by chance, over all gated numbers together."""

_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_PERCENT = 100.0
_SHARE_REMEDY = "write per cent, such as 5%"
_COUNTED: tuple[tuple[Verdict, str], ...] = (("pass", "passed"), ("fail", "failed"), ("undecided", "undecided"))
_EXPLAINED = (
    """A number fails where it is worse than the baseline by more than its limit and by more than its uncertainty.""",
    """Where a difference as large as the limit could not be seen, the gate cannot decide.""",
)

_REPEAT = """To decide, repeat the baseline: five --baseline runs are best (simulated drives: a --seed each). On real
    drives a reference drive of the host also works: assay calibrate --reference DRIVE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which numbers a limit is of.

    test, item, name : patterns with ``*``, of the test (``iops``, ``tp-*``), of the cell as printed (``RND 4KiB*``) and
    of the number's column (``latency_ms_p99.9``). limit : a share, 0.05 for 5 %.
    """

    test: str
    item: str
    name: str
    limit: float

    def holds(self, number: NumberName) -> bool:
        """Whether it is of this number."""
        known = (self.test, {number.shown}), (self.item, {number.label, number.cell_label}), (self.name, number.names)
        return all(any(fnmatchcase(text.lower(), pattern.lower()) for text in texts) for pattern, texts in known)

    @property
    def text(self) -> str:
        """The patterns in words."""
        return f"test {self.test}, item {self.item}, name {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """What is gated. limit : of the numbers that people quote; None gates those of ``rules`` alone.

    rules : further limits; the last that holds for a number counts. despite : unlike runs are not refused, and nothing
    of them can pass.
    """

    limit: float | None
    rules: tuple[Rule, ...] = ()
    despite: bool = False
    blind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """One number of one subject against the baseline.

    worse : by which share it is worse than the baseline, negative where it is better; None where it has no ratio.
    reach : the share by which that may be off, at the confidence of the gate. reason : of the verdict, in words.
    unrepeated : how far the number moves from run to run is not known.
    """

    name: NumberName
    baseline: Side
    side: Side
    limit: float
    verdict: Verdict
    worse: float | None
    reach: float | None
    basis: str
    reason: str
    unrepeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """A gate as a whole. confidence : of every interval, of two sides. left_out : quoted numbers that are not gated."""

    baseline: Subject
    subjects: tuple[Subject, ...]
    gated: tuple[Gated, ...]
    confidence: float
    blind: bool = False
    left_out: tuple[NumberName, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``fail`` where any number fails, else ``undecided`` where one is or nothing was gated, else ``pass``."""
        if self.count("fail"):
            return "fail"
        return "undecided" if self.count("undecided") or not self.gated else "pass"

    def count(self, verdict: Verdict) -> int:
        """How many numbers came out so."""
        return sum(gated.verdict == verdict for gated in self.gated)

    @property
    def explained(self) -> tuple[str, ...]:
        """What was gated and how it was decided, as sentences for every output."""
        counts = ", ".join(f"{self.count(verdict)} {word}" for verdict, word in _COUNTED)
        sure, alarms = share(self.confidence), share(FALSE_ALARMS)
        return (
            f"{count_label(len(self.gated), 'gated number')}: {counts}.",
            *_EXPLAINED,
            *((" ".join(_REPEAT.split()),) if any(gated.unrepeated for gated in self.gated) else ()),
            f"Each uncertainty holds with {sure}: at most {alarms} of gates of equal drives fail by chance.",
        )


def run_gate(baseline: Sequence[LoadedRun], runs: Sequence[LoadedRun], options: GateOptions) -> GateResult:
    """Hold runs against the runs of a baseline, which are repeats of one measurement.

    Runs of one drive and firmware are repeats of each other, too.
    Raises UsageError where a run is given twice or a rule holds for no number; UnlikeRunsError as ``compare_runs``.
    """
    check_given_once((*baseline, *runs))
    check_independent(baseline)
    all_subjects = _subjects(tuple(baseline), subjects_of(runs, repeats=True), options.blind)
    first, *subjects = with_unlike(all_subjects, despite=options.despite, blind=options.blind is not None)
    names = number_names((first, *subjects))
    limits = gated_numbers(names, (first, *subjects), options)
    confidence = gate_confidence(len(limits) * len(subjects))
    held = {name for name, _ in limits}
    gated = tuple(
        _gated(side_of(first, name), side_of(subject, name), name, limit, confidence)
        for subject in subjects
        for name, limit in limits
    )
    return GateResult(
        baseline=first, subjects=tuple(subjects), gated=gated, confidence=confidence,
        blind=options.blind is not None,
        left_out=tuple(name for name in names if name.quoted and name.better != "neither" and name not in held),
    )  # fmt: skip


def gate_confidence(count: int) -> float:
    """The confidence of each interval, so that by chance alone one gate in 50 fails at most, however many numbers.

    A number can fail on one side only, so that of two sides twice the share is left out.
    Worked: 8 numbers -> 1 - 2 x 0.02 / 8 = 0.995.
    """
    return 1 - 2 * FALSE_ALARMS / max(count, 1)


def gated_numbers(
    names: Sequence[NumberName], subjects: Sequence[Subject], options: GateOptions
) -> list[tuple[NumberName, float]]:
    """The numbers that are gated, with their limits.

    subjects : the baseline, then those that are held against it.
    By default those that people quote and that are averages of rounds; of a test that has none of these, its quoted
    averages; none that no run has. A rule adds the numbers that it holds for.
    """
    numbers = {} if options.limit is None else dict.fromkeys(_quoted(names, subjects), options.limit)
    for rule in options.rules:
        held = [name for name in names if rule.holds(name) and name.better != "neither"]
        if not held:
            tests = ", ".join(dict.fromkeys(name.shown.lower() for name in names))
            remedy = f"take the limit out or run its test; tests are {tests}; assay compare RUN RUN --json has every "
            reason = "is no number of these runs that can be better or worse"
            raise UsageError(rule.text, reason, f"{remedy}item and name")
        numbers |= dict.fromkeys(held, rule.limit)
    return [(name, numbers[name]) for name in names if name in numbers]


def _quoted(names: Sequence[NumberName], subjects: Sequence[Subject]) -> Iterator[NumberName]:
    averages = [name for name in names if name.quoted and name.better != "neither" and name.stat == "mean"]
    averages = [
        average for average in averages if any(each.state != "no value" for each in _numbers(subjects, average))
    ]
    by_rounds = {average for average in averages if any(each.rounds for each in _numbers(subjects[:1], average))}
    with_rounds = {by_round.test for by_round in by_rounds}
    yield from (average for average in averages if average in by_rounds or average.test not in with_rounds)


def _numbers(subjects: Sequence[Subject], name: NumberName) -> Iterator[Number]:
    """A number in every run that has it."""
    numbers = (run.numbers.get(name.key) for subject in subjects for run in subject.runs)
    return (number for number in numbers if number is not None)


def _subjects(
    baseline: tuple[LoadedRun, ...], groups: Sequence[tuple[LoadedRun, ...]], blind: str | None
) -> tuple[Subject, ...]:
    """The baseline, then what is held against it."""
    letters = named((baseline, *groups))
    if blind is None:
        return letters
    # The baseline is known by its place, which is no identity.
    hidden = (*blinded([baseline], blind), *blinded(groups, blind))
    return tuple(replace(subject, letter=known.letter) for subject, known in zip(hidden, letters, strict=True))


def _gated(baseline: Side, side: Side, name: NumberName, limit: float, confidence: float) -> Gated:
    known, ratio = uncertainty(baseline, side, name), ratio_of(baseline, side)
    worse, reach, widest = worse_by(name, ratio), known.share(confidence), known.widest(confidence)
    apart = side.subject.unlike_in(name.shown)
    verdict: Verdict
    if apart:
        verdict, reason = "undecided", f"cannot decide: made under other conditions ({apart[0].what})"
    elif worse is None:
        verdict, reason = "undecided", f"cannot decide: {_no_ratio(baseline, side)}"
    elif not known.repeatable or reach is None:
        # Where it is not known how far a number moves from run to run, it neither passes nor fails.
        verdict = "undecided"
        reason = f"cannot decide: {_change(worse)}, limit {share(limit)}, but {known.reason}"
    else:
        verdict, reason = decide(worse, reach, limit)
    return Gated(
        name=name,
        baseline=baseline,
        side=side,
        limit=limit,
        verdict=verdict,
        worse=worse,
        reach=reach,
        basis=widest.basis if widest else known.reason,
        reason=reason,
        unrepeated=verdict == "undecided" and bool(known.spreads) and not known.repeatable,
    )


def worse_by(name: NumberName, ratio: float | None) -> float | None:
    """By which share a ratio is worse, whatever the better direction.

    Worked: 95 of 100 IOPS -> 0.05; 1.05 of 1.00 ms -> 0.05; 1.00 of 1.05 ms -> -0.048.
    """
    if ratio is None:
        return None
    return 1 - ratio if name.better == "higher" else ratio - 1


def decide(worse: float, reach: float, limit: float) -> tuple[Verdict, str]:
    """Whether a number passes, with the reason.

    It fails where it is worse by more than the limit and by more than its uncertainty. Where a difference as large as
    the limit could not be seen, and the number is not better for certain, nothing can be decided.
    Worked at a limit of 5 %: worse by 8 % with 2 % -> fail; worse by 8 % with 9 % or by 1 % with 7 % -> undecided;
    worse by 1 % with 2 % -> pass; better by 10 % with 7 % -> pass.
    """
    if worse > limit and worse > reach:
        return "fail", f"worse by {share(worse)}, more than the limit of {share(limit)} and uncertainty {share(reach)}"
    if reach > limit and worse + reach > limit:
        return "undecided", f"cannot decide: uncertainty {share(reach)}, limit {share(limit)}"
    return "pass", f"{_change(worse)}, limit {share(limit)}, uncertainty {share(reach)}"


def share(value: float) -> str:
    """Print a share in per cent. Worked: 0.0512 -> ``5.12 %``."""
    return f"{value:.2%}".replace("%", " %")


def _change(worse: float) -> str:
    return f"worse by {share(worse)}" if worse > 0 else f"better by {share(-worse)}" if worse < 0 else "the same"


def _no_ratio(baseline: Side, side: Side) -> str:
    if not baseline.counts:
        return f"{baseline.reason or 'n/a'} in the baseline"
    return f"{side.reason or 'n/a'} in {side.subject.letter}"


def gated_cells(gated: Gated) -> tuple[str, str, str, str]:
    """Change, better with a plus, limit, uncertainty and reason of a line, as every table has them.

    Worked: worse by 0.0512 of 0.05 allowed, without rounds -> ``-5.12 %``, ``5.00 %``, ``n/a`` and why.
    """
    change = NOT_AVAILABLE if gated.worse is None else f"{-gated.worse:+z.2%}".replace("%", " %")
    return change, share(gated.limit), NOT_AVAILABLE if gated.reach is None else share(gated.reach), gated.reason


def gated_label(gated: Gated) -> str:
    """The number of a line of the gate. Worked: ``IOPS, RND 4KiB R (IOPS)``."""
    return f"{gated.name.shown}, {gated.name.label}{gated.name.what} ({gated.name.unit})"


def share_of(text: str) -> float:
    """The share that a text in per cent states. Worked: ``"5%"`` and ``"5 %"`` -> 0.05.

    Raises ValueError where it is none, or is not above zero and up to 100 %.
    """
    match = _SHARE.fullmatch(text)
    value = float(match[1]) / _PERCENT if match else 0.0
    if not 0 < value <= 1:
        raise ValueError("is no share above 0 % and up to 100 %")
    return value


def limit_of(text: str, thing: str) -> float:
    """The share that an option states in per cent. thing : the option. Raises UsageError."""
    try:
        return share_of(text)
    except ValueError as error:
        raise UsageError(f"{thing} {text}", str(error), _SHARE_REMEDY) from None


def _valid_share(text: str) -> str:
    share_of(text)
    return text


_Share = Annotated[str, Field(max_length=20), AfterValidator(_valid_share)]
_Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class _Limit(BaseModel):
    """One limit: of which numbers, and how large."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    test: _Pattern = "*"
    item: _Pattern = "*"
    name: _Pattern = "*"
    fail_over: _Share


class GateFile(BaseModel):
    """A gate file. fail_over : of the numbers that people quote; without it only those of ``limit`` are gated."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: Literal[1] = Field(default=1, alias="schema")
    fail_over: _Share | None = None
    limit: list[_Limit] = Field(default_factory=list, max_length=200)


def load_gate(path: Path) -> tuple[float | None, tuple[Rule, ...]]:
    """The limit of the numbers that people quote, and the rules, of a gate file.

    Raises PlanError with the place of every fault; UsageError where the file limits nothing.
    Worked: ``fail_over = "5%"`` -> 0.05 and no rule.
    """
    table, positions = read_toml(path)
    result = validated(GateFile, path, table, positions)
    if result.fail_over is None and not result.limit:
        raise UsageError(str(path), "limits nothing", 'write fail_over = "5%", or a table [[limit]]')
    rules = tuple(
        Rule(test=entry.test, item=entry.item, name=entry.name, limit=share_of(entry.fail_over))
        for entry in result.limit
    )
    return None if result.fail_over is None else share_of(result.fail_over), rules
