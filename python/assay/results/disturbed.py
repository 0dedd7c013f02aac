"""What the test system did to a sequence: disturbed sequences are blamed on the host, not on the drive.

Limits are shares of the time in which the host ran, or nanoseconds. In a stall no thread that asked for it
could run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results.finding import Finding, at_most, outside_results
from assay.results.host_part import PART_PASS, sequence_part
from assay.results.measured import counted_sequences, counted_window
from assay.results.sequence_names import sequence_place
from assay.spec.units import MILLISECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import HostRecord, StoredSequence, StoredTest
    from assay.words.coded import Coded

LATE_NS_MAX_PASS = 10 * MILLISECOND_NS
# Of a minute, the specification's round, one hundredth: no single stall may take more, however long the sequence is.
LATE_NS_MAX_INVALID = 600 * MILLISECOND_NS
STALLED_SHARE_INVALID = 0.01
# Sequences of under ten seconds are scaled ones, which conform to nothing: a stall or two of a busy host is told there.
STALLED_NS_MIN_INVALID = 100 * MILLISECOND_NS
STEAL_SHARE_PASS, STEAL_SHARE_INVALID = 0.005, 0.05


def host_findings(host: HostRecord | None) -> tuple[Finding, ...]:
    """Judge how far the host kept a sequence from running; the gravest finding first.

    ``warn``: the host is visible in the numbers; ``invalid``: they are the host's, not the drive's; ``unknown``: nobody
    watched; a host that kept still has one finding, ``pass``, without a reason.
    Worked: a single stall of 1,502 ms -> ``invalid``, reason ``"the host stalled for 1,502 ms"``; one of 12 ms in a
    minute -> ``warn``.
    """
    if host is None:
        return (Finding(level="unknown", reason=coded("not-watched")),)
    findings = [*_stalls(host), *_stolen(host)]
    return tuple(sorted(findings, key=lambda one: -one.severity[0])) or (Finding(level="pass"),)


def sequence_host(sequence: StoredSequence) -> tuple[Finding, ...]:
    """Judge what the host did during a stored sequence, the gravest finding first."""
    return host_findings(sequence.host)


def disturbances(test: StoredTest) -> Iterator[Finding]:
    """The gravest of what the host did during each sequence; where no result comes from, it only warns.

    Worked: ``"the host stalled for 1,502 ms in round 3; the test system disturbed this, not the drive"``.
    """
    counts = {id(sequence) for sequence in counted_sequences(test)}
    for sequence in test.sequences:
        worst = sequence_host(sequence)[0]
        if worst.level in {"warn", "invalid"}:
            worst = replace(worst, reason=coded("host-disturbed", what=worst.reason, where=sequence_place(sequence)))
        elif worst.level == "pass":
            worst = replace(worst, reason=coded("host-still"))
        worst = worst if id(sequence) in counts else outside_results(worst)
        # Times and shares have no unit in common.
        yield replace(worst, where=sequence_place(sequence), measured=None, limit=None)


def disturbed_count(test: StoredTest) -> tuple[int, int] | None:
    """How many of the sequences that results come from the host disturbed, and of how many; None where nobody watched.

    Worked: a stall in two of 27 rounds -> (2, 27).
    """
    counted = counted_sequences(test)
    if not any(sequence.host for sequence in counted):
        return None
    return sum(_is_disturbed(sequence, test) for sequence in counted), len(counted)


def host_late_ns_max(test: StoredTest) -> int:
    """How late the host let a thread run at most, over what results come from; 0 where nobody watched."""
    return max(
        (counted_sequence.host.late_ns_max for counted_sequence in counted_sequences(test) if counted_sequence.host),
        default=0,
    )


def window_disturbed(test: StoredTest) -> Coded | None:
    """That the host disturbed every round of the window, or every measured part of a test that has none; else None.

    Worked: a stall in each of five rounds -> ``"5 of 5 rounds"``; in four of them -> None.
    """
    window = counted_window(test)
    held = window or counted_sequences(test)
    if not held or not all(_is_disturbed(sequence, test) for sequence in held):
        return None
    return coded("all-rounds" if window and test.window_stage == "round" else "all-parts", count=len(held))


def _is_disturbed(sequence: StoredSequence, test: StoredTest) -> bool:
    """Whether the host stalled or was stolen, or is more than its share of the sequence's numbers."""
    return sequence_host(sequence)[0].marked or (sequence_part(sequence, test.calibration) or 0.0) > PART_PASS


def round_hosts(test: StoredTest) -> dict[int, tuple[str | None, Coded | None]]:
    """What the host did during each round: the level, None where nobody watched, and the reason where it disturbed it.

    Worked: a stall in round 3 -> ``("invalid", "the host stalled for 1,502 ms")`` for 3, ``("pass", None)`` for 4.
    """
    worst = {sequence.index: sequence_host(sequence)[0] for sequence in test.stage("round")}
    return {
        index: (None if one.level == "unknown" else one.level, one.reason if one.marked else None)
        for index, one in worst.items()
    }


def _stalls(host: HostRecord) -> Iterator[Finding]:
    # A stall lengthens a sequence that an amount ends, and is therefore no part of the time that it is a share of.
    ran_ns = max(host.span_ns - host.stalled_ns, 0)
    stalled_max = max(STALLED_SHARE_INVALID * ran_ns, STALLED_NS_MIN_INVALID)
    invalid = host.late_ns_max >= LATE_NS_MAX_INVALID or host.stalled_ns > stalled_max
    if host.late_ns_max > LATE_NS_MAX_PASS:
        more = {"count": len(host.stalls), "in_all_ns": host.stalled_ns} if host.stalls[1:] else {}
        yield Finding(
            level="invalid" if invalid else "warn",
            reason=coded("host-stalled", late_ns=host.late_ns_max, **more),
            measured=host.late_ns_max,
            limit=LATE_NS_MAX_PASS,
        )


def _stolen(host: HostRecord) -> Iterator[Finding]:
    """Of all processors' time."""
    stolen = 0.0 if host.steal_ns is None else host.steal_ns / (max(host.span_ns, 1) * host.cpu_count)
    if stolen > STEAL_SHARE_PASS:
        level = at_most(stolen, STEAL_SHARE_PASS, STEAL_SHARE_INVALID)
        shown = coded("host-stolen", share=stolen)
        yield Finding(level=level, reason=shown, measured=stolen, limit=STEAL_SHARE_PASS)
