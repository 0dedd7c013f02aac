"""That a test which had to get steady did not, as an insight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.summary.insights import insight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engine.records import SteadyVerdict
    from assay.summary.insights import Insight
    from assay.words.subject import Subject


def not_steady(found: Iterable[tuple[Subject, SteadyVerdict]], count: int) -> Iterator[Insight]:
    """The worst of several tracked variables that are not steady. count : rounds or samples that ran.

    Worked: rounds that lie 31 % of their average apart where 20 % is allowed -> an excursion of 0.31.
    """
    judged = [_unsteady(about, verdict, count) for about, verdict in found if not verdict.steady and verdict.average]
    yield from sorted(judged, key=lambda one: -one.values["worst"])[:1]


def _unsteady(about: Subject, verdict: SteadyVerdict, count: int) -> Insight:
    varied = verdict.excursion_measured > verdict.excursion_allowed
    drifted = not varied and verdict.slope_measured > verdict.slope_allowed
    measured = verdict.excursion_measured if varied else verdict.slope_measured
    return insight(
        "not-steady",
        about,
        rounds=count,
        worst=measured / verdict.average,
        excursion=verdict.excursion_measured / verdict.average if varied else None,
        allowed=verdict.excursion_allowed / verdict.average,
        drift=verdict.slope_measured / verdict.average if drifted else None,
        drift_allowed=verdict.slope_allowed / verdict.average,
    )
