"""What else the drive's link carried: I/O of neighbours, and the link itself."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from assay.results.finding import Finding, at_most
from assay.results.sequence_names import sequence_place
from assay.results.step import completed_count, issued_bytes
from assay.spec.units import MB, SECOND_NS, link_bytes_per_s
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import NeighbourRecord, NeighboursRecord, StoredRun, StoredSequence, StoredTest
    from assay.words.coded import Coded


NEIGHBOUR_SHARE_PASS = 0.01
"""Of what the test issued in the same sequence, or of the link that both use; beyond it a warning."""
_NAMED_MAX = 3


def neighbour_io(test: StoredTest) -> Sequence[Finding]:
    """For every sequence and each thing that is shared, how much I/O others had on it.

    Devices on one subsystem, target or disk are held against the I/Os and the bytes of the test, the larger share
    counts; those on a controller or uplink against its link, or against the bytes of the test where no link is known.
    The whole sequence counts: a burst within it is averaged.
    A device that the kernel does not count makes the whole unknown, unless another is beyond the limit.
    Worked: 30 MB of nvme0n2 beside 1,000 MB that the test issued to nvme0n1 -> ``warn``, 0.03.
    """
    watched = [(sequence, sequence.drive.neighbours) for sequence in test.sequences if sequence.drive]
    result = [finding for sequence, near in watched if near for finding in _of_sequence(sequence, near)]
    unknown = [finding for finding in result if finding.level == "unknown"]
    if not result:
        return (Finding(level="unknown", reason=coded("not-watched")),)
    return result if any(finding.marked for finding in result) or not unknown else unknown


def _of_sequence(sequence: StoredSequence, near: NeighboursRecord) -> Iterator[Finding]:
    where = sequence_place(sequence)
    by_shared = attrgetter("shared", "by")
    for _, group in groupby(sorted(near.moved, key=by_shared), key=by_shared):
        yield _judged(sequence, near.span_ns, tuple(group))
    if near.uncounted:
        yield Finding(level="unknown", reason=coded("neighbours-uncounted", names=near.uncounted), where=where)
    elif not near.moved:
        idle = coded("neighbours-idle", count=near.watched_count)
        yield Finding(level="pass", reason=idle, measured=0.0, limit=NEIGHBOUR_SHARE_PASS, where=where)


def _judged(sequence: StoredSequence, span_ns: int, group: Sequence[NeighbourRecord]) -> Finding:
    busiest = sorted(group, key=attrgetter("moved_bytes"), reverse=True)
    values = {
        "rows": tuple(_row(near, span_ns) for near in busiest[:_NAMED_MAX]),
        "more": len(busiest[_NAMED_MAX:]) or None,
        "on": coded(f"on-{group[0].shared}", by=group[0].by),
    }
    where, shares = sequence_place(sequence), _shares(sequence, span_ns, group)
    if not shares:
        return Finding(level="pass", reason=coded("neighbours-unjudged", **values), where=where)
    share, basis = max(shares, key=lambda pair: pair[0])
    reason = coded("neighbours-busy", **values, share=share, basis=basis)
    level, limit = at_most(share, NEIGHBOUR_SHARE_PASS), NEIGHBOUR_SHARE_PASS
    return Finding(level=level, reason=reason, measured=share, limit=limit, where=where, weight=busiest[0].moved_bytes)


def _shares(sequence: StoredSequence, span_ns: int, group: Sequence[NeighbourRecord]) -> list[tuple[float, Coded]]:
    """Shares that the I/O of a group is of what it is held against, with what that is; empty where nothing is."""
    first, moved = group[0], sum(near.moved_bytes for near in group)
    rate = link_bytes_per_s(first.link) if first.link else None
    if rate and span_ns:
        return [(moved / (rate * span_ns / SECOND_NS), coded("link-bytes", link=first.link))]
    issued = sum(issued_bytes(side) for step in sequence.steps for side in (step.read, step.write))
    shares = [(moved / issued, coded("issued-bytes"))] if issued else []
    count = sum(completed_count(step) for step in sequence.steps)
    if count and first.shared in {"subsystem", "target", "disk"}:
        shares.append((sum(near.io_count for near in group) / count, coded("issued-ios")))
    return shares


def _row(near: NeighbourRecord, span_ns: int) -> Coded:
    rate = near.moved_bytes * SECOND_NS / max(span_ns, 1)
    return coded("neighbour-io", name=near.name, moved=near.moved_bytes, rate=rate)


def link_mb_per_s(run: StoredRun) -> float | None:
    """MB/s of the link as negotiated, else of the interface by its name; None where neither is known.

    Worked: ``SATA 3.0 Gbps`` -> 300.
    """
    negotiated = run.conditions[0].link if run.conditions else None
    named = (negotiated, run.identity.interface)
    return next((rate / MB for one in named if one and (rate := link_bytes_per_s(one))), None)
