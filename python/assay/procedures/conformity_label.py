"""How far a run conforms to its edition, as every page prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.conformity import derived_deviations
from assay.words.printed import paragraph

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

_SIMULATED = "simulated drive"


def conformity_label(run: StoredRun) -> str:
    """Name the class of a run as each page prints it.

    It is derived from what ran, not believed: see ``assay.procedures.conformity``.
    Returns ``conforming`` (real drive and no deviation), ``not conforming: <list>`` or ``simulated drive``,
    the last with its deviations where there are any.
    Worked: a simulated drive without deviations -> ``"simulated drive"``.
    """
    result = "; ".join(deviations(run))
    return f"{conformity_head(run)}: {result}" if result else conformity_head(run)


def conformity_head(run: StoredRun) -> str:
    """The label without its list. Worked: a simulated drive that departs -> ``"simulated drive; not conforming"``."""
    name = conformity_class(run)
    return f"{name}; not conforming" if name == _SIMULATED and deviations(run) else name


def conformity_class(run: StoredRun) -> str:
    """The class of a run in one or two words: ``conforming``, ``not conforming`` or ``simulated drive``."""
    if run.identity.kind == "simulated":
        return _SIMULATED
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
