"""Holds a stored run against limits and claims, and counts the verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Literal

from assay.compare.limits.model import TEMPERATURE, LimitEntry, limits_of_plan
from assay.errors import EXIT_NOT_MET, AssayError, joined
from assay.procedures.run_findings import run_findings
from assay.results import missed_steady_state, withheld_reason
from assay.spec.nearest import did_you_mean
from assay.summary.measures import key_of_unit, measure_words, short_name
from assay.summary.record import Held, HeldNumber, Missed
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.compare.limits.model import Limits
    from assay.engine.records import DriveCondition, StoredRun
    from assay.errors import UsageError
    from assay.summary.findings import Found
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure, Outcome


Verdict = Literal["pass", "fail", "not decided"]
Fault = tuple[str, str, str]
"""Key, reason and remedy of a name that is not known."""
_TB = 10**12
_TOO_FEW = "n/a: no value, or too few I/Os lie beyond the percentile"


@dataclass(frozen=True, slots=True)
class Value:
    """A number to be judged. reason : why it may not be."""

    test: str
    where: str
    name: str
    unit: str
    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One number held against one limit.

    kind : ``limit``, or ``claim`` for what a data sheet claims. id, text : of the requirement. test : its name, empty
    for all of a run. where : the cell or item. name, unit : of the number. at_least, at_most : its bounds, those for
    each TB multiplied already. per_tb : the bound for each TB, None where it is absolute. value : unrounded; None where
    there is none. reason : why it is not decided, else empty.
    """

    kind: Literal["limit", "claim"]
    id: str
    text: str
    test: str
    where: str
    name: str
    unit: str
    at_least: float | None
    at_most: float | None
    per_tb: float | None
    value: float | None
    verdict: Verdict
    reason: str


def judge(run: StoredRun, tests: Sequence[TestRecord], limits: Limits) -> tuple[Judged, ...]:
    """Hold a run against limits and what its data sheet claims, in their order.

    Raises UsageError naming every limit of a cell or number that its test does not have.
    """
    result = run_findings(run, tests) if any(entry.kind == "findings" for entry in limits.entries) else ()
    judged: list[Judged] = []
    faults: list[UsageError] = []
    for index, entry in enumerate(limits.entries):
        values, fault = _values(run, tests, result, entry)
        if fault:
            key, reason, remedy = fault
            faults.append(limits.fault(f"limits.{index}.{key}", reason, remedy))
        judged += [_judged(run, "limit", entry, value) for value in values]
    if faults:
        raise joined(faults)
    return (*judged, *_claims(run, tests))


def exit_code(judged: Sequence[Judged], *, undecided: Literal["pass", "fail"] = "fail") -> int:
    """The exit code of verdicts: 8 where one failed, or is not decided and that does not pass; else 0."""
    bad = {"fail"} if undecided == "pass" else {"fail", "not decided"}
    return EXIT_NOT_MET if any(one.verdict in bad for one in judged) else 0


def verdict_of(value: float, at_least: Fraction | None, at_most: Fraction | None) -> Verdict:
    """Compare exactly; a bound itself is allowed.

    Worked: 0.1 at most 0.1 -> ``pass``; 99.96 at least 100 -> ``fail``, though it is printed as 100.0.
    """
    exact = Fraction(value)
    low, high = at_least is not None and exact < at_least, at_most is not None and exact > at_most
    return "fail" if low or high else "pass"


def _judged(run: StoredRun, kind: Literal["limit", "claim"], entry: LimitEntry, value: Value) -> Judged:
    least, most = (_bound(run, entry, bound) for bound in (entry.at_least, entry.at_most))
    decided = value.value is not None and not value.reason
    return Judged(
        kind=kind,
        id=entry.id,
        text=entry.text,
        test=value.test,
        where=value.where,
        name=value.name,
        unit=value.unit,
        at_least=None if least is None else float(least),
        at_most=None if most is None else float(most),
        per_tb=(entry.at_most if entry.at_least is None else entry.at_least) if entry.per_tb else None,
        value=value.value,
        verdict=verdict_of(value.value, least, most) if decided and value.value is not None else "not decided",
        reason="" if decided else value.reason or _TOO_FEW,
    )


def _bound(run: StoredRun, entry: LimitEntry, bound: float | None) -> Fraction | None:
    if bound is None:
        return None
    return Fraction(bound) * (Fraction(run.identity.capacity_bytes, _TB) if entry.per_tb else 1)


def _values(
    run: StoredRun, tests: Sequence[TestRecord], findings: Sequence[Found], entry: LimitEntry
) -> tuple[list[Value], Fault | None]:
    """What an entry is of, or the key, reason and remedy of a name that is not known."""
    match entry.kind:
        case "health":
            value, reason = health_value(run, entry)
            name = f"{entry.health}, change" if entry.change else str(entry.health)
            return [Value("", "drive", name, "", value, reason)], None
        case "findings":
            return [counted(tests, findings, entry)], None
        case "measure":
            return _measured(run, tests, entry)


def _measured(run: StoredRun, tests: Sequence[TestRecord], entry: LimitEntry) -> tuple[list[Value], Fault | None]:
    wanted, name = str(entry.test).casefold(), str(entry.measure)
    report = next((test for test in tests if test.name.casefold() == wanted), None)
    where = ", ".join(f"{key} {value}" for key, value in entry.wanted_cell.items())
    if report is None:
        skipped = next((f"N/A: {one.reason}" for one in run.skipped if one.test.casefold() == wanted), None)
        return [Value(wanted, where, name, "", None, skipped or no_such_test(tests))], None
    reason = _not_judged(report)
    chosen, fault = chosen_measures(report, entry)
    if fault and not reason:
        return [], fault
    if not chosen:
        return [Value(wanted, where, name, "", None, reason or "the test has no such cell")], None
    return [_value(wanted, one.printed if entry.item else one.label, one, reason) for one in chosen], None


def _value(test: str, where: str, measure: Measure, reason: str) -> Value:
    """A number as a limit has it. where : its cell. reason : why none of its test decides anything, if so."""
    because = text(measure.basis) if measure.value is None and measure.basis else ""
    value = None if measure.value is None else float(measure.value)
    return Value(test, where, measure.key, measure.unit, value, reason or because)


def _not_judged(report: TestRecord) -> str:
    """Why no number of a test decides anything; empty where they do."""
    if withheld := withheld_reason(report.test):
        return f"results withheld: {text(withheld)}"
    return "steady state was not reached" if missed_steady_state(report.test) else ""


def _claims(run: StoredRun, tests: Sequence[TestRecord]) -> Iterator[Judged]:
    """What the data sheet claims, each as a limit: rates at least, times at most."""
    left = {key: bound for key, bound in (run.plan.get("claims") or {}).items() if bound is not None}
    for report in tests:
        for measure in report.measures:
            bound = (run.plan.get("claims") or {}).get(measure.claim)
            if bound is not None:
                left.pop(str(measure.claim), None)
                entry = _claim_entry(str(measure.claim), bound, lower=measure.better == "lower")
                yield _judged(
                    run, "claim", entry, _value(report.name.casefold(), measure.printed, measure, _not_judged(report))
                )
    for key, bound in left.items():
        entry = _claim_entry(key, bound, lower=key.endswith("_ms"))
        yield _judged(run, "claim", entry, Value("", "", key, "", None, "no test of the run measures it"))


def _claim_entry(key: str, bound: float, *, lower: bool) -> LimitEntry:
    """A claim as a limit. Its number is known, so the entry names none of its own."""
    least, most = (None, bound) if lower else (bound, None)
    return LimitEntry.model_construct(id=key, text="claim of the data sheet", at_least=least, at_most=most)


def chosen_measures(report: TestRecord, entry: LimitEntry) -> tuple[list[Measure], Fault | None]:
    """Every number of a test that has the name and the cell of a limit, or what of these is not known.

    A value that is a number and that no cell has is no fault: a drive may lack a cell that others have.
    """
    known = report.measures
    if not known:
        return [], None
    if entry.wanted_cell and (fault := _unknown_cell(known, entry)):
        return [], fault
    cells = [one for one in known if _is_in(one, entry)]
    measures = [cell for cell in cells if _has_key(cell, entry)]
    if measures or not cells:
        return measures, None
    names = list(dict.fromkeys(cell.key for cell in cells))
    remedy = did_you_mean(str(entry.measure), names, f"choose from {', '.join(names)}")
    return [], ("measure", f'is "{entry.measure}", which {report.name.casefold()} does not have there', remedy)


def _has_key(measure: Measure, entry: LimitEntry) -> bool:
    """Whether a number is meant; one that is named by its item also by the key of its unit."""
    return measure.key == entry.measure or (bool(entry.item) and key_of_unit(measure.unit) == entry.measure)


def _is_in(measure: Measure, entry: LimitEntry) -> bool:
    if entry.item:
        return measure.printed == entry.item
    cell = dict(measure.cell)
    return all(key in cell and cell[key] == value for key, value in entry.wanted_cell.items())


def _unknown_cell(known: Iterable[Measure], entry: LimitEntry) -> Fault | None:
    values: dict[str, dict[str | int | float, None]] = {"item": {}} if entry.item else {}
    for one in known:
        for key, value in one.cell if not entry.item else (("item", one.printed),):
            values.setdefault(key, {})[value] = None
    for key, value in entry.wanted_cell.items():
        place = "item" if entry.item else f"cell.{key}"
        if key not in values:
            remedy = did_you_mean(key, values, f"choose from {', '.join(values)}")
            return place, "is unknown in this test", remedy
        texts = [text for text in values[key] if isinstance(text, str)]
        if texts and value not in values[key]:
            remedy = did_you_mean(str(value), texts, f"choose from {', '.join(texts[:8])}")
            return place, f'is "{value}", which this test does not have', remedy
    return None


def counted(tests: Sequence[TestRecord], findings: Sequence[Found], entry: LimitEntry) -> Value:
    """The count of a kind of finding, of a run or of one of its tests.

    None found where nobody watched decides nothing: the host beside a simulated drive, a kernel log that is not read.
    """
    name, wanted = f"findings: {entry.findings}", (entry.test or "").casefold()
    chosen = [test for test in tests if wanted in {"", test.name.casefold()}]
    if not chosen:
        return Value(wanted, "", name, "", None, no_such_test(tests))
    number = sum(
        finding.kind == entry.findings and (not wanted or finding.test.casefold() == wanted) for finding in findings
    )
    reason = "" if number else _unwatched(chosen, str(entry.findings))
    return Value(wanted, "", name, "", None if reason else float(number), reason)


def no_such_test(tests: Sequence[TestRecord]) -> str:
    """Why there is nothing of a test that a run does not have."""
    return f"the run has no such test, but {', '.join(one.name.casefold() for one in tests)}"


def _unwatched(tests: Sequence[TestRecord], kind: str) -> str:
    """Why a kind of finding cannot have been found; empty where it can."""
    sequences = [sequence for test in tests for sequence in test.test.sequences]
    if kind == "host" and any(sequence.host is None for sequence in sequences):
        return "the test system was not watched"
    if kind == "drive event" and any(sequence.drive is None or sequence.drive.log != "read" for sequence in sequences):
        return "the kernel's log of the drive was not read"
    return ""


def health_value(run: StoredRun, entry: LimitEntry) -> tuple[float | None, str]:
    """The value that a limit is of, and why there is none.

    Under a bound from above the greatest that was seen counts, under one from below the least.
    """
    name = str(entry.health)
    if entry.change:
        first, last = (
            (_health_of(one, name) for one in (run.conditions[0], run.conditions[-1]))
            if run.conditions
            else (None, None)
        )
        if first is None or last is None or len(run.conditions) < 2:  # noqa: PLR2004 - before and after
            return None, "the drive did not report it before and after the run"
        return last - first, ""
    seen = list(_health_seen(run, name))
    if not seen:
        return None, "the drive did not report it"
    return (max(seen) if entry.at_most is not None else min(seen)), ""


def _health_seen(run: StoredRun, name: str) -> Iterator[float]:
    conditions = (*run.conditions, *(condition for test in run.tests for condition in test.conditions))
    yield from (value for condition in conditions if (value := _health_of(condition, name)) is not None)
    if name == TEMPERATURE:
        drives = (sequence.drive for test in run.tests for sequence in test.sequences if sequence.drive)
        for drive in drives:
            for state in (drive.before, drive.after):
                if state.temperature_c is not None:
                    yield float(state.temperature_c)


def _health_of(condition: DriveCondition, name: str) -> float | None:
    value = getattr(condition, name) if name in {TEMPERATURE, "wear_used_pct"} else condition.health.get(name)
    return None if value is None else float(value)


_ORDER: tuple[Outcome, ...] = ("fail", "not decided", "pass")


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
    missed, undecided, met = ([one for one in judged if one.verdict == name] for name in _ORDER)
    worst = max(missed, key=_apart, default=None)
    return Held(
        met=len(met),
        missed=len(missed),
        undecided=len(undecided),
        worst=_missed(worst) if worst is not None else None,
        numbers=tuple(sorted(map(_number, judged), key=lambda one: (_ORDER.index(one.outcome), -one.apart))),
    )


def _number(judged: Judged) -> HeldNumber:
    return HeldNumber(
        name=_label(judged),
        outcome=judged.verdict,
        value=judged.value,
        bound=_nearest_bound(judged),
        unit=judged.unit,
        is_least=_is_least(judged),
        apart=_beyond(judged),
    )


def _beyond(judged: Judged) -> float:
    """How many times beyond its bound a number is, below 1 within it. Worked: 1 ms for at most 2 ms -> 0.5."""
    if judged.value is None:
        return 0.0
    value, bound = abs(judged.value), abs(_nearest_bound(judged))
    above, below = (bound, value) if _is_least(judged) else (value, bound)
    return above / below if below else inf if above else 1.0


def _apart(judged: Judged) -> float:
    """How many times a number is beyond its bound. Worked: 4 ms for 2 ms -> 2."""
    value, bound = judged.value or 0.0, _nearest_bound(judged)
    low, high = sorted((abs(value), abs(bound)))
    return high / low if low else inf


def _is_least(judged: Judged) -> bool:
    """Whether the bound that is missed, or the only one, is one from below."""
    return judged.at_least is not None and (judged.at_most is None or (judged.value or 0.0) < judged.at_least)


def _nearest_bound(judged: Judged) -> float:
    """The bound that is missed, or the only one."""
    return float((judged.at_least if _is_least(judged) else judged.at_most) or 0.0)


def _label(judged: Judged) -> str:
    """What a limit is of, in few words. Worked: 99 % of the reads of a stage -> ``"mixed, reads p99"``."""
    short = short_name(judged.name) or measure_words(judged.name)
    return judged.text or judged.id or " ".join(filter(None, (judged.where, short)))


def _name(judged: Judged) -> str:
    return judged.id or " ".join(filter(None, (judged.test.upper(), judged.where, measure_words(judged.name))))


def _missed(judged: Judged) -> Missed:
    return Missed(name=_name(judged), value=judged.value or 0.0, bound=_nearest_bound(judged), unit=judged.unit)
