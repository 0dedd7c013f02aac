"""What a check found: one record, one order of levels and one row per check, whoever asks.

The test system, the drive, what was issued to it and the reference drive are all judged in these words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar
from weakref import finalize

from assay.words.coded import NOWHERE, Coded, Place, coded
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.engine.records import StoredTest

Level = Literal["n/a", "pass", "unknown", "warn", "invalid"]
LEVELS: tuple[Level, ...] = ("n/a", "pass", "unknown", "warn", "invalid")
"""The mildest first: does not apply; within its limit; cannot be told; beyond it; the numbers are not the drive's."""

Unit = Literal["", "count", "ms", "share", "sigma", "size"]
Subject = TypeVar("Subject")
T = TypeVar("T")
Number = float | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found in one place.

    reason : what was found; None where there is nothing to say. measured, limit : the figure, and the largest (or
    least) that passes, in one unit; None where the answer is no figure. where : step, sequence or point.
    weight : how much it rests on; among equals the heaviest is shown.
    """

    level: Level
    reason: Coded | None = None
    measured: float | None = None
    limit: float | None = None
    where: Place = NOWHERE
    weight: float = 0

    @property
    def marked(self) -> bool:
        """Whether it lies beyond its limit."""
        return self.level in {"warn", "invalid"}

    @property
    def words(self) -> str:
        """The reason as printed; empty without one."""
        return text(self.reason) if self.reason else ""

    @property
    def severity(self) -> tuple[int, float, float]:
        """Findings sort by this, the worst last."""
        measured = abs(self.measured or 0)
        return LEVELS.index(self.level), measured / self.limit if self.limit else measured, self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Generic[Subject]):
    """One check of a table.

    name : in files, as ``littles-law``. number : of the integrity check that it is, as ``C22``; empty for others.
    title : as printed. passes : what passes, as printed. answer : what it finds of a subject, one finding or one for
    each place. absent : code of why it does not apply where it finds none. unit : of its figures. remedy : what to do
    where it does not pass, untold : where it cannot be told; ``remedy`` does where that is empty.
    titled : where its reason stands alone, the title is before it. silent : it is no row where it passes.
    """

    name: str
    title: str
    passes: str
    answer: Callable[[Subject], Finding | Iterable[Finding]]
    number: str = ""
    absent: str = "nothing-issued"
    unit: Unit = ""
    remedy: str = ""
    untold: str = ""
    titled: bool = True
    silent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A check with its answer. finding : the worst. judged, marked : places that were judged, and beyond the limit."""

    check: Check[Any]
    finding: Finding
    judged: int = 1
    marked: int = 0

    @property
    def name(self) -> str:
        """Of the check."""
        return self.check.name

    @property
    def level(self) -> Level:
        """Of the worst finding."""
        return self.finding.level

    @property
    def remedy(self) -> str:
        """What to do, fit for what was found; empty where it passes or does not apply."""
        if self.level == "unknown" and self.check.untold:
            return self.check.untold
        return self.check.remedy if self.level in {"unknown", "warn", "invalid"} else ""

    @property
    def alone(self) -> Coded | None:
        """The reason within a sentence. Worked: ``"write cache: enabled, disabled in round 3"``."""
        reason = self.finding.reason
        return coded("titled", title=self.check.title.lower(), reason=reason) if self.check.titled else reason


def once_per_test(work: Callable[[StoredTest], T]) -> Callable[[StoredTest], T]:
    """Work out a fact of a stored test once, as long as the test is in memory: records never change."""
    known: dict[int, T] = {}

    @wraps(work)
    def kept(test: StoredTest) -> T:
        if id(test) not in known:
            known[id(test)] = work(test)
            finalize(test, known.pop, id(test), None).atexit = False
        return known[id(test)]

    return kept


def ask(check: Check[Subject], subject: Subject) -> Checked:
    """Let a check answer; the worst of its findings stands for all, one that cannot be told only where all are such.

    Worked: findings of 1 and 3 at a limit of 2 -> ``warn``, 1 of 2, measured 3.
    """
    answer = check.answer(subject)
    result = [answer] if isinstance(answer, Finding) else list(answer)
    told = [one for one in result if one.level not in {"unknown", "n/a"}]
    worst = max(told or result, key=lambda one: one.severity, default=Finding(level="n/a", reason=coded(check.absent)))
    return Checked(check=check, finding=worst, judged=len(told), marked=sum(one.marked for one in told))


def ask_all(checks: Iterable[Check[Subject]], subject: Subject) -> tuple[Checked, ...]:
    """Let every check of a table answer, in its order."""
    return tuple(ask(check, subject) for check in checks)


def at_most(measured: Number, passes: Number, invalid: Number | None = None) -> Level:
    """Pass up to ``passes``, invalid beyond ``invalid``. Worked: 70 between 60 and 80 -> ``warn``."""
    if measured <= passes:
        return "pass"
    return "invalid" if invalid is not None and measured > invalid else "warn"


def at_least(measured: Number, passes: Number, invalid: Number | None = None) -> Level:
    """Pass from ``passes`` on, invalid below ``invalid``. Worked: 1.5 between 2 and 1.2 -> ``warn``."""
    if measured >= passes:
        return "pass"
    return "invalid" if invalid is not None and measured < invalid else "warn"


def within(measured: float, limit: float, reason: Coded, *, where: Place = NOWHERE, weight: float = 0) -> Finding:
    """A figure that passes up to a limit in absolute value. Worked: -3 at a limit of 2 -> ``warn``."""
    level = at_most(abs(measured), limit)
    return Finding(level=level, reason=reason, measured=measured, limit=limit, where=where, weight=weight)


def outside_results(finding: Finding) -> Finding:
    """A finding about a part that no result comes from: what is invalid there only warns."""
    return replace(finding, level="warn") if finding.level == "invalid" else finding


def facts(one: Checked) -> dict[str, Any]:
    """A check with its answer as files have it; figures that there are none of are null."""
    check, found = one.check, one.finding
    return {
        "name": check.name,
        "number": check.number or None,
        "title": check.title,
        "level": found.level,
        "reason": found.words,
        "where": str(found.where) or None,
        "measured": found.measured,
        "limit": found.limit,
        "passes": check.passes,
        "judged": one.judged,
        "marked": one.marked,
        "remedy": one.remedy,
    }
