"""Holds a stored run against limits and claims, and counts the verdicts.

Numbers are compared as they are, not as they are printed. ``judge`` makes a ``ShownLimit`` of every number that a limit
or a claim is about; ``held_of_plan`` counts those of the run's own plan.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from assay.compare.limits.model import TEMPERATURE, limits_of_plan
from assay.errors import EXIT_NOT_MET, AssayError, joined
from assay.procedures.run_findings import run_findings
from assay.results.ended import missed_steady_state
from assay.results.outcome import withheld_reason
from assay.spec.nearest import did_you_mean
from assay.summary.forms import Facts
from assay.summary.measures import key_of_unit, measure_words, short_name
from assay.summary.record import Held, HeldNumber, Missed
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.compare.limits.model import LimitEntry, Limits
    from assay.engine.records import DriveCondition, StoredRun
    from assay.errors import UsageError
    from assay.summary.findings import Found
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure, Outcome


_TB = 10**12
_TOO_FEW = "n/a: no value, or too few I/Os lie beyond the percentile"
_ORDER: tuple[Outcome, ...] = ("fail", "not decided", "pass")
_MET: dict[bool | None, Outcome] = {True: "pass", False: "fail", None: "not decided"}


class ShownLimit(Facts):
    """One number held against one limit."""

    kind: Literal["limit", "claim"] = Field(description="A limit, or what the data sheet claims.")
    id: str = Field(description="Of the requirement; for a claim its key in the plan.")
    text: str = Field(description="Of the requirement.")
    test: str = Field(description="The test; empty for all of the run.")
    where: str = Field(description="The cell or item that it is of.")
    name: str = Field(description="The number, as assay.load names it, or the health value, or the kind of finding.")
    unit: str = Field(description="Its unit; empty for counts and health values.")
    at_least: float | None = Field(description="The bound from below; those for each TB multiplied by the capacity.")
    at_most: float | None = Field(description="The bound from above, likewise.")
    per_tb: float | None = Field(description="The bound for each TB of user capacity; null where it is absolute.")
    value: float | None = Field(description="What was measured, unrounded; null where there is none.")
    verdict: Literal["pass", "fail", "not decided"] = Field(description="not decided is never a pass.")
    reason: str = Field(description="Why it is not decided; empty where it is.")

    @property
    def is_least(self) -> bool:
        """Whether the bound that is missed, or the only one, is one from below."""
        return self.at_least is not None and (self.at_most is None or (self.value or 0.0) < self.at_least)

    @property
    def bound(self) -> float:
        """The bound that is missed, or the only one."""
        return (self.at_least if self.is_least else self.at_most) or 0.0

    @property
    def apart(self) -> float:
        """How many times beyond its bound the value is, below 1 within it. Worked: 1 ms for at most 2 ms -> 0.5."""
        if self.value is None:
            return 0.0
        low, high = sorted((abs(self.value), abs(self.bound)))
        times = high / low if low else inf if high else 1.0
        return times if verdict_of(self.value, self.at_least, self.at_most) == "fail" else 1 / times


class _UnknownNameError(Exception):
    """A name that a test does not have. The arguments are key, reason and remedy."""


def judge(run: StoredRun, tests: Sequence[TestRecord], limits: Limits) -> tuple[ShownLimit, ...]:
    """Hold a run against limits and what its data sheet claims, in their order.

    Raises UsageError naming every limit of a cell or number that its test does not have.
    """
    findings = run_findings(run, tests) if any(entry.kind == "findings" for entry in limits.entries) else ()
    judged: list[ShownLimit] = []
    faults: list[UsageError] = []
    for index, entry in enumerate(limits.entries):
        try:
            if entry.kind == "measure":
                judged += _measured(run, tests, entry)
            else:
                judged.append(_health(run, entry) if entry.kind == "health" else _counted(run, tests, findings, entry))
        except _UnknownNameError as error:
            key, reason, remedy = error.args
            faults.append(limits.fault(f"limits.{index}.{key}", reason, remedy))
    if faults:
        raise joined(faults)
    return (*judged, *_claims(run, tests))


def exit_code(judged: Sequence[ShownLimit], *, undecided: Literal["pass", "fail"] = "fail") -> int:
    """The exit code of verdicts: 8 where one failed, or is not decided and that does not pass; else 0."""
    bad = {"fail"} if undecided == "pass" else {"fail", "not decided"}
    return EXIT_NOT_MET if any(limit.verdict in bad for limit in judged) else 0


def verdict_of(value: float, at_least: Fraction | float | None, at_most: Fraction | float | None) -> Outcome:
    """Compare exactly; a bound itself is allowed.

    Worked: 0.1 at most 0.1 -> ``pass``; 99.96 at least 100 -> ``fail``, though it is printed as 100.0.
    """
    missed = (at_least is not None and value < at_least) or (at_most is not None and value > at_most)
    return "fail" if missed else "pass"


def _limit(
    run: StoredRun, entry: LimitEntry, name: str, value: float | None, reason: str, *, unit: str = "", **of: str
) -> ShownLimit:
    """A number held against an entry. reason : why it may not be judged. of : its test and where it is."""
    factor = Fraction(run.identity.capacity_bytes, _TB) if entry.per_tb else 1
    least, most = (None if bound is None else Fraction(bound) * factor for bound in (entry.at_least, entry.at_most))
    reason = reason or ("" if value is not None else _TOO_FEW)
    return ShownLimit(
        kind="limit",
        id=entry.id,
        text=entry.text,
        name=name,
        unit=unit,
        at_least=None if least is None else float(least),
        at_most=None if most is None else float(most),
        per_tb=(entry.at_most if entry.at_least is None else entry.at_least) if entry.per_tb else None,
        value=value,
        verdict="not decided" if reason or value is None else verdict_of(value, least, most),
        reason=reason,
        **{"test": "", "where": "", **of},
    )


def _measured(run: StoredRun, tests: Sequence[TestRecord], entry: LimitEntry) -> list[ShownLimit]:
    """Every number of a test that an entry is about. Raises _UnknownNameError."""
    wanted, name = str(entry.test).casefold(), str(entry.measure)
    test = next((test for test in tests if test.name.casefold() == wanted), None)
    where = ", ".join(f"{key} {value}" for key, value in entry.wanted_cell.items())
    if test is None:
        skipped = next((f"N/A: {skip.reason}" for skip in run.skipped if skip.test.casefold() == wanted), None)
        return [_limit(run, entry, name, None, skipped or _no_such_test(tests), test=wanted, where=where)]
    reason = _not_judged(test)
    try:
        chosen = _chosen_measures(test, entry)
    except _UnknownNameError:
        if not reason:
            raise
        chosen = []
    if not chosen:
        return [_limit(run, entry, name, None, reason or "the test has no such cell", test=wanted, where=where)]
    return [
        _limit(
            run,
            entry,
            measure.key,
            _value(measure),
            reason or _why_none(measure),
            unit=measure.unit,
            test=wanted,
            where=measure.printed if entry.item else measure.label,
        )
        for measure in chosen
    ]


def _value(measure: Measure) -> float | None:
    return None if measure.value is None else float(measure.value)


def _why_none(measure: Measure) -> str:
    """Why a number has no value; empty where it has one or nothing is stated."""
    return text(measure.basis) if measure.value is None and measure.basis else ""


def _not_judged(test: TestRecord) -> str:
    """Why no number of a test decides anything; empty where they do."""
    if withheld := withheld_reason(test.test):
        return f"results withheld: {text(withheld)}"
    return "steady state was not reached" if missed_steady_state(test.test) else ""


def _claims(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[ShownLimit]:
    """What the data sheet claims: rates at least, times at most."""
    claims = {key: bound for key, bound in (run.plan.get("claims") or {}).items() if bound is not None}
    measured = [(test, measure) for test in tests for measure in test.measures if measure.claim in claims]
    for test, measure in measured:
        key, reason = str(measure.claim), _not_judged(test) or _why_none(measure)
        yield _claim(
            key,
            claims[key],
            lower=measure.better == "lower",
            verdict=_MET[None if reason else measure.meets(claims[key])],
            test=test.name.casefold(),
            where=measure.printed,
            name=measure.key,
            unit=measure.unit,
            value=_value(measure),
            reason=reason or ("" if measure.value is not None else _TOO_FEW),
        )
    reason = "no test of the run measures it"
    of = {"test": "", "where": "", "unit": "", "value": None, "verdict": "not decided", "reason": reason}
    known = {measure.claim for _, measure in measured}
    for key, bound in claims.items():
        if key not in known:
            yield _claim(key, bound, lower=key.endswith("_ms"), name=key, **of)


def _claim(key: str, bound: float, *, lower: bool, **of: Any) -> ShownLimit:
    least, most = (None, bound) if lower else (bound, None)
    text = "claim of the data sheet"
    return ShownLimit(kind="claim", id=key, text=text, at_least=least, at_most=most, per_tb=None, **of)


def _chosen_measures(test: TestRecord, entry: LimitEntry) -> list[Measure]:
    """Every number of a test that has the name and the cell of a limit. Raises _UnknownNameError.

    A value that is a number and that no cell has is no fault: a drive may lack a cell that others have.
    """
    if test.measures and entry.wanted_cell:
        _check_cell(test.measures, entry)
    cells = [measure for measure in test.measures if _is_in(measure, entry)]
    chosen = [measure for measure in cells if _has_key(measure, entry)]
    if cells and not chosen:
        names = list(dict.fromkeys(measure.key for measure in cells))
        remedy = did_you_mean(str(entry.measure), names, f"choose from {', '.join(names)}")
        reason = f'is "{entry.measure}", which {test.name.casefold()} does not have there'
        raise _UnknownNameError("measure", reason, remedy)
    return chosen


def _has_key(measure: Measure, entry: LimitEntry) -> bool:
    """Whether a number is meant; one that is named by its item also by the key of its unit."""
    return measure.key == entry.measure or (bool(entry.item) and key_of_unit(measure.unit) == entry.measure)


def _is_in(measure: Measure, entry: LimitEntry) -> bool:
    if entry.item:
        return measure.printed == entry.item
    cell = dict(measure.cell)
    return all(key in cell and cell[key] == value for key, value in entry.wanted_cell.items())


def _check_cell(measures: Iterable[Measure], entry: LimitEntry) -> None:
    """Raise _UnknownNameError for a column, or a text in one, that no number has."""
    values: dict[str, dict[str | int | float, None]] = {"item": {}} if entry.item else {}
    for measure in measures:
        for key, value in measure.cell if not entry.item else (("item", measure.printed),):
            values.setdefault(key, {})[value] = None
    for key, value in entry.wanted_cell.items():
        field = "item" if entry.item else f"cell.{key}"
        if key not in values:
            remedy = did_you_mean(key, values, f"choose from {', '.join(values)}")
            raise _UnknownNameError(field, "is unknown in this test", remedy)
        texts = [text for text in values[key] if isinstance(text, str)]
        if texts and value not in values[key]:
            remedy = did_you_mean(str(value), texts, f"choose from {', '.join(texts[:8])}")
            raise _UnknownNameError(field, f'is "{value}", which this test does not have', remedy)


def _counted(run: StoredRun, tests: Sequence[TestRecord], findings: Sequence[Found], entry: LimitEntry) -> ShownLimit:
    """The count of a kind of finding, of a run or of one of its tests.

    No finding decides nothing if nobody watched: the host of a simulated drive, a kernel log that is not read.
    """
    name, wanted = f"findings: {entry.findings}", (entry.test or "").casefold()
    chosen = [test for test in tests if wanted in {"", test.name.casefold()}]
    if not chosen:
        return _limit(run, entry, name, None, _no_such_test(tests), test=wanted)
    count = sum(
        finding.kind == entry.findings and (not wanted or finding.test.casefold() == wanted) for finding in findings
    )
    reason = "" if count else _unwatched(chosen, str(entry.findings))
    return _limit(run, entry, name, None if reason else float(count), reason, test=wanted)


def _no_such_test(tests: Sequence[TestRecord]) -> str:
    """Why there is nothing of a test that a run does not have."""
    return f"the run has no such test, but {', '.join(test.name.casefold() for test in tests)}"


def _unwatched(tests: Sequence[TestRecord], kind: str) -> str:
    """Why a kind of finding cannot be known; empty if it can."""
    sequences = [sequence for test in tests for sequence in test.test.sequences]
    if kind == "host" and any(sequence.host is None for sequence in sequences):
        return "the test system was not watched"
    if kind == "drive event" and any(sequence.drive is None or sequence.drive.log != "read" for sequence in sequences):
        return "the kernel's log of the drive was not read"
    return ""


def _health(run: StoredRun, entry: LimitEntry) -> ShownLimit:
    """A health value: the greatest that was seen under a bound from above, the least under one from below.

    With ``change`` its difference from the first to the last condition of the run.
    """
    name = str(entry.health)
    if entry.change:
        first, *others = (_health_of(condition, name) for condition in run.conditions or (None,))
        change = None if first is None or not others or others[-1] is None else others[-1] - first
        reason = "the drive did not report it before and after the run" if change is None else ""
        return _limit(run, entry, f"{name}, change", change, reason, where="drive")
    conditions = (*run.conditions, *(condition for test in run.tests for condition in test.conditions))
    seen = [value for condition in conditions if (value := _health_of(condition, name)) is not None]
    if name == TEMPERATURE:
        drives = (sequence.drive for test in run.tests for sequence in test.sequences if sequence.drive)
        states = (state for drive in drives for state in (drive.before, drive.after))
        seen += [float(state.temperature_c) for state in states if state.temperature_c is not None]
    worst = (max if entry.at_most is not None else min)(seen, default=None)
    return _limit(run, entry, name, worst, "" if seen else "the drive did not report it", where="drive")


def _health_of(condition: DriveCondition | None, name: str) -> float | None:
    if condition is None:
        return None
    value = getattr(condition, name) if name in {TEMPERATURE, "wear_used_pct"} else condition.health.get(name)
    return None if value is None else float(value)


def held_of_plan(run: StoredRun, tests: Sequence[TestRecord]) -> Held | None:
    """How the limits and claims of a plan came out; None of a plan without limits: claims alone are in no exit code.

    Limits that cannot be judged are undecided, all of them.
    Worked: seven of nine limits met, two undecided -> ``Held(met=7, missed=0, undecided=2)`` with nine numbers.
    """
    stated = run.plan.get("limits")
    if not stated:
        return None
    try:
        judged = judge(run, tests, limits_of_plan(run))
    except AssayError:
        return Held(met=0, missed=0, undecided=len(stated))
    judged = tuple(sorted(judged, key=lambda limit: (_ORDER.index(limit.verdict), -limit.apart)))
    missed, undecided, met = ([limit for limit in judged if limit.verdict == verdict] for verdict in _ORDER)
    return Held(
        met=len(met),
        missed=len(missed),
        undecided=len(undecided),
        worst=_missed(missed[0]) if missed else None,
        numbers=tuple(
            HeldNumber(
                name=_label(limit),
                outcome=limit.verdict,
                value=limit.value,
                bound=limit.bound,
                unit=limit.unit,
                is_least=limit.is_least,
                apart=limit.apart,
            )
            for limit in judged
        ),
    )


def _missed(limit: ShownLimit) -> Missed:
    name = limit.id or " ".join(filter(None, (limit.test.upper(), limit.where, measure_words(limit.name))))
    return Missed(name=name, value=limit.value or 0.0, bound=limit.bound, unit=limit.unit)


def _label(limit: ShownLimit) -> str:
    """What a limit is of, in few words. Worked: 99 % of the reads of a stage -> ``"mixed, reads p99"``."""
    short = short_name(limit.name) or measure_words(limit.name)
    return limit.text or limit.id or " ".join(filter(None, (limit.where, short)))
