"""The way in: all rules in their order, and the drive that is held once none of them refuses."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from assay.dut.real.gate import claim, confirm, contents, facts
from assay.dut.real.gate.doubts import READER_PAUSE_S
from assay.dut.real.gate.facts import Request
from assay.dut.real.gate.levels import levels_below
from assay.dut.real.gate.stack import Stack
from assay.dut.real.gate.users import Asking, doubtful, users
from assay.dut.real.sysfs import disk_at, readable
from assay.errors import DriveBusyError, IdentityError, ReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records import DriveIdentity

# Each rule stands in one of these tables under the name that its test knows it by; those of users in ``users``.
WISHES: dict[str, Callable[[Request], None]] = {
    "known": facts.refuse_unknown,
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
_OF_WRITING = "writable"
"""The rule of the held drive that is not asked where it is only read."""
CONSENT: dict[str, Callable[[Request, int], None]] = {
    "signatures": contents.refuse_signatures,
    "confirmation": confirm.refuse_unconfirmed,
    "shown": confirm.refuse_unseen,
}


class OpenDrive:
    """A drive that the gate has opened and holds, with what it stands on; owns descriptors and must be closed."""

    def __init__(self, identity: DriveIdentity, descriptor: int, *, read_only: bool = False) -> None:
        self.identity = identity
        self.read_only = read_only
        self.fd = descriptor
        self._below: list[int] = []
        self.stack: Stack | None = None

    @property
    def own(self) -> frozenset[tuple[int, int]]:
        """The descriptors that it holds, as (process, descriptor)."""
        return frozenset((os.getpid(), descriptor) for descriptor in (self.fd, *self._below))

    def claim_below(self) -> None:
        """Keep others from what the drive stands on, as long as it is held. Raises DriveBusyError."""
        for level in levels_below(self.identity):
            descriptor = claim.claim_below(self.identity, level)
            self._below += [] if descriptor is None else [descriptor]

    def verify(self) -> None:
        """Check that the held drive is still the one that was named. Raises IdentityError, NotADriveError."""
        for name, check in list((HELD if self.identity.kind == "block" else HELD_FILE).items()):
            if not (self.read_only and name == _OF_WRITING):
                check(self.identity, self.fd)
        if self.stack is not None:
            self.stack.check(self.identity, self.fd)

    def close(self) -> None:
        """Let go of the drive."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        while self._below:
            os.close(self._below.pop())

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
    written_bytes_max: int = 0,
    drive_writes_max: float | None = None,
    kept: tuple[Path, ...] = (),
    shown_file_id: str | None = None,
    acknowledged: frozenset[str] = frozenset(),
    pin: int | None = None,
    read_only: bool = False,
) -> OpenDrive:
    """Open a drive for writing, exclusively and for the whole run, or refuse.

    read_only : open it for reading only. Nothing of what is on it has to be acknowledged or confirmed then, since the
    kernel refuses every write; who uses it is refused all the same, since both would disturb each other.
    confirmation : the drive's ``id`` as typed or given. acknowledged_signatures : types of signature, as the
    refusal names them, that may be destroyed. needed_bytes : smallest capacity that serves.
    written_bytes : what the run is known to write, written_bytes_max : at most. drive_writes_max : how many capacities
    that may be, above 0; None holds what is known against ``DRIVE_WRITES_MAX``.
    kept : paths that must survive, such as the run folder; they need not exist yet.
    shown_file_id : the ``file_id`` of a file target when it was shown for confirmation, None where it was not.
    acknowledged : words that acknowledge doubts, see ``doubts``. pin : the descriptor of ``pinned``, which is opened
    then, whatever the path leads to by now.
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
        written_bytes_max=written_bytes_max,
        drive_writes_max=drive_writes_max,
        kept=kept,
        shown_file_id=shown_file_id,
        acknowledged=acknowledged,
        read_only=read_only,
    )
    _refuse_wishes(request)
    claimed = claim.claim_for_reading if read_only else claim.claim_drive
    drive = OpenDrive(identity, claimed(identity, pin), read_only=read_only)
    try:
        drive.verify()
        drive.claim_below()
        drive.stack = Stack.of(identity, drive.fd)
        # Whoever came between the first look and the claim is seen now; who comes later, by those who look again.
        asking = Asking(identity=identity, kept=kept, held=drive.fd, own=drive.own)
        _refuse_used(request, asking)
        _refuse_doubtful(request, asking)
        for consent in [] if read_only else list(CONSENT.values()):
            consent(request, drive.fd)
    except BaseException:
        drive.close()
        raise
    return drive


def refuse_foreseen(request: Request) -> None:
    """Refuse what ``open_drive`` would, by the same rules, as far as can be told without opening a drive for writing.

    Left out are the confirmation, and what only the held drive tells. Raises as ``open_drive``.
    """
    _refuse_wishes(request)
    if request.identity.kind == "file":
        descriptor = os.open(request.identity.path, os.O_PATH | os.O_CLOEXEC)
        try:
            for check in list(HELD_FILE.values()):
                check(request.identity, descriptor)
        finally:
            os.close(descriptor)
    if "signatures" in CONSENT and not request.read_only:
        contents.refuse_signatures(request)


def refusals(identity: DriveIdentity, kept: tuple[Path, ...] = (), *, read_only: bool = False) -> tuple[str, ...]:
    """Why the gate would refuse a drive now; empty means it may be tested. Nothing is opened for writing.

    kept : paths that must survive. read_only : the drive is only to be read.
    """
    return _refusals(Asking(identity=identity, kept=kept), read_only=read_only)


def _refusals(asking: Asking, *, read_only: bool) -> tuple[str, ...]:
    denied = _unreadable if read_only else _read_only
    return users(asking) or denied(asking.identity) or _unfit(asking.identity)


def examined(
    identity: DriveIdentity,
    acknowledged: frozenset[str] = frozenset(),
    kept: tuple[Path, ...] = (),
    *,
    words: frozenset[str] = frozenset(),
    read_only: bool = False,
) -> DriveIdentity:
    """The identity with every reason why the gate would refuse it now; what is on a drive that is free included.

    acknowledged : types of signature that may be destroyed. kept : paths that must survive. words : that acknowledge
    doubts. read_only : the drive is only to be read. Nothing is opened for writing.
    """
    asking = Asking(identity=identity, kept=kept)
    reasons = _refusals(asking, read_only=read_only)
    if not reasons:
        doubts = doubtful(asking, words, None)
        reasons = tuple(
            f"{readable(doubt.told)}, to be acknowledged with --acknowledge {doubt.word}" for doubt in doubts
        )
    if not reasons and not read_only:
        reasons = contents.unacknowledged(identity, acknowledged)
    return replace(identity, refusals=reasons)


def _refuse_wishes(request: Request) -> None:
    _refuse_users(request)
    for refuse in list(WISHES.values()):
        refuse(request)


def _refuse_users(request: Request) -> None:
    path = request.identity.path
    asking = Asking(identity=request.identity, kept=request.kept)
    _refuse_used(request, asking)
    if request.read_only and (reasons := _unreadable(request.identity)):
        raise ReadOnlyError(path, reasons[0], "run as root, or name another drive")
    if not request.read_only and (reasons := _read_only(request.identity)):
        raise ReadOnlyError(path, reasons[0], "run as root, make it writable, or name another drive")
    _refuse_doubtful(request, asking)


def _refuse_used(request: Request, asking: Asking) -> None:
    if result := users(asking):
        raise DriveBusyError(request.identity.path, "; ".join(result), "free the drive, or name another drive")


def _refuse_doubtful(request: Request, asking: Asking) -> None:
    path = request.identity.path
    if doubts := doubtful(asking, request.acknowledged, lambda: time.sleep(READER_PAUSE_S)):
        words = " ".join(f"--acknowledge {shlex.quote(word)}" for word in dict.fromkeys(doubt.word for doubt in doubts))
        reasons = "; ".join(readable(doubt.told) for doubt in doubts)
        raise DriveBusyError(path, reasons, f"if that does no harm, add {words}; else free the drive first")


def _unreadable(identity: DriveIdentity) -> tuple[str, ...]:
    return claim.unreadable(identity.path)


def _read_only(identity: DriveIdentity) -> tuple[str, ...]:
    disk = disk_at(identity.path)
    if disk and disk.text("ro") == "1":
        return ("read-only: the kernel refuses writes",)
    return tuple(f"read-only: {reason}" for reason in claim.unwritable(identity.path))


def _unfit(identity: DriveIdentity) -> tuple[str, ...]:
    disk = disk_at(identity.path)
    try:
        return (*facts.unknown_below(identity), *facts.zoned(disk)) if disk else ()
    except IdentityError as error:
        return (error.reason,)
