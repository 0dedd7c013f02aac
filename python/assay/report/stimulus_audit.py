"""The stimulus audit of a test as a table: what was asked, what was issued, what the drive counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.model import Table
from assay.pages.printed import NOT_AVAILABLE, paragraph
from assay.units import MILLISECOND_NS
from assay.window import stimulus_audit
from assay.window.stimulus_asked import asked_steps
from assay.window.stimulus_time import larger_lead_ins

if TYPE_CHECKING:
    from assay.records import StoredRun, StoredTest
    from assay.window import AuditRow

# Name of each check, and the unit of its figure.
_NAMES = {
    "failed-ios": ("Issued I/Os that did not complete", "count"),
    "histogram-counts": ("Response times less completions", "count"),
    "counted-bytes": ("Bytes counted by the kernel less issued", "count"),
    "counted-ios": ("Requests + merges less I/Os issued (splits)", "count"),
    "merges": ("I/Os merged by the kernel", "count"),
    "counted-at-boundaries": ("Bytes counted less issued, per step", "count"),
    "smart-units": ("Bytes of the health log less issued", "count"),
    "read-share": ("Reads among all I/Os, off by", "sigma"),
    "transfer-sizes": ("Transfer sizes, off by", "size"),
    "captured-ios": ("Captured I/Os less completed", "count"),
    "lba-coverage": ("LBAs touched, less expected", "share"),
    "balance": ("Outstanding time less that of the I/Os, ns", "count"),
    "series-counts": ("Completions per second less those of windows", "count"),
    "lead-in": ("Longest lead-in", "ms"),
    "queue-depth": ("Queue depth against TC x QD", "share"),
    "littles-law": ("Little's law against outstanding I/Os", "share"),
    "submission-gap": ("Longest time without a submission", "ms"),
    "step-gap": ("Gap between steps", "ms"),
    "program-gap": ("Gap between programs", "ms"),
    "thread-shares": ("Thread with the fewest, below the mean", "share"),
}
_OUTCOMES = {"pass": "pass", "mark": "MARK", "unknown": "unknown", "n/a": NOT_AVAILABLE}
_NOTES = (
    """The worst step or program of each check is shown, with its figures; at most the bound passes. Counters of the
    kernel are exact over a program; at the boundary of a step they may differ by what is in flight.""",
    """Drawn shares (reads, sizes) are held against chance, in standard deviations (s.d.). Little's law: IOPS x mean
    response time is the mean of outstanding I/Os; unknown where 0.5 % of their time or more crosses its ends.""",
    """Where a step differs from the one before, its window opens when the last I/O of that one is in (lead-in); one
    above twice the mean response time before it and 5 % of the window keeps part of the change out of the rate.""",
    """A mark is no error of the drive: it says what stood between the numbers asked for and the I/Os that arrived.""",
)


def audit_table(run: StoredRun, test: StoredTest) -> Table:
    """Lay out the stimulus audit of one test.

    run : that it is part of. Worked: 30 merges in one program print ``MARK``, ``1 of 10``, ``30``, ``0``.
    """
    return Table(
        caption=f"{test.settings.test.upper()}: stimulus audit",
        columns=("Check", "Outcome", "Marked", "Worst", "Bound", "Where", "Figures"),
        rows=tuple(_row(row) for row in stimulus_audit(run, test)),
        notes=tuple(paragraph(note) for note in (*_NOTES, *_lead_ins(test))),
    )


def _lead_ins(test: StoredTest) -> tuple[str, ...]:
    told = larger_lead_ins(tuple(asked_steps(test)))
    return () if told is None else (told,)


def _row(row: AuditRow) -> tuple[str, ...]:
    name, unit = _NAMES[row.name]
    judged = f"{row.marked:,} of {row.judged:,}" if row.judged else NOT_AVAILABLE
    found, bound = (_figure(value, unit) for value in (row.found, row.bound))
    return (name, _OUTCOMES[row.outcome], judged, found, bound, row.where or NOT_AVAILABLE, paragraph(row.detail))


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return NOT_AVAILABLE
    match unit:
        case "share":
            return f"{value:z.2%}"
        case "ms":
            return f"{value / MILLISECOND_NS:z,.3f} ms"
        case "sigma":
            return f"{value:z.2f} s.d." if value else "0"
        case _:
            return f"{value:z,.6g}" if unit == "size" else f"{value:,.0f}"
