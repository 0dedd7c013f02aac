"""How far a run conforms to its edition, as every page prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.printed import paragraph
from assay.report.conformity import derived_deviations

if TYPE_CHECKING:
    from assay.engine.records import StoredRun


def conformity_label(run: StoredRun) -> str:
    """Name the class of a run as each page prints it.

    It is derived from what ran, not believed: see ``assay.report.conformity``.
    Returns ``conforming`` (real drive and no deviation), ``not conforming: <list>`` or ``simulated drive``,
    the last with its deviations where there are any.
    Worked: a simulated drive without deviations -> ``"simulated drive"``.
    """
    found = "; ".join(deviations(run))
    if run.identity.kind == "simulated":
        return f"simulated drive; not conforming: {found}" if found else "simulated drive"
    return f"not conforming: {found}" if found else "conforming"


def conformity_class(run: StoredRun) -> str:
    """The class of a run in one or two words: ``conforming``, ``not conforming`` or ``simulated drive``."""
    if run.identity.kind == "simulated":
        return "simulated drive"
    return "not conforming" if deviations(run) else "conforming"


def deviations(run: StoredRun) -> tuple[str, ...]:
    """List every deviation once: the run's own list, then what its tests show, then a purge's."""
    listed = [paragraph(text) for text in run.deviations]
    shown = (paragraph(text) for text in derived_deviations(run))
    listed += [text for text in shown if text not in listed]
    for text in (paragraph(test.purge.deviation) for test in run.tests if test.purge and test.purge.deviation):
        if not any(text in known for known in listed):
            listed.append(text)
    return tuple(listed)
