"""The way in: all rules in their order, and the drive that is held once none of them refuses."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from assay.device.gate import claim, confirm, contents, facts, files, holders, system
from assay.device.gate.facts import DRIVE_WRITES_MAX, Request
from assay.device.sysfs import Disk, disk_at, disk_of
from assay.errors import DriveBusyError, ReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.records import DriveIdentity

# Each rule stands in one of these tables under the name that its test knows it by.
USERS: dict[str, Callable[[Disk], list[str]]] = {
    "system": system.running_system,
    "mounts": holders.mounted,
    "swap": holders.swapped,
    "btrfs": holders.btrfs_members,
    "md": holders.md_arrays,
    "holders": holders.held,
    "loops": holders.stacked_loops,
}
FILE_USERS: dict[str, Callable[[Path], list[str]]] = {
    "file-system": files.of_system,
    "file-swap": files.swapped,
    "file-loops": files.backing,
}
WISHES: dict[str, Callable[[Request], None]] = {
    "zoned": facts.refuse_zoned,
    "size": facts.refuse_small,
    "twins": facts.refuse_twins,
    "wear": facts.refuse_wear,
    "heat": facts.refuse_heat,
}
HELD: dict[str, Callable[[DriveIdentity, int], None]] = {
    "node": facts.check_node,
    "sequence": facts.check_sequence,
    "identity": facts.check_identity,
    "capacity": facts.check_size,
    "blocks": facts.check_blocks,
    "writable": facts.check_writable,
}
HELD_FILE: dict[str, Callable[[DriveIdentity, int], None]] = {
    "same-file": facts.check_same_file,
    "file-size": facts.check_file_size,
}
CONSENT: dict[str, Callable[[Request, int], None]] = {
    "signatures": contents.refuse_signatures,
    "confirmation": confirm.refuse_unconfirmed,
}


class OpenDrive:
    """A drive that the gate has opened and holds; owns the descriptor and must be closed."""

    def __init__(self, identity: DriveIdentity, descriptor: int) -> None:
        self.identity = identity
        self.fd = descriptor

    def verify(self) -> None:
        """Check that the held drive is still the one that was named. Raises IdentityError, NotADriveError."""
        for check in list((HELD if self.identity.kind == "block" else HELD_FILE).values()):
            check(self.identity, self.fd)

    def close(self) -> None:
        """Let go of the drive."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_drive(
    identity: DriveIdentity,
    *,
    confirmation: str | None,
    acknowledged_signatures: frozenset[str],
    needed_bytes: int,
    written_bytes: int = 0,
    drive_writes_max: float = DRIVE_WRITES_MAX,
    kept: tuple[Path, ...] = (),
) -> OpenDrive:
    """Open a drive for writing, exclusively and for the whole run, or refuse.

    confirmation : the drive's ``id`` as typed or given. acknowledged_signatures : types of signature, as the
    refusal names them, that may be destroyed. needed_bytes : smallest capacity that serves.
    written_bytes : what the run is known to write. drive_writes_max : how many capacities that may be, above 0.
    kept : paths that must survive, such as the run folder; they need not exist yet.
    Raises DriveBusyError, ReadOnlyError, UnsupportedDriveError, TooSmallError, WearError, OverheatedError,
    IdentityError, SignatureError, ConfirmationError, and NotADriveError for a file that is sparse or on a file system
    without uncached I/O. Nothing has been written then.
    """
    request = Request(
        identity=identity,
        confirmation=confirmation,
        signatures=acknowledged_signatures,
        needed_bytes=needed_bytes,
        written_bytes=written_bytes,
        drive_writes_max=drive_writes_max,
        kept=kept,
    )
    _refuse_users(request)
    for refuse in list(WISHES.values()):
        refuse(request)
    drive = OpenDrive(identity, claim.claim_drive(identity))
    try:
        drive.verify()
        for consent in list(CONSENT.values()):
            consent(request, drive.fd)
    except BaseException:
        drive.close()
        raise
    return drive


def refusals(identity: DriveIdentity, kept: tuple[Path, ...] = ()) -> tuple[str, ...]:
    """Why the gate would refuse a drive now; empty means it may be tested. Nothing is opened for writing.

    kept : paths that must survive.
    """
    return _users(identity, kept) or _read_only(identity) or _unfit(identity)


def examined(
    identity: DriveIdentity, acknowledged: frozenset[str] = frozenset(), kept: tuple[Path, ...] = ()
) -> DriveIdentity:
    """The identity with every reason why the gate would refuse it now; what is on a drive that is free included.

    acknowledged : types of signature that may be destroyed. kept : paths that must survive. Nothing is opened for
    writing.
    """
    reasons = refusals(identity, kept) or contents.unacknowledged(identity.path, acknowledged)
    return replace(identity, refusals=reasons)


def _refuse_users(request: Request) -> None:
    path = request.identity.path
    if users := _users(request.identity, request.kept):
        raise DriveBusyError(path, "; ".join(users), "free the drive first, or name another one")
    if reasons := _read_only(request.identity):
        raise ReadOnlyError(path, reasons[0], "run as root, make it writable, or name another drive")


def _users(identity: DriveIdentity, kept: tuple[Path, ...]) -> tuple[str, ...]:
    path = Path(identity.path)
    if identity.kind == "file":
        return tuple(reason for rule in list(FILE_USERS.values()) for reason in rule(path))
    try:
        disk = disk_of(path.stat().st_rdev)
    except OSError as error:
        return (f"its node cannot be reached: {claim.cause(error)}",)
    if disk is None:
        return ("the kernel does not know this device",)
    reasons = [reason for rule in list(USERS.values()) for reason in rule(disk)]
    reasons += system.run_folder(disk, kept)
    return tuple(dict.fromkeys(reasons)) or claim.claimed(identity.path)


def _read_only(identity: DriveIdentity) -> tuple[str, ...]:
    disk = disk_at(identity.path)
    if disk and disk.text("ro") == "1":
        return ("read-only: the kernel refuses writes",)
    return tuple(f"read-only: {reason}" for reason in claim.unreadable(identity.path))


def _unfit(identity: DriveIdentity) -> tuple[str, ...]:
    disk = disk_at(identity.path)
    return tuple(facts.zoned(disk)) if disk else ()
