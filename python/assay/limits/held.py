"""How the limits of a plan and the claims of a data sheet came out, counted."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.limits.judge import judge
from assay.limits.read import limits_of_plan
from assay.summary.measures import measure_words
from assay.summary.record import Held, Missed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun
    from assay.limits.judge import Judged
    from assay.pages.test_report import TestReport


def held_of_plan(run: StoredRun, tests: Sequence[TestReport]) -> Held | None:
    """How many limits and claims came out how; None of a plan without limits: claims alone are in no exit code.

    Limits that cannot be judged are undecided, all of them.
    Worked: seven of nine limits met, two undecided -> ``Held(met=7, missed=0, undecided=2)``.
    """
    stated = run.plan.get("limits")
    if not stated:
        return None
    try:
        judged = judge(run, tests, limits_of_plan(run))
    except AssayError:
        return Held(met=0, missed=0, undecided=len(stated))
    met, missed, undecided = (
        [one for one in judged if one.verdict == name] for name in ("pass", "fail", "not decided")
    )
    worst = max(missed, key=_apart, default=None)
    return Held(
        met=len(met), missed=len(missed), undecided=len(undecided), worst=_missed(worst) if worst is not None else None
    )


def _apart(one: Judged) -> float:
    """How many times a number is beyond its bound. Worked: 4 ms for 2 ms -> 2."""
    value, bound = one.value or 0.0, _bound(one)
    low, high = sorted((abs(value), abs(bound)))
    return high / low if low else inf


def _bound(one: Judged) -> float:
    """The bound that is missed."""
    below = one.at_least is not None and (one.value or 0.0) < one.at_least
    return float((one.at_least if below else one.at_most) or 0.0)


def _missed(one: Judged) -> Missed:
    name = one.id or " ".join(filter(None, (one.test.upper(), one.where, measure_words(one.name))))
    return Missed(name=name, value=one.value or 0.0, bound=_bound(one), unit=one.unit)
