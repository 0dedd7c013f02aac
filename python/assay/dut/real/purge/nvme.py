"""Purge by NVMe Format NVM and NVMe Sanitize.

Source: NVMe Base Specification 2.0, Format NVM (opcode 80h) and Sanitize (84h, Sanitize Status log 81h).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from assay.dut.real.nvme import Controller, controller, controller_count, namespace, namespaces, sanitize_log
from assay.dut.real.purge.offer import (
    CHECK_REMEDY,
    Offer,
    PurgeWatch,
    is_rehearsed,
    limit_seconds,
    watch_background,
    watch_command,
)
from assay.dut.real.transport import NvmeCommand
from assay.errors import AssayError, DeviceFailureError, DriveBusyError, GateRefusedError

if TYPE_CHECKING:
    from assay.dut.real.nvme import SanitizeLog
    from assay.dut.real.transport import Transport
    from assay.engine.records import PurgeMethod

_FORMAT, _SANITIZE = 0x80, 0x84
FORMAT_SECONDS = 4 * 3600
_USER_DATA, _BY_KEY = 1, 2
_BLOCK_ERASE, _OVERWRITE, _KEY_ERASE = 2, 3, 4
SANITIZE_ACTIONS: dict[PurgeMethod, int] = {
    "sanitize-block": _BLOCK_ERASE,
    "sanitize-crypto": _KEY_ERASE,
    "sanitize-overwrite": _OVERWRITE,
}
_OVERWRITE_PASSES = 1 << 4
_DONE, _UNDER_WAY, _FAILED, _DONE_KEPT = 1, 2, 3, 4
WAY_OUT = (
    "if it stands, switch the drive off and on; if it has failed, repeat it (nvme sanitize) or leave the failure mode "
    "(nvme sanitize --sanact=1); else use the vendor's tool"
)
OVERWRITE_DEVIATION = "purge by the drive's internal overwrite, which leaves its flash full"


def nvme_offers(path: str, transport: Transport, acknowledged: int | None) -> list[Offer]:
    """What an NVMe drive offers, strongest first.

    acknowledged : the number of namespaces that the user knows to be at stake (``--all-namespaces``).
    """
    own = controller(transport)
    if own is None:
        return []
    obstacle = _obstacle(path, transport, own, acknowledged)
    offers = [_format_offer(path, transport, erase) for erase in _erases(own)]
    offers += [_sanitize_offer(path, transport, action) for action in _actions(own)]
    return [replace(offer, obstacle=obstacle) for offer in offers]


def _erases(own: Controller) -> list[int]:
    if not own.formats:
        return []
    return [_USER_DATA, _BY_KEY] if own.erases_by_key else [_USER_DATA]


def _actions(own: Controller) -> list[int]:
    offered = {
        _BLOCK_ERASE: own.sanitizes_blocks,
        _KEY_ERASE: own.sanitizes_by_key,
        _OVERWRITE: own.sanitizes_by_overwrite,
    }
    return [action for action, is_offered in offered.items() if is_offered]


def _obstacle(path: str, transport: Transport, own: Controller, acknowledged: int | None) -> AssayError | None:
    """Why a command that may reach beyond the held namespace is not sent."""
    if (obstacle := _in_use(path, transport, own)) is not None:
        return obstacle
    count = len(namespaces(transport, own))
    reaches_all = own.format_is_for_all or own.erase_is_for_all
    if acknowledged == count or (count == 1 and not reaches_all and acknowledged is None):
        return None
    known = f"the controller has {count} namespace{'' if count == 1 else 's'}"
    scope = "a format acts on all of them" if reaches_all else "a sanitize would erase all of them"
    return GateRefusedError(
        path, f"{known}, and {scope}", f"if all may be destroyed, add --all-namespaces {count}; or --purge discard"
    )


def _in_use(path: str, transport: Transport, own: Controller) -> AssayError | None:
    """Whether others, or a sanitize, are at work on the drive.

    Only what it names as known is asked: a refused command would stand in its error log for ever.
    """
    number = transport.namespace()
    controllers = controller_count(transport, number) if own.manages_namespaces else None
    if controllers is not None and controllers > 1:
        reason = f"its namespace {number} is attached to {controllers} controllers"
        return GateRefusedError(path, reason, "detach it from the others, or purge with --purge discard")
    log = sanitize_log(transport) if _actions(own) else None
    if log is not None and log.status == _UNDER_WAY:
        return DriveBusyError(path, f"the controller is sanitizing itself ({log.done:.1%} done)", f"wait; {WAY_OUT}")
    if log is not None and log.status == _FAILED:
        return DriveBusyError(path, "its last sanitize failed, and until another succeeds it does no I/O", WAY_OUT)
    return None


def _format_offer(path: str, transport: Transport, erase: int) -> Offer:
    method: PurgeMethod = "format" if erase == _USER_DATA else "format-crypto"
    what = "user data erase" if erase == _USER_DATA else "cryptographic erase"
    run = partial(_format, path, transport, erase)
    return Offer(method=method, label=f"NVMe Format ({what})", run=run, rehearsed=is_rehearsed("nvme", method))


def _format(path: str, transport: Transport, erase: int, watch: PurgeWatch) -> str:
    """Format the held namespace and nothing else, with the LBA format that it has."""
    number = transport.namespace()
    before = namespace(transport, number)
    if before is None:
        raise DeviceFailureError(path, f"namespace {number} does not identify itself", CHECK_REMEDY)
    command = NvmeCommand(opcode=_FORMAT, namespace=number, words=(before.format_word(erase),), limit_s=FORMAT_SECONDS)
    statuses: list[int] = []
    watch_command(lambda: statuses.append(transport.nvme_admin(command).status), watch)
    if statuses[0]:
        raise DeviceFailureError(path, f"the drive refused the format (NVMe status {statuses[0]:#06x})", CHECK_REMEDY)
    after = namespace(transport, number)
    if after is None or after.format_word(0) != before.format_word(0):
        raise DeviceFailureError(path, "the drive came out of the format with another LBA format", CHECK_REMEDY)
    return f"namespace {number} alone was formatted, in its LBA format {before.lba_format}"


def _sanitize_offer(path: str, transport: Transport, action: int) -> Offer:
    methods = {number: method for method, number in SANITIZE_ACTIONS.items()}
    whats = {_BLOCK_ERASE: "block erase", _KEY_ERASE: "cryptographic erase", _OVERWRITE: "overwrite"}
    method, what = methods[action], whats[action]
    return Offer(
        method=method,
        label=f"NVMe Sanitize ({what})",
        run=partial(_sanitize, path, transport, action),
        deviation=OVERWRITE_DEVIATION if action == _OVERWRITE else None,
        rehearsed=is_rehearsed("nvme", method),
    )


def _sanitize(path: str, transport: Transport, action: int, watch: PurgeWatch) -> str:
    """Sanitize the subsystem and follow its log; the log alone says whether it succeeded."""
    word = action | (_OVERWRITE_PASSES if action == _OVERWRITE else 0)
    before = _log(path, transport)
    status = transport.nvme_admin(NvmeCommand(opcode=_SANITIZE, words=(word,))).status
    if status:
        raise DeviceFailureError(path, f"the drive refused the sanitize (NVMe status {status:#06x})", CHECK_REMEDY)

    def look() -> float | None:
        log = _log(path, transport)
        return log.done if log.status == _UNDER_WAY else None

    watch_background(path, look, watch, limit_seconds(before.estimates_s.get(action)), WAY_OUT)
    log = _log(path, transport)
    if log.status not in (_DONE, _DONE_KEPT) or log.command != word:
        reason = "failed" if log.status == _FAILED else f"is not in its log (status {log.status})"
        raise DeviceFailureError(path, f"the sanitize {reason}", WAY_OUT if log.status == _FAILED else CHECK_REMEDY)
    return "the drive's Sanitize Status log says that it succeeded"


def _log(path: str, transport: Transport) -> SanitizeLog:
    log = sanitize_log(transport)
    if log is None:
        raise DeviceFailureError(path, "its Sanitize Status log cannot be read", CHECK_REMEDY)
    return log
