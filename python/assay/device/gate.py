"""The gate: the only code that opens a drive for writing, and every reason why it does not.

Everything is checked before the first byte is written; the exclusive claim is held until the run ends.
Source of the rules: exclusive open of the whole disk catches mounts (in any namespace), swap, device-mapper and MD
holders; what it misses (a loop device stacked on the disk, inactive signatures) is looked for on its own.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shlex
import stat
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from assay.device.identity import loop_backing, twins
from assay.device.passthrough import check_passthrough_transfer, passthrough_node
from assay.device.sysfs import Disk, disk_of, printable, whole_disks
from assay.errors import (
    ConfirmationError,
    DriveBusyError,
    IdentityError,
    NotADriveError,
    ReadOnlyError,
    SignatureError,
    TooSmallError,
)
from assay.units import gigabytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.records import DriveIdentity

_BLKGETSIZE64 = 0x80081272
_BLKGETDISKSEQ = 0x80081280
# _IO('N', 0x40): the number of an NVMe namespace at its controller.
_NVME_IOCTL_ID = 0x4E40
_WIPEFS = "/usr/sbin/wipefs"
_COMMAND_SECONDS = 30
_BLOCK_UNIT_BYTES = 512
_READ_ONLY = "read-only"
# Listing drives and udev's probes claim a drive for a moment; only a claim that lasts is a user.
_CLAIM_ATTEMPTS = 5
_CLAIM_PAUSE_S = 0.02
_SYSTEM_PATHS = ("/", "/boot", "/boot/efi", sys.executable, __file__)


class OpenDrive:
    """A drive that the gate has opened and holds; owns the descriptor and must be closed."""

    def __init__(self, identity: DriveIdentity, descriptor: int) -> None:
        self.identity = identity
        self.fd = descriptor

    def verify(self) -> None:
        """Check that the held drive is still the one that was named. Raises IdentityError."""
        if self.identity.kind == "block":
            _check_same_disk(self.identity, self.fd)
        else:
            _check_same_file(self.identity, self.fd)

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
) -> OpenDrive:
    """Open a drive for writing, exclusively and for the whole run, or refuse.

    confirmation : the drive's ``id`` as typed or given. acknowledged_signatures : types of signature, as the
    refusal names them, that may be destroyed. needed_bytes : smallest capacity that serves.
    Raises DriveBusyError, ReadOnlyError, TooSmallError, IdentityError, SignatureError, ConfirmationError, and
    NotADriveError for a file that is sparse or on a file system without uncached I/O. Nothing has been written then.
    """
    _refuse_known_reasons(identity)
    _refuse_small(identity, needed_bytes)
    _refuse_twins(identity)
    drive = OpenDrive(identity, _open(identity))
    try:
        drive.verify()
        if identity.kind == "file":
            _refuse_sparse(identity, drive.fd)
        _refuse_signatures(identity, acknowledged_signatures)
        _refuse_unconfirmed(identity, confirmation)
    except BaseException:
        drive.close()
        raise
    return drive


@contextmanager
def open_passthrough(drive: OpenDrive, *, transfer_bytes_max: int) -> Iterator[int]:
    """Open the character device that takes NVMe commands for a held drive; the descriptor lives as long as the block.

    drive : held by ``open_drive``, and for longer than this. transfer_bytes_max : the largest transfer of the run.
    Yields the descriptor of the same namespace of the same controller.
    Raises NotADriveError (no NVMe drive, or no such device), ValueRangeError (the transfer is too large for a command),
    IdentityError (another namespace answers), ReadOnlyError and DriveBusyError (it cannot be opened).
    """
    identity = drive.identity
    if drive.fd < 0:
        raise IdentityError(identity.path, "is not held any more", "open the drive first")
    drive.verify()
    path, number = passthrough_node(identity)
    check_passthrough_transfer(identity, transfer_bytes_max)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise _open_error(identity, error) from None
    try:
        status = os.fstat(descriptor)
        numbers = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" if stat.S_ISCHR(status.st_mode) else None
        if numbers != number or not _same_namespace(descriptor, drive.fd):
            raise IdentityError(identity.path, f"{path} is not its character device", "name the drive again")
        yield descriptor
    finally:
        os.close(descriptor)


def refusals(identity: DriveIdentity) -> tuple[str, ...]:
    """Why the gate would refuse a drive now; empty means it may be tested. Nothing is opened for writing."""
    if identity.kind == "file":
        return _file_refusals(Path(identity.path))
    try:
        disk = disk_of(Path(identity.path).stat().st_rdev)
    except OSError as error:
        return (f"its node cannot be reached: {_cause(error)}",)
    if disk is None:
        return ("the kernel does not know this device",)
    reasons = [*_mounts(disk), *_system(disk), *_swaps(disk), *_holders(disk), *_stacked_loops(disk)]
    if disk.text("ro") == "1":
        reasons.append(f"{_READ_ONLY}: the kernel refuses writes")
    if not reasons:
        reasons += _claimed(identity)
    return tuple(dict.fromkeys(reasons))


def examined(identity: DriveIdentity, acknowledged: frozenset[str] = frozenset()) -> DriveIdentity:
    """The identity with every reason why the gate would refuse it now; what is on a drive that is free included.

    acknowledged : types of signature that may be destroyed. Nothing is opened for writing.
    """
    reasons = refusals(identity) or _signature_reasons(identity.path, acknowledged)
    return replace(identity, refusals=reasons)


def _signature_reasons(path: str, acknowledged: frozenset[str]) -> tuple[str, ...]:
    try:
        missing = sorted(signatures(path) - acknowledged)
    except IdentityError as error:
        return (error.reason,)
    return (f"carries {', '.join(missing)}, to be acknowledged with --destroy-signature",) if missing else ()


def _file_refusals(path: Path) -> tuple[str, ...]:
    reasons = [f"swap on {swap}" for swap in _swap_paths() if _same_file(Path(swap), path)]
    backings = [(disk.name, loop_backing(disk)) for disk in whole_disks()]
    reasons += [f"backs {name}" for name, backing in backings if backing and _same_file(backing, path)]
    if not os.access(path, os.W_OK):
        reasons.append(f"{_READ_ONLY}: no permission to write")
    return tuple(reasons)


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _cause(error: OSError) -> str:
    return (error.strerror or "cannot be opened").lower()


def _family(disk: Disk) -> list[Disk]:
    return [disk, *disk.partitions()]


def _system(disk: Disk) -> list[str]:
    """What of the running system lies on the disk, however many layers above; no option overrides it."""
    return [f"backs the running system ({path})" for path in _SYSTEM_PATHS if disk.name in _beneath(Path(path))]


def _beneath(path: Path) -> set[str]:
    """Names of all devices under a path: partition to disk, mapped device to slaves, loop to its file's disk."""
    try:
        status = path.stat()
    except OSError:
        # Not there, or hidden from us: then it cannot be opened for writing either.
        return set()
    member = disk_of(status.st_rdev if stat.S_ISBLK(status.st_mode) else status.st_dev)
    if member is None:
        return set()
    lower = [Path("/dev", slave.name) for slave in (member.folder / "slaves").glob("*")]
    if member.number("partition") is not None:
        lower.append(Path("/dev", member.folder.parent.name.replace("!", "/")))
    if backing := loop_backing(member):
        lower.append(backing)
    return {member.name}.union(*map(_beneath, lower))


def _mounts(disk: Disk) -> list[str]:
    numbers = {member.number_text for member in _family(disk)}
    paths = {f"/dev/{member.name}" for member in _family(disk)}
    found = []
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines():
        fields = line.split(" ")
        source = fields[fields.index("-") + 2]
        if fields[2] in numbers or (source.startswith("/dev/") and os.path.realpath(_unescape(source)) in paths):
            found.append(f"mounted on {_unescape(fields[4])}")
    return found


def _unescape(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), text)


def _swaps(disk: Disk) -> list[str]:
    paths = {f"/dev/{member.name}" for member in _family(disk)}
    return [f"swap on {path}" for path in _swap_paths() if os.path.realpath(path) in paths]


def _swap_paths() -> list[str]:
    lines = Path("/proc/swaps").read_text("utf-8", "replace").splitlines()[1:]
    return [_unescape(line.split()[0]) for line in lines]


def _holders(disk: Disk) -> list[str]:
    return [f"held by {holder}" for member in _family(disk) for holder in member.holders()]


def _stacked_loops(disk: Disk) -> list[str]:
    """Loop devices upon the disk, or upon the file beneath it; exclusive open does not see them."""
    paths = {f"/dev/{member.name}" for member in _family(disk)}
    own = loop_backing(disk)
    others = [(other.name, loop_backing(other)) for other in whole_disks() if other.name != disk.name]
    stacked = [f"backs {name}" for name, backing in others if backing and os.path.realpath(backing) in paths]
    shared = [name for name, backing in others if own and backing and _same_file(own, backing)]
    return stacked + [f"shares its file with {name}" for name in shared]


def _claimed(identity: DriveIdentity) -> list[str]:
    try:
        os.close(_claim(identity.path, os.O_RDONLY | os.O_EXCL | os.O_NONBLOCK | os.O_CLOEXEC))
    except PermissionError as error:
        return [f"{_READ_ONLY}: {_cause(error)}"]
    except OSError as error:
        return [f"busy: {_cause(error)}"]
    return []


def _claim(path: str, flags: int) -> int:
    """Open a path, asking again for a moment while somebody else has it."""
    for _ in range(_CLAIM_ATTEMPTS - 1):
        try:
            return os.open(path, flags)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        time.sleep(_CLAIM_PAUSE_S)
    return os.open(path, flags)


def _refuse_known_reasons(identity: DriveIdentity) -> None:
    reasons = refusals(identity)
    if not reasons:
        return
    if reasons[0].startswith(_READ_ONLY):
        raise ReadOnlyError(identity.path, reasons[0], "make it writable or name another drive")
    raise DriveBusyError(identity.path, "; ".join(reasons), "free the drive first, or name another one")


def _refuse_small(identity: DriveIdentity, needed_bytes: int) -> None:
    if identity.capacity_bytes < needed_bytes:
        reason = f"has {gigabytes(identity.capacity_bytes):.9g} GB, {gigabytes(needed_bytes):.9g} GB are needed"
        raise TooSmallError(identity.path, reason, "use a larger drive or a scaled run")


def _refuse_twins(identity: DriveIdentity) -> None:
    if identity.kind != "block":
        return
    if others := twins(identity):
        reason = f"is ambiguous: it has the same identity {identity.id!r} as {', '.join(others)}"
        raise IdentityError(identity.path, reason, "detach the other drive")


def _open(identity: DriveIdentity) -> int:
    exclusive = os.O_EXCL if identity.kind == "block" else 0
    try:
        descriptor = _claim(identity.path, os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC | os.O_NOFOLLOW | exclusive)
    except OSError as error:
        raise _open_error(identity, error) from None
    try:
        # Also keeps udev from probing the drive at every close.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise DriveBusyError(identity.path, "is locked by another process", "wait for it to end") from None
    return descriptor


def _open_error(identity: DriveIdentity, error: OSError) -> Exception:
    reason = _cause(error)
    if error.errno in (errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.ELOOP):
        return IdentityError(identity.path, f"is gone ({reason})", "name the drive again")
    if error.errno == errno.EINVAL:
        remedy = "put the file on a file system with O_DIRECT, such as ext4 or xfs"
        return NotADriveError(identity.path, "its file system refuses uncached I/O", remedy)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnlyError(identity.path, f"cannot be written ({reason})", "run as root or make it writable")
    return DriveBusyError(identity.path, f"cannot be claimed ({reason})", "free the drive first")


def _check_same_disk(identity: DriveIdentity, descriptor: int) -> None:
    status = os.fstat(descriptor)
    disk = disk_of(status.st_rdev) if stat.S_ISBLK(status.st_mode) else None
    if disk is None or "/dev/" + disk.name.replace("!", "/") != identity.path:
        raise IdentityError(identity.path, "is no longer this disk", "name the drive again")
    size, diskseq = (_ioctl_number(descriptor, request) for request in (_BLKGETSIZE64, _BLKGETDISKSEQ))
    if identity.diskseq is not None and diskseq not in (None, identity.diskseq):
        raise IdentityError(identity.path, "the drive was replaced since it was named", "name the drive again")
    if size != identity.capacity_bytes:
        raise IdentityError(identity.path, f"its size changed to {size} bytes", "name the drive again")


def _check_same_file(identity: DriveIdentity, descriptor: int) -> None:
    status = os.fstat(descriptor)
    named = Path(identity.path).stat() if Path(identity.path).exists() else None
    if not stat.S_ISREG(status.st_mode) or named is None or not os.path.samestat(status, named):
        raise IdentityError(identity.path, "the file was replaced since it was named", "name the file again")
    if status.st_size // identity.logical_block_bytes * identity.logical_block_bytes != identity.capacity_bytes:
        raise IdentityError(identity.path, f"its size changed to {status.st_size} bytes", "name the file again")


def _same_namespace(one: int, other: int) -> bool:
    try:
        return fcntl.ioctl(one, _NVME_IOCTL_ID) == fcntl.ioctl(other, _NVME_IOCTL_ID)
    except OSError:
        return False


def _ioctl_number(descriptor: int, request: int) -> int | None:
    try:
        raw = fcntl.ioctl(descriptor, request, struct.pack("Q", 0))
    except OSError:
        return None
    return int(struct.unpack("Q", raw)[0])


def _refuse_sparse(identity: DriveIdentity, descriptor: int) -> None:
    if os.fstat(descriptor).st_blocks * _BLOCK_UNIT_BYTES < identity.capacity_bytes:
        reason = "is sparse: its blocks are not all allocated"
        raise NotADriveError(identity.path, reason, f"allocate it first: fallocate -l SIZE {identity.path}")


def _refuse_signatures(identity: DriveIdentity, acknowledged: frozenset[str]) -> None:
    missing = sorted(signatures(identity.path) - acknowledged)
    if missing:
        options = " ".join(f"--destroy-signature {name}" for name in missing)
        raise SignatureError(identity.path, f"carries {', '.join(missing)}", f"if that may be destroyed, add {options}")


def signatures(path: str) -> frozenset[str]:
    """Types of file systems, partition tables, RAID and volume members found on a drive.

    Raises IdentityError where the drive cannot be looked at: what is on it is then unknown.
    """
    try:
        done = subprocess.run(
            [_WIPEFS, "--no-act", "--json", "--", path],
            capture_output=True,
            timeout=_COMMAND_SECONDS,
            check=True,
            env={"LC_ALL": "C"},
        )
        found = json.loads(done.stdout)["signatures"] if done.stdout.strip() else []
        return frozenset(printable(str(entry["type"]).encode()) for entry in found)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        reason = f"what is on it cannot be told ({type(error).__name__})"
        raise IdentityError(path, reason, "install util-linux, or check the drive") from None


def _refuse_unconfirmed(identity: DriveIdentity, confirmation: str | None) -> None:
    if confirmation == identity.id:
        return
    given = "no confirmation was given" if confirmation is None else f"{confirmation!r} is not its identity"
    remedy = f"to destroy all data on it, confirm with --yes-destroy {shlex.quote(identity.id)}"
    raise ConfirmationError(identity.path, given, remedy)
