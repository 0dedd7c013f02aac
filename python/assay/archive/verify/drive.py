"""Rules that tell a real drive from a simulated drive: a run of each stores what the other cannot have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.bundle.redact import is_redacted
from assay.archive.verify.evidence import Broken
from assay.engine.records import REAL_PURGES, SIMULATED_PURGE
from assay.words.outcomes import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import StoredSequence

_SCHEME = "sim:"


def _is_simulated(evidence: Evidence) -> bool:
    return evidence.document.identity.kind == "simulated"


def _sequences(evidence: Evidence) -> Iterator[tuple[str, StoredSequence]]:
    for test in evidence.run.tests:
        for sequence in test.sequences:
            yield f"{test.settings.test}: {sequence.name}", sequence


def names(evidence: Evidence) -> Iterator[Broken]:
    """A simulated drive is named by what it simulates, and a real drive never is."""
    identity, simulated = evidence.document.identity, _is_simulated(evidence)
    if is_redacted(evidence.document.description):
        return
    for key in ("id", "path"):
        if (name := getattr(identity, key)).startswith(_SCHEME) != simulated:
            expected = f"{_SCHEME}..., as the drive is simulated" if simulated else "the name of a real drive"
            yield Broken(place=f"run.json: identity.{key}", found=f"{name:.60}", expected=expected)


def purges(evidence: Evidence) -> Iterator[Broken]:
    """A simulated drive is purged in its own way; a real drive by a command, a discard or an overwrite."""
    ways = (SIMULATED_PURGE,) if _is_simulated(evidence) else REAL_PURGES
    for test in evidence.run.tests:
        if test.purge and not test.purge.method.startswith(ways):
            place = f"{test.settings.test}: purge"
            yield Broken(place=place, found=f"{test.purge.method:.60}", expected=f"any of: {', '.join(ways)}")


def hosts(evidence: Evidence) -> Iterator[Broken]:
    """The host is watched during every sequence on a real drive. Simulated time is not the time of a host."""
    simulated = _is_simulated(evidence)
    for place, sequence in _sequences(evidence):
        if (sequence.host is None) != simulated:
            found = "no record of the host" if sequence.host is None else "a record of the host"
            yield Broken(place=place, found=found, expected="none" if simulated else "a record, as the drive is real")


def processor_times(evidence: Evidence) -> Iterator[Broken]:
    """The threads of a real drive took time of a processor. Those of a simulated drive are not timed."""
    simulated = _is_simulated(evidence)
    for place, sequence in _sequences(evidence):
        whole = all(step.ended == "stop-rule" for step in sequence.steps)
        timed = any(step.cpu_ns is not None for step in sequence.steps)
        if simulated and timed:
            yield Broken(place=place, found="CPU time of its threads", expected="none, as the drive is simulated")
        elif not simulated and whole and not timed:
            yield Broken(place=place, found="no CPU time of its threads", expected="a time, as the drive is real")


def is_watched(evidence: Evidence) -> bool:
    """Whether the run is of a version that looks for other users of a real drive, or its drive is simulated."""
    return _is_simulated(evidence) or any(test.looks is not None for test in evidence.run.tests)


def looks(evidence: Evidence) -> Iterator[Broken]:
    """Other users of a real drive are looked for in every test that ended; a simulated drive has none."""
    simulated = _is_simulated(evidence)
    for test in evidence.run.tests:
        if simulated and test.looks is not None:
            yield Broken(place=f"{test.settings.test}", found="looks for other users", expected="none")
        elif not simulated and test.looks is None and not is_cut_short(test.ended):
            yield Broken(place=f"{test.settings.test}", found="no looks for other users", expected="as in other tests")
