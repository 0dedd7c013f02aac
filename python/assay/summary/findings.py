"""The findings of a run as people read them: a row for each finding, with all the places where it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.words.location import NOWHERE, Place, joined_places
from assay.words.merged import merged, shape
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from assay.results.finding import Level
    from assay.words.coded import Coded

_GATHERED = {"host", "void", "drive event"}
_RANGED = {"host"}
"""Kinds that differ from place to place in nothing but measured figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing found. test : its name, or ``all``. where : a round, a cell; ``NOWHERE`` for all of the test.

    level : how grave, where that differs from place to place. measured, limit : the figure that it is about, and the
    most of it that passes, in ``unit``: ``ms``, ``share``, ``count`` and so on; None and empty where there is none.
    """

    test: str
    kind: str
    what: Coded
    where: Place = NOWHERE
    level: Level | None = None
    measured: float | None = None
    limit: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """One finding with the places where it was found, and how many these are; as printed."""

    test: str
    kind: str
    where: str
    count: int
    what: str


def gathered(findings: Iterable[Found]) -> list[Gathered]:
    """One row for each finding, in the order in which each was found first.

    Worked: stalls of 12 ms in round 2 and of 30 ms in round 3 -> ``"rounds 2-3"``, ``"the host stalled for 12 to
    30 ms"``.
    """
    groups: dict[Hashable, list[Found]] = {}
    for one in findings:
        what = shape(one.what) if one.kind in _RANGED else one.what
        place = None if one.kind in _GATHERED else one.where
        groups.setdefault((one.test, one.kind, one.level, what, place), []).append(one)
    return [
        Gathered(
            test=same[0].test,
            kind=same[0].kind,
            where=joined_places(one.where for one in same),
            count=len(same),
            what=text(merged([one.what for one in same])),
        )
        for same in groups.values()
    ]
