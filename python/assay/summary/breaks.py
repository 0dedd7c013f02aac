"""Where a run was cut short and resumed, in words that every output has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.units import count_label
from assay.words.printed import paragraph, utc

if TYPE_CHECKING:
    from assay.engine.records import RunBreak, StoredRun


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
