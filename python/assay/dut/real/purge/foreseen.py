"""How long a purge takes, by what the drive states of itself, before anything is held or written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.dut.real.ata import device
from assay.dut.real.nvme import sanitize_log
from assay.dut.real.purge.choose import offered
from assay.dut.real.purge.nvme import FORMAT_SECONDS, SANITIZE_ACTIONS
from assay.dut.real.purge.offer import is_rehearsed, limit_seconds
from assay.dut.real.transport import HeldDrive, command_set

if TYPE_CHECKING:
    from assay.dut.real.transport import CommandSet, Transport
    from assay.engine.records import DriveIdentity, PurgeMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeTime:
    """What is known of the time of one purge.

    method : that a run would take; None where the drive could not be asked. stated_s : what the drive states of it,
    None where it states none. limit_s : after which a run gives it up, None where it does not.
    rehearsed : as of ``is_rehearsed``.
    """

    method: PurgeMethod | None
    rehearsed: bool = True
    stated_s: int | None = None
    limit_s: int | None = None


def purge_time(
    identity: DriveIdentity,
    wanted: PurgeMethod | Literal["auto"],
    *,
    all_namespaces: int | None = None,
    transport: Transport | None = None,
    commands: CommandSet | None = None,
) -> PurgeTime:
    """Ask a drive which purge it offers and how long that takes; opened for reading only, and nothing is changed.

    wanted, all_namespaces : as ``choose_purge`` takes them. transport, commands : of a drive that is open already.
    Worked: ``erase`` of an ATA drive whose word 89 is 10 -> 1,200 s stated, given up after 4,200 s.
    """
    commands = commands or command_set(identity)
    # As with a purge: a drive is asked nothing that does not matter for the choice.
    asked = commands == "nvme" if wanted == "auto" else wanted not in ("discard", "overwrite")
    if not asked:
        plain: PurgeMethod = "discard" if "trim" in identity.controls else "overwrite"
        return PurgeTime(method=plain if wanted == "auto" else wanted)
    if transport is not None:
        return _time(transport, commands, offered(identity, wanted, transport, commands, all_namespaces))
    try:
        descriptor = os.open(identity.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return PurgeTime(method=None)
    try:
        held = HeldDrive(descriptor)
        return _time(held, commands, offered(identity, wanted, held, commands, all_namespaces))
    finally:
        os.close(descriptor)


def _time(transport: Transport, commands: CommandSet | None, method: PurgeMethod | None) -> PurgeTime:
    if method is None or method in ("discard", "overwrite"):
        return PurgeTime(method=method)
    try:
        stated_s = _stated_s(method, transport, commands)
    except OSError:
        stated_s = None
    is_format = commands == "nvme" and method.startswith("format")
    limit_s = FORMAT_SECONDS if is_format else limit_seconds(stated_s)
    return PurgeTime(method=method, stated_s=stated_s, limit_s=limit_s, rehearsed=is_rehearsed(commands, method))


def _stated_s(method: PurgeMethod, transport: Transport, commands: CommandSet | None) -> int | None:
    """What the drive states: the estimates of a Sanitize Status log, words 89 and 90 of an ATA drive."""
    if commands == "nvme" and method in SANITIZE_ACTIONS:
        log = sanitize_log(transport)
        return log.estimates_s.get(SANITIZE_ACTIONS[method]) if log else None
    if commands == "ata" and method in ("erase", "erase-enhanced"):
        result = device(transport)
        if result is None:
            return None
        return result.security.enhanced_s if method == "erase-enhanced" else result.security.erase_s
    return None
