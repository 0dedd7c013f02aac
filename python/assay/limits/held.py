"""How the limits of a plan and the claims of a data sheet came out, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.limits.judge import judge
from assay.limits.read import limits_of_plan
from assay.summary.record import Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun
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
        verdicts = [one.verdict for one in judge(run, tests, limits_of_plan(run))]
    except AssayError:
        return Held(met=0, missed=0, undecided=len(stated))
    met, missed, undecided = (verdicts.count(one) for one in ("pass", "fail", "not decided"))
    return Held(met=met, missed=missed, undecided=undecided)
