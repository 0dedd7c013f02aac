"""What the OEM guide asks to be seen to before a drive is tested, as findings from what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.oem_guide.options import BURN_IN_HOURS
from assay.procedures.oem_guide.plan import BURN_IN_LABEL, IDLE_LABEL
from assay.results import issued_bytes, sequence_audits
from assay.results.audit import counted
from assay.results.finding import Finding
from assay.spec.units import HOUR_SECONDS, SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StepRecord, StoredRun, StoredTest
    from assay.procedures.studies.settings import StudySettings

ERROR_MAX = 0.02
"""Mean outstanding I/Os may lie so far from what was asked for."""

_KINDS = {
    "block": Finding(level="pass", reason=coded("gate-refuses")),
    "file": Finding(level="n/a", reason=coded("file-system")),
}


def guide_checks(run: StoredRun, test: StoredTest, error: float | None) -> dict[str, Finding]:
    """The guide's demands by name. error : the largest share by which the outstanding I/Os were others than asked."""
    return {
        "Secondary drive": _KINDS.get(run.identity.kind, Finding(level="n/a", reason=coded("no-system"))),
        "Idle before the test": idle_before(test),
        "No I/Os of others during the test": idle_during(test),
        "Burn-in": burn_in(test),
        "Outstanding I/Os as specified": _outstanding(error),
    }


def idle_before(test: StoredTest) -> Finding:
    """Nobody read or wrote while nothing was issued. Worked: 8,192 bytes that were counted -> ``warn``."""
    step = next(_labelled(test, IDLE_LABEL), None)
    if step is None:
        return Finding(level="unknown", reason=coded("not-looked"))
    result = [one.counted_bytes for one in counted([step])]
    moved = sum(one for one in result if one is not None)
    if None in result:
        return Finding(level="n/a", reason=coded("no-counters"))
    reason = coded("others-moved", moved=moved, span_ns=step.span_ns)
    return Finding(level="warn" if moved else "pass", reason=reason, measured=moved, limit=0)


def idle_during(test: StoredTest) -> Finding:
    """In every sequence the drive's counters moved by what was issued."""
    pairs = [
        pair
        for sequence_audit in sequence_audits(test)
        for pair in (sequence_audit.read_bytes, sequence_audit.write_bytes)
    ]
    moved = [abs(counts - issued) for issued, counts in pairs if counts is not None]
    if not moved:
        return Finding(level="n/a", reason=coded("no-counters"))
    reason = coded("beyond-issued", moved=sum(moved), count=len(moved) // 2)
    return Finding(level="warn" if any(moved) else "pass", reason=reason, measured=sum(moved), limit=0)


def burn_in(test: StoredTest) -> Finding:
    """The drive was written sequentially for as long as the guide asks, at least."""
    steps = list(_labelled(test, BURN_IN_LABEL))
    span_ns = sum(step.span_ns for step in steps)
    reason = coded("burn-in", span_ns=span_ns, written=sum(issued_bytes(step.write) for step in steps))
    enough = span_ns >= BURN_IN_HOURS * HOUR_SECONDS * SECOND_NS
    return Finding(level="pass" if enough else "warn", reason=reason)


def burn_in_ns(settings: StudySettings) -> int:
    """How long the burn-in was set to be."""
    steps = (step for variant in settings.variants for step in variant.steps)
    return sum(step.span_ns * step.samples for step in steps if step.label == BURN_IN_LABEL)


def _outstanding(error: float | None) -> Finding:
    if error is None:
        return Finding(level="unknown", reason=coded("no-whole-test"))
    reason = coded("depth-off", error=error)
    return Finding(level="pass" if error <= ERROR_MAX else "warn", reason=reason, measured=error, limit=ERROR_MAX)


def _labelled(test: StoredTest, label: str) -> Iterator[StepRecord]:
    return (step for step in test.preconditioning if step.label == label)
