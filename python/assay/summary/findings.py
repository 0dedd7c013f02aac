"""What a reader must know of a run: its breaks, every check of a test, and findings with their places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.results.finding import Finding
from assay.results.run_checks import run_checks
from assay.results.stimulus_audit import stimulus_audit
from assay.spec.units import count_label
from assay.words.coded import NOWHERE, Place, coded, joined_places
from assay.words.printed import paragraph, utc
from assay.words.text import merged, shape, text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from assay.engine.records import RunBreak, StoredRun, StoredTest
    from assay.results.finding import Checked, Level
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


_SIMULATED = Finding(level="n/a", reason=coded("simulated"))


def checks_of(run: StoredRun, test: StoredTest) -> tuple[Checked, ...]:
    """Every check of one test: how it ended, host, drive, lengths and gaps, then what was issued to the drive.

    What nobody watches beside a simulated drive does not apply to one; one with faults is watched like a real drive.
    """
    simulated = run.identity.kind == "simulated" and not run.identity.faults
    return (
        *(
            replace(run_check, finding=_SIMULATED)
            if simulated and run_check.check.number and run_check.level == "unknown"
            else run_check
            for run_check in run_checks(test)
        ),
        *stimulus_audit(run, test),
    )


def break_texts(run: StoredRun) -> list[str]:
    """A sentence for each break of a run, in order; none for a run without."""
    anew = "; the simulated drive began anew with it" if run.identity.kind == "simulated" else ""
    return [paragraph(f"{_text(one)}{anew}") for one in run.breaks]


def _text(run_break: RunBreak) -> str:
    when = f"resumed {utc(run_break.wall_ns)}, last record before {utc(run_break.last_wall_ns)}"
    if run_break.test is None:
        return f"{when}; no test was cut short"
    how = run_break.ended or "its process ended"
    lost = count_label(run_break.sequence_count, "sequence")
    return (
        f"{when}; {run_break.test.upper()} was cut short ({how}) after {lost}, which are in no result, and was run "
        "again from its start"
    )
