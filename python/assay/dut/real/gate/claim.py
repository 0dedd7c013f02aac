"""Opening a drive for writing so that nobody else can: exclusively, unbuffered, and locked."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from typing import TYPE_CHECKING

from assay.dut.real.gate.levels import DiskLevel, FileLevel
from assay.errors import DriveBusyError, IdentityError, NotADriveError, ReadOnlyError

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity

EXCLUSIVE = os.O_EXCL
LOCK = fcntl.LOCK_EX | fcntl.LOCK_NB
_LOCKED = "is locked by another process"
# What a file system answers that has no such locks: then nobody holds one.
_NO_LOCKS = (errno.EBADF, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
# Listing drives and udev's probes claim a drive for a moment; only a claim that lasts is a user.
_ATTEMPTS = 5
_PAUSE_S = 0.02


def claimed(path: str) -> tuple[str, ...]:
    """Why a drive cannot be claimed now, empty where it can. It is let go of at once and not opened for writing."""
    try:
        os.close(_claim(path, os.O_RDONLY | EXCLUSIVE | os.O_NONBLOCK | os.O_CLOEXEC))
    except PermissionError:
        return ()
    except OSError as error:
        return (f"busy: {cause(error)}",)
    return ()


def unwritable(path: str) -> tuple[str, ...]:
    """Why the user may not write a drive, empty where it may."""
    return () if os.access(path, os.R_OK | os.W_OK) else ("no permission to write it",)


def unreadable(path: str) -> tuple[str, ...]:
    """Why the user may not read a drive, empty where it may."""
    return () if os.access(path, os.R_OK) else ("no permission to read it",)


def pinned(identity: DriveIdentity) -> int:
    """A descriptor that names a drive and does not open it: what is named then can be opened, and nothing else.

    Held from naming on, it keeps a file's inode from being given to another. Raises IdentityError.
    """
    try:
        return os.open(identity.path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise open_error(identity, error) from None


def claim_drive(identity: DriveIdentity, pin: int | None = None) -> int:
    """The descriptor of a drive, opened for uncached writing, exclusive and locked until it is closed.

    An exclusive claim on a whole disk fails while anything on it is mounted in any namespace, swapped to, or held by
    device mapper or MD. The lock keeps udev from probing the drive at every close. A file is only locked.
    pin : as of ``pinned``; None opens what the path leads to.
    Raises DriveBusyError, ReadOnlyError, IdentityError, NotADriveError.
    """
    return _claimed(identity, pin, os.O_RDWR, fcntl.F_WRLCK)


def claim_for_reading(identity: DriveIdentity, pin: int | None = None) -> int:
    """Claim a drive for reading: the kernel refuses every write through the descriptor. Raises as ``claim_drive``."""
    return _claimed(identity, pin, os.O_RDONLY, fcntl.F_RDLCK)


def _claimed(identity: DriveIdentity, pin: int | None, access: int, ranges: int) -> int:
    exclusive = EXCLUSIVE if identity.kind == "block" else 0
    path, follow = (identity.path, os.O_NOFOLLOW) if pin is None else (f"/proc/self/fd/{pin}", 0)
    try:
        descriptor = _claim(path, access | os.O_DIRECT | os.O_CLOEXEC | follow | exclusive)
    except OSError as error:
        raise open_error(identity, error, read_only=access == os.O_RDONLY) from None
    if reason := _lock(descriptor, ranges=ranges):
        os.close(descriptor)
        raise DriveBusyError(identity.path, reason, "wait for it to end")
    return descriptor


def claim_below(identity: DriveIdentity, level: DiskLevel | FileLevel) -> int | None:
    """A descriptor that keeps one level below a drive from others, not opened for writing; None where none can.

    What a mapped device or an array stands on is claimed by that. A file whose path leads elsewhere cannot be opened.
    Raises DriveBusyError.
    """
    if isinstance(level, FileLevel):
        return _claim_file_below(identity, level)
    if not level.is_free:
        return None
    try:
        descriptor = _claim(level.disk.node, os.O_RDONLY | EXCLUSIVE | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _below_error(identity, level, f"cannot be claimed ({cause(error)})") from None
    return _locked_below(identity, level, descriptor, None)


def _claim_file_below(identity: DriveIdentity, level: FileLevel) -> int | None:
    try:
        descriptor = os.open(level.file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not level.file.is_of(os.fstat(descriptor)):
        os.close(descriptor)
        return None
    return _locked_below(identity, level, descriptor, fcntl.F_RDLCK)


def _locked_below(identity: DriveIdentity, level: DiskLevel | FileLevel, descriptor: int, ranges: int | None) -> int:
    if reason := _lock(descriptor, ranges=ranges):
        os.close(descriptor)
        raise _below_error(identity, level, reason)
    return descriptor


def _below_error(identity: DriveIdentity, level: DiskLevel | FileLevel, reason: str) -> DriveBusyError:
    return DriveBusyError(identity.path, level.told(reason), "free that first, or name another drive")


def _lock(descriptor: int, *, ranges: int | None) -> str | None:
    """Lock a descriptor for as long as it is open; why it cannot be locked, None where it is.

    ranges : the kind of lock on all bytes that others respect who lock that way, such as virtual machines; None for
    a disk below the target, which is only read.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_S)
        try:
            fcntl.flock(descriptor, LOCK)
            lock_ranges(descriptor, ranges)
        except (BlockingIOError, PermissionError):
            continue
        except OSError as error:
            return None if error.errno in _NO_LOCKS else f"cannot be locked ({cause(error)})"
        return None
    return _LOCKED


def lock_ranges(descriptor: int, kind: int | None) -> None:
    """Lock all bytes where a kind of lock is given, and see that nobody else has locked any, of whatever kind.

    A virtual machine that shares its image with its like locks a few bytes for reading.
    Raises BlockingIOError where somebody has, OSError. Source: Linux ``fcntl(2)``, F_OFD_SETLK, F_OFD_GETLK.
    """
    if kind is not None:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _all_bytes(kind))
    try:
        answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _all_bytes(fcntl.F_WRLCK))
    except OSError:
        # A file system without such locks: then nobody has one.
        return
    if struct.unpack_from("h", answer)[0] != fcntl.F_UNLCK:
        raise BlockingIOError


def _all_bytes(kind: int) -> bytes:
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, 0, 0, 0)


def cause(error: OSError) -> str:
    """What the system says of an error, for the middle of a sentence."""
    return (error.strerror or "cannot be opened").lower()


def _claim(path: str, flags: int) -> int:
    """Open a path, asking again for a moment while somebody else has it."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return os.open(path, flags)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        time.sleep(_PAUSE_S)
    return os.open(path, flags)


def open_error(identity: DriveIdentity, error: OSError, *, read_only: bool = False) -> Exception:
    """The refusal that an error at opening a drive amounts to. read_only : it was to be read only."""
    reason = cause(error)
    if error.errno in (errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.ELOOP):
        return IdentityError(identity.path, f"is gone ({reason})", "name the drive again")
    if error.errno == errno.EINVAL:
        remedy = "put the file on a file system with O_DIRECT, such as ext4 or xfs"
        return NotADriveError(identity.path, "its file system refuses uncached I/O", remedy)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        if read_only:
            return ReadOnlyError(identity.path, f"cannot be read ({reason})", "run as root")
        return ReadOnlyError(identity.path, f"cannot be written ({reason})", "run as root or make it writable")
    return DriveBusyError(identity.path, f"cannot be claimed ({reason})", "free the drive first")
