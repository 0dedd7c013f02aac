"""What a new calibration is held against: earlier certificates of the same drive, and of the same build."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results.reference import is_repeatable, reference_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import Platform, ReferenceDrive
    from assay.host.certificate.record import Certificate
    from assay.host.certificate.simulator import SimulatorRun


def against_baseline(reference: ReferenceDrive, platform: Platform, kept: Sequence[Certificate]) -> ReferenceDrive:
    """Hold a reference drive against its baseline among certificates, the newest first.

    The baseline is the oldest repeatable measurement of the same drive and firmware, made the same way on the same
    host, since the last one that began a new baseline. It stays from one to the next, so that small steps add up.
    Kernel and build may differ: what they change is what is looked for. Without one, this is the first.
    """
    baseline = None if reference.new_baseline else _baseline(reference, platform, kept)
    if baseline is None:
        return reference
    return replace(
        reference,
        baseline_wall_ns=baseline.made_wall_ns,
        changes=reference_changes(reference.points, baseline.points),
    )


def _baseline(reference: ReferenceDrive, platform: Platform, kept: Sequence[Certificate]) -> ReferenceDrive | None:
    result = None
    for one in _alike(reference, platform, kept):
        if is_repeatable(one):
            result = one
        if one.new_baseline:
            break
    return result


def _alike(reference: ReferenceDrive, platform: Platform, kept: Sequence[Certificate]) -> Iterator[ReferenceDrive]:
    for certificate in kept:
        one = certificate.reference
        if (
            one is not None
            and certificate.platform.host_id == platform.host_id
            and one.made_wall_ns < reference.made_wall_ns
            and _method(one) == _method(reference)
        ):
            yield one


def _method(reference: ReferenceDrive) -> tuple[object, ...]:
    """What must be the same for two measurements to be alike."""
    drive, labels = reference.drive, tuple(point.label for point in reference.points)
    return drive.id, drive.firmware, drive.capacity_bytes, reference.range_bytes, reference.seconds, labels


def simulator_runs(platform: Platform, kept: Sequence[Certificate]) -> list[tuple[int, SimulatorRun]]:
    """Dates and simulator runs of the certificates of this very build, of any host, the newest first."""
    return [
        (one.made_wall_ns, one.simulator.first)
        for one in kept
        if one.simulator is not None and platform.build is not None and one.platform.build == platform.build
    ]
