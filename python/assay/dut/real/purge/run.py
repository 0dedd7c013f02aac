"""Carries a chosen purge out and proves it by marked places."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.dut.real.direct import WRONG_REMEDY
from assay.dut.real.purge.marks import lost_marks, new_marks, surviving_marks, write_marks
from assay.dut.real.purge.offer import CHECK_REMEDY, PurgeWatch
from assay.engine.records import PurgeRecord
from assay.errors import DeviceFailureError, IdentityError, WrongDataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.dut.real.gate import OpenDrive
    from assay.dut.real.purge.offer import Offer

UNREHEARSED = "this command was rehearsed on recorded replies only, not run on hardware"


def purge_drive(drive: OpenDrive, offers: Sequence[Offer], watch: PurgeWatch | None = None) -> PurgeRecord:
    """Purge a drive by the first offer that works, and say how well that is.

    offers : at least one, as chosen. watch : who watches.
    Returns method, proof and deviation as the report prints them; ``span_ns`` is that of the purge without its proof.
    Raises IdentityError (the drive was replaced), GateRefusedError, WrongDataError (a mark did not last until the
    purge), DeviceFailureError (the last offer failed, marks outlive it, or the drive has another geometry afterwards).
    """
    drive.verify()
    failure: DeviceFailureError | None = None
    try:
        for offer in offers:
            outcome = _purged(drive, offer, watch or PurgeWatch())
            if isinstance(outcome, PurgeRecord):
                return outcome
            failure = outcome
    except OSError as error:
        failure = _failure(drive, error)
    raise failure or DeviceFailureError(drive.identity.path, "cannot be purged", CHECK_REMEDY)


def _purged(drive: OpenDrive, offer: Offer, watch: PurgeWatch) -> PurgeRecord | DeviceFailureError:
    """Purge by one offer; an error is returned where it had no effect and another may be tried."""
    marks = new_marks(drive.identity.capacity_bytes)
    write_marks(drive.fd, marks)
    _check_kept(drive, marks)
    begun_ns = time.monotonic_ns()
    try:
        stated = offer.run(watch)
    except OSError as error:
        return _failure(drive, error)
    span_ns = time.monotonic_ns() - begun_ns
    _check_geometry(drive)
    surviving, zero = surviving_marks(drive.fd, marks)
    if surviving:
        reason = f"{surviving} of {len(marks)} marked blocks outlived the {offer.label}"
        return DeviceFailureError(drive.identity.path, reason, "check the drive: it does not do what it says")
    proof = f"{len(marks)} marked blocks were read before and after the {offer.label}: {zero} as zeros, none as written"
    remarks = [proof, *filter(None, [stated]), *([] if offer.rehearsed else [UNREHEARSED])]
    return PurgeRecord(method=offer.label, proof="; ".join(remarks), deviation=offer.deviation, span_ns=span_ns)


def _check_kept(drive: OpenDrive, marks: dict[int, bytes]) -> None:
    """Marks that were gone before the purge would prove nothing of it."""
    lost = lost_marks(drive.fd, marks)
    if lost:
        offset, zeros = lost[0]
        first = f"LBA {offset // drive.identity.logical_block_bytes:,} returned {'zeros' if zeros else 'other data'}"
        reason = f"{first}, not the mark written before the purge ({len(lost)} of {len(marks)} marked blocks wrong)"
        raise WrongDataError(drive.identity.path, reason, WRONG_REMEDY)


def _failure(drive: OpenDrive, error: OSError) -> DeviceFailureError:
    reason = f"purge failed ({error.strerror or 'short transfer'})"
    return DeviceFailureError(drive.identity.path, reason, "check the drive and its cabling")


def _check_geometry(drive: OpenDrive) -> None:
    """A format can change size and block size under an open engine."""
    try:
        drive.verify()
    except IdentityError as changed:
        raise DeviceFailureError(changed.thing, f"after the purge: {changed.reason}", CHECK_REMEDY) from changed
