"""What the test system did to a test: checks of the host, and the parts that it disturbed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results.finding import Check, Checked, Finding, ask, at_least, at_most, outside_results
from assay.results.host_part import PART_PASS, sequence_part
from assay.results.measured import counted_sequences, counted_window
from assay.results.sequence_names import sequence_place, step_places
from assay.results.step import iops, issued_bytes, issued_count, latency_count, mean_latency_ns
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import (
        Demand,
        FillPoint,
        HostPoint,
        HostRecord,
        StepRecord,
        StepSpec,
        StoredRun,
        StoredSequence,
        StoredTest,
    )
    from assay.words.coded import Coded, Place


CEILING_PASS, CEILING_INVALID = 2.0, 1.2
"""Ceiling over measured IOPS: at least the first passes; below the second the tester was the limit."""

COST_PASS, COST_INVALID = 0.02, 0.10
"""Cost of an I/O over its response time: up to the first passes; above the second it is in the figure."""

FILL_PASS, FILL_INVALID = 2.0, 1.0
"""Bytes that the host can make over bytes written: at least the first passes; below the second it could not keep up."""

_MADE = {"random", "compressible"}
"""Kinds of data that are made anew for every write."""


def host_checks(run: StoredRun) -> tuple[Checked, ...]:
    """Hold the measured steps of a run against the certificate of its host; none without a valid one.

    The step with the least head room counts: of IOPS under the ceiling, of cost in the response time, and of data made
    for what was written, if anything was. A certificate without data rates leaves that check out: it is unknown.
    Worked: a ceiling of 500,000 IOPS and at most 200,000 measured -> ratio 2.5, ``pass``; an I/O that costs 600 ns
    and takes 20,000 ns on average -> ratio 0.03, ``warn``; 8 threads on 4 CPUs that each make 5 GB/s, and 25 GB/s
    written -> ratio 0.8, ``invalid``.
    """
    if run.certificate is None or run.certificate.status != "valid":
        return ()
    return tuple(one for one in (ask(check, run) for check in HOST_CHECKS) if one.level != "n/a")


def certified_point(points: tuple[HostPoint, ...], demand: Demand) -> HostPoint | None:
    """What is certified for a demand: the largest that asks for no more threads and no more depth.

    Its ceiling is one that this demand reaches at least. None where even the smallest asks for more.
    Worked: of 1 x 1, 1 x 8 and 1 x 32, a demand of 2 x 16 is held against 1 x 8.
    """
    within = [
        point
        for point in points
        if point.thread_count <= demand.thread_count and point.queue_depth <= demand.queue_depth
    ]
    return max(within, key=lambda point: (point.thread_count, point.queue_depth), default=None)


def _certified(run: StoredRun) -> Iterator[tuple[Place, HostPoint, float, float]]:
    """Every measured step with what is certified for its demand, its IOPS and its mean response time."""
    points = run.certificate.points if run.certificate else ()
    for place, spec, record in _measured(run):
        point = certified_point(points, spec.demand)
        rate, mean_ns = float(iops(record)), mean_latency_ns(record)
        if point is not None and rate and mean_ns:
            yield place, point, rate, mean_ns


def _ceiling(run: StoredRun) -> Iterator[Finding]:
    result = [(point.iops / rate, place, point, rate) for place, point, rate, _ in _certified(run)]
    for ratio, place, point, rate in [min(result, key=lambda one: one[0])] if result else []:
        level = at_least(ratio, CEILING_PASS, CEILING_INVALID)
        reason = coded("ceiling", ratio=ratio, ceiling=point.iops, iops=rate)
        yield Finding(level=level, reason=reason, measured=ratio, limit=CEILING_PASS, where=place)


def _cost(run: StoredRun) -> Iterator[Finding]:
    for place, point, _, mean_ns in _certified(run):
        ratio = point.cpu_ns / mean_ns
        level = at_most(ratio, COST_PASS, COST_INVALID)
        reason = coded("cost", ratio=ratio, cpu_ns=point.cpu_ns, mean_ns=mean_ns)
        yield Finding(level=level, reason=reason, measured=ratio, limit=COST_PASS, where=place)


def fill_point(fills: tuple[FillPoint, ...], transfer_bytes: float) -> FillPoint | None:
    """What is certified for writes of a size: the smallest that is as large, else the largest; None without any.

    Larger writes are made more slowly, since their buffers leave the caches. Worked: of 4, 128 and 1024 KiB, writes of
    8 KiB are held against 128 KiB.
    """
    as_large = [point for point in fills if point.transfer_bytes >= transfer_bytes]
    return min(as_large or fills, key=lambda point: abs(point.transfer_bytes - transfer_bytes), default=None)


def _fills(run: StoredRun) -> Iterator[Finding]:
    fills = list(_made(run))
    for ratio, place, point, cores, rate in [min(fills, key=lambda one: one[0])] if fills else []:
        level = at_least(ratio, FILL_PASS, FILL_INVALID)
        reason = coded("fill", ratio=ratio, each=point.bytes_per_s, cores=cores, written=rate)
        yield Finding(level=level, reason=reason, measured=ratio, limit=FILL_PASS, where=place)


def _made(run: StoredRun) -> Iterator[tuple[float, Place, FillPoint, int, float]]:
    """Every measured step whose data are made anew: head room, place, what is certified, cores, bytes per second."""
    fills = run.certificate.fills if run.certificate else ()
    cpu_count = run.platform.extra.get("logical_cpu_count")
    for place, spec, record in _measured(run):
        write, threads = record.write, spec.demand.thread_count
        moved, span_ns = issued_bytes(write), record.lead_in_ns + record.span_ns
        point = fill_point(fills, moved / max(issued_count(write), 1))
        if point is not None and moved and spec.pattern.data.kind in _MADE:
            cores = min(threads, cpu_count) if isinstance(cpu_count, int) else threads
            rate = moved * SECOND_NS / span_ns
            yield point.bytes_per_s * cores / rate, place, point, cores, rate


def _measured(run: StoredRun) -> Iterator[tuple[Place, StepSpec, StepRecord]]:
    """Every step that a result comes from, with its name and what was asked of it."""
    for test in run.tests:
        for sequence in counted_sequences(test):
            for place, spec, record in zip(step_places(sequence), sequence.asked, sequence.steps, strict=False):
                if latency_count(record):
                    yield replace(place, stem=f"{test.settings.test_label} {place.stem}"), spec, record


HOST_CHECKS: tuple[Check[StoredRun], ...] = (
    Check(name="ceiling", title="Ceiling over highest IOPS", passes="2 or more, invalid below 1.2", answer=_ceiling),
    Check(name="cost", title="Cost over response time", passes="up to 2 %, invalid above 10 %", answer=_cost,
          unit="share"),
    Check(name="fill", title="Data made over written", passes="2 or more, invalid below 1", answer=_fills),
)  # fmt: skip
"""The checks in the order in which they are printed."""


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
