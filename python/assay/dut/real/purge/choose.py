"""Which purge is done: what the user names, or the strongest that the drive offers and that has been rehearsed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assay.dut.real.purge.ata import ata_offers
from assay.dut.real.purge.discard import DISCARD_DEVIATION, discard_offer, overwrite_offer, supports_discard
from assay.dut.real.purge.nvme import nvme_offers
from assay.dut.real.purge.scsi import scsi_offers
from assay.dut.real.transport import HeldDrive, command_set
from assay.errors import DriveBusyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.dut.real.gate import OpenDrive
    from assay.dut.real.purge.offer import Offer, Shown
    from assay.dut.real.transport import CommandSet, Transport
    from assay.engine.records import DriveIdentity, PurgeMethod


def choose_purge(
    drive: OpenDrive,
    overwrite: Callable[[Shown], int],
    *,
    wanted: PurgeMethod | Literal["auto"] = "auto",
    all_namespaces: int | None = None,
    transport: Transport | None = None,
    commands: CommandSet | None = None,
) -> tuple[Offer, ...]:
    """Ask the drive what it offers and choose; nothing is written.

    overwrite : writes the whole drive once and shows how far it is; the span in ns.
    wanted : a method, or ``auto``: the format of an NVMe drive, else discard, else an overwrite. Commands that no drive
    has rehearsed, and those that leave a drive locked when they are cut short, are done only by name.
    all_namespaces : number of namespaces whose destruction is acknowledged. transport, commands : of the held drive.
    Returns what is to be tried, in order. Raises UsageError for what the drive does not offer, and GateRefusedError
    where it must not be done.
    """
    commands = commands or command_set(drive.identity)
    transport = transport or HeldDrive(drive.fd)
    # A drive is asked nothing that does not matter for the choice: not all of them bear every question.
    asked = commands == "nvme" if wanted == "auto" else wanted not in ("discard", "overwrite")
    offers = _offers(drive.identity.path, commands, transport, all_namespaces) if asked else []
    plain = [discard_offer(drive)] if supports_discard(drive) else []
    plain.append(overwrite_offer(overwrite, chosen=wanted == "overwrite"))
    if wanted == "auto":
        return _automatic(offers, plain)
    result = next((offer for offer in [*offers, *plain] if offer.method == wanted), None)
    if result is None:
        names = ", ".join(offer.method for offer in [*offers, *plain])
        raise UsageError(f"--purge {wanted}", f"is not offered by {drive.identity.path}", f"it offers {names}")
    if result.obstacle is not None:
        raise result.obstacle
    return (result,)


def offered(
    identity: DriveIdentity,
    wanted: PurgeMethod | Literal["auto"],
    transport: Transport,
    commands: CommandSet | None,
    all_namespaces: int | None = None,
) -> PurgeMethod | None:
    """The method that a run would take of a drive that is not held yet; None where it is not offered."""
    offers = _offers(identity.path, commands, transport, all_namespaces)
    if wanted != "auto":
        return next((offer.method for offer in offers if offer.method == wanted), None)
    best = next((offer.method for offer in offers if offer.rehearsed and offer.obstacle is None), None)
    return best or ("discard" if "trim" in identity.controls else "overwrite")


def _offers(path: str, commands: CommandSet | None, transport: Transport, acknowledged: int | None) -> list[Offer]:
    try:
        match commands:
            case "nvme":
                return nvme_offers(path, transport, acknowledged)
            case "ata":
                return ata_offers(path, transport)
            case "scsi":
                return scsi_offers(path, transport)
    except OSError:
        # The kernel lets no command through: then none is on offer.
        pass
    return []


def _automatic(offers: list[Offer], plain: list[Offer]) -> tuple[Offer, ...]:
    best = next((offer for offer in offers if offer.rehearsed), None)
    if best is not None and best.obstacle is None:
        return (best,)
    if best is not None and isinstance(best.obstacle, DriveBusyError):
        raise best.obstacle
    if best is None or best.obstacle is None or plain[0].method != "discard":
        return tuple(plain)
    reason = f"{DISCARD_DEVIATION} ({best.obstacle.reason})"
    return (replace(plain[0], deviation=reason), *plain[1:])
