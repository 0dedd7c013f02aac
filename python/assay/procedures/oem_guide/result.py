"""What the OEM guide's method measured: a row per test, and what the guide asks to be seen to, as findings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.procedures.oem_guide.plan import BURN_IN_HOURS, BURN_IN_LABEL, CORNERS, IDLE_LABEL
from assay.results.audit import counted, sequence_audits
from assay.results.finding import Finding
from assay.results.step import error_count, issued_bytes
from assay.spec.units import HOUR_SECONDS, MB, MIB, SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepRecord, StoredRun, StoredTest
    from assay.procedures.oem_guide.plan import Corner
    from assay.procedures.studies.result import StageResult, StageValues, StudyResult

ERROR_MAX = 0.02
"""Mean outstanding I/Os may lie so far from what was asked for."""
_CORNERS = {corner.name: corner for corner in CORNERS}
_KINDS = {
    "block": Finding(level="pass", reason=coded("gate-refuses")),
    "file": Finding(level="n/a", reason=coded("file-system")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideRow:
    """One test of the guide. cpu_pct : of one CPU, of the threads that issue; None where it cannot be told.

    depth : I/Os that were asked for. cycled : it is part of the queue depth cycling. settled and what follows are None
    where it did not run whole, or may not be printed.
    """

    variant: str
    corner: Corner
    depth: int
    cycled: bool
    settled: StageValues | None = None
    errors: int | None = None
    cpu_pct: float | None = None

    @property
    def mibps(self) -> float | None:
        """As Iometer prints it. Worked: 23.668542464 MB/s -> 22.572081."""
        return self.settled.throughput * MB / MIB if self.settled else None

    @property
    def effectiveness(self) -> float | None:
        """IOPS per per cent of CPU. Worked: 46,227.62202 IOPS at 14.05168 % -> 3289.83."""
        return self.settled.iops / self.cpu_pct if self.settled and self.cpu_pct else None

    @property
    def rate(self) -> float | None:
        """What people quote of it, in the unit of its corner."""
        if self.settled is None:
            return None
        return self.settled.throughput if self.corner.access == "sequential" else self.settled.iops


def guide_rows(test: StoredTest, result: StudyResult) -> tuple[GuideRow, ...]:
    """Every test that the method has, in the order they ran."""
    return tuple(
        _row(variant.label, stage, test.steps("variant", index)[place : place + 1])
        for index, variant in enumerate(result.variants, 1)
        for place, stage in enumerate(variant.stages)
    )


def _row(variant: str, stage: StageResult, steps: Sequence[StepRecord]) -> GuideRow:
    corner, cycled = _CORNERS[stage.series or stage.label], stage.place is not None
    row = GuideRow(variant=variant, corner=corner, depth=stage.demand.queue_depth, cycled=cycled)
    if stage.settled is None or not steps:
        return row
    (step,) = steps
    wall_ns = step.lead_in_ns + step.span_ns
    cpu_pct = None if step.cpu_ns is None or not wall_ns else 100 * step.cpu_ns / wall_ns
    return replace(row, settled=stage.settled, errors=error_count(step), cpu_pct=cpu_pct)


def corner_row(rows: Sequence[GuideRow], variant: str, corner: Corner) -> GuideRow | None:
    """A corner test of a variant, None where the drive cannot run it."""
    return next((row for row in rows if (row.variant, row.corner, row.cycled) == (variant, corner, False)), None)


def guide_checks(run: StoredRun, test: StoredTest, error: float | None) -> dict[str, Finding]:
    """The guide's demands by name. error : the largest share by which the outstanding I/Os were others than asked."""
    outstanding = Finding(level="unknown", reason=coded("no-whole-test"))
    if error is not None:
        outstanding = _limited(error, ERROR_MAX, "depth-off", error=error)
    return {
        "Secondary drive": _KINDS.get(run.identity.kind, Finding(level="n/a", reason=coded("no-system"))),
        "Idle before the test": idle_before(test),
        "No I/Os of others during the test": idle_during(test),
        "Burn-in": burn_in(test),
        "Outstanding I/Os as specified": outstanding,
    }


def _limited(measured: float, limit: float, code: str, **values: float) -> Finding:
    reason = coded(code, **values)
    return Finding(level="pass" if measured <= limit else "warn", reason=reason, measured=measured, limit=limit)


def idle_before(test: StoredTest) -> Finding:
    """Nobody read or wrote while nothing was issued. Worked: 8,192 bytes that were counted -> ``warn``."""
    step = next(_labelled(test, IDLE_LABEL), None)
    if step is None:
        return Finding(level="unknown", reason=coded("not-looked"))
    result = [one.counted_bytes for one in counted([step])]
    if None in result:
        return Finding(level="n/a", reason=coded("no-counters"))
    moved = sum(one for one in result if one is not None)
    return _limited(moved, 0, "others-moved", moved=moved, span_ns=step.span_ns)


def idle_during(test: StoredTest) -> Finding:
    """In every sequence the drive's counters moved by what was issued."""
    pairs = [pair for audit in sequence_audits(test) for pair in (audit.read_bytes, audit.write_bytes)]
    moved = [abs(counts - issued) for issued, counts in pairs if counts is not None]
    if not moved:
        return Finding(level="n/a", reason=coded("no-counters"))
    return _limited(sum(moved), 0, "beyond-issued", moved=sum(moved), count=len(moved) // 2)


def burn_in(test: StoredTest) -> Finding:
    """The drive was written sequentially for as long as the guide asks, at least."""
    steps = list(_labelled(test, BURN_IN_LABEL))
    span_ns = sum(step.span_ns for step in steps)
    reason = coded("burn-in", span_ns=span_ns, written=sum(issued_bytes(step.write) for step in steps))
    enough = span_ns >= BURN_IN_HOURS * HOUR_SECONDS * SECOND_NS
    return Finding(level="pass" if enough else "warn", reason=reason)


def _labelled(test: StoredTest, label: str) -> Iterator[StepRecord]:
    return (step for step in test.preconditioning if step.label == label)
