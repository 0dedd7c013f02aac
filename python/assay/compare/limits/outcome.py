"""How the limits of a plan and the claims of a data sheet came out, counted and one by one."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from assay.compare.limits.judge import judge
from assay.compare.limits.model import limits_of_plan
from assay.errors import AssayError
from assay.summary.measures import measure_words, short_name
from assay.summary.record import Held, HeldNumber, Missed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.compare.limits.judge import Judged
    from assay.engine.records import StoredRun
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Outcome

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
        bound=_bound(judged),
        unit=judged.unit,
        is_least=_is_least(judged),
        apart=_beyond(judged),
    )


def _beyond(judged: Judged) -> float:
    """How many times beyond its bound a number is, below 1 within it. Worked: 1 ms for at most 2 ms -> 0.5."""
    if judged.value is None:
        return 0.0
    value, bound = abs(judged.value), abs(_bound(judged))
    above, below = (bound, value) if _is_least(judged) else (value, bound)
    return above / below if below else inf if above else 1.0


def _apart(judged: Judged) -> float:
    """How many times a number is beyond its bound. Worked: 4 ms for 2 ms -> 2."""
    value, bound = judged.value or 0.0, _bound(judged)
    low, high = sorted((abs(value), abs(bound)))
    return high / low if low else inf


def _is_least(judged: Judged) -> bool:
    """Whether the bound that is missed, or the only one, is one from below."""
    return judged.at_least is not None and (judged.at_most is None or (judged.value or 0.0) < judged.at_least)


def _bound(judged: Judged) -> float:
    """The bound that is missed, or the only one."""
    return float((judged.at_least if _is_least(judged) else judged.at_most) or 0.0)


def _label(judged: Judged) -> str:
    """What a limit is of, in few words. Worked: 99 % of the reads of a stage -> ``"mixed, reads p99"``."""
    short = short_name(judged.name) or measure_words(judged.name)
    return judged.text or judged.id or " ".join(filter(None, (judged.where, short)))


def _name(judged: Judged) -> str:
    return judged.id or " ".join(filter(None, (judged.test.upper(), judged.where, measure_words(judged.name))))


def _missed(judged: Judged) -> Missed:
    return Missed(name=_name(judged), value=judged.value or 0.0, bound=_bound(judged), unit=judged.unit)
