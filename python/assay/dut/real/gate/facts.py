"""What must be so of a drive before it is opened, and what must still be so of the drive that is held."""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.condition import too_hot
from assay.dut.real.gate.levels import FileLevel, levels_below
from assay.dut.real.identity import disk_identity, file_id, twins
from assay.dut.real.sysfs import Disk, disk_at, disk_of
from assay.errors import (
    IdentityError,
    NotADriveError,
    OverheatedError,
    TooSmallError,
    UnsupportedDriveError,
    WearError,
)
from assay.spec.units import gigabytes

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity

DRIVE_WRITES_MAX = 30.0
"""How often a run may write a drive where nobody set a limit: of what is known to be written beforehand.

What timed steps may write is bounded by the link alone. The required client suite is hundreds to thousands of
capacities of a small drive then, and a limit that lets it pass would stop nothing; so that bound is held only against
a limit that somebody sets."""
_BLKROGET, _BLKSSZGET, _BLKPBSZGET = 0x125E, 0x1268, 0x127B
_BLKGETSIZE64, _BLKGETDISKSEQ = 0x80081272, 0x80081280
_BLOCK_UNIT_BYTES = 512
_AGAIN = "name the drive again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody wants of the gate.

    confirmation : the drive's ``id`` as typed or given. signatures : types whose destruction is acknowledged.
    needed_bytes : smallest capacity that serves. written_bytes : what the run is known to write beforehand;
    written_bytes_max : what it may write at most. drive_writes_max : capacities that this may be; None holds what is
    known against ``DRIVE_WRITES_MAX``. kept : paths that must not lie on the drive.
    shown_file_id : the ``file_id`` of a file target as it was shown to somebody who then confirmed it.
    acknowledged : words that acknowledge doubts. read_only : the drive is opened for reading only.
    """

    identity: DriveIdentity
    confirmation: str | None = None
    signatures: frozenset[str] = frozenset()
    needed_bytes: int = 0
    written_bytes: int = 0
    written_bytes_max: int = 0
    drive_writes_max: float | None = None
    kept: tuple[Path, ...] = ()
    shown_file_id: str | None = None
    acknowledged: frozenset[str] = frozenset()
    read_only: bool = False


def unknown_below(identity: DriveIdentity) -> list[str]:
    """What a drive stands on that cannot be told from other files; then nobody knows who uses it."""
    levels = (level for level in levels_below(identity) if isinstance(level, FileLevel) and not level.file.inode)
    return [level.told("cannot be distinguished from other files") for level in levels]


def refuse_unknown(request: Request) -> None:
    """Raise IdentityError where the drive stands on a file that cannot be told from others."""
    for reason in unknown_below(request.identity):
        raise IdentityError(request.identity.path, reason, "run as root")


def zoned(disk: Disk) -> list[str]:
    """Why a zoned drive cannot be tested: its zones take writes in order only."""
    model = disk.text("queue/zoned")
    return [f"is zoned ({model}): random writes are not possible"] if model not in (None, "none") else []


def refuse_zoned(request: Request) -> None:
    """Raise UnsupportedDriveError for a zoned drive."""
    disk = disk_at(request.identity.path)
    for reason in zoned(disk) if disk else ():
        raise UnsupportedDriveError(request.identity.path, reason, "name a drive without zones")


def refuse_small(request: Request) -> None:
    """Raise TooSmallError where the drive does not hold what is needed."""
    has, needs = request.identity.capacity_bytes, request.needed_bytes
    if has < needs:
        reason = f"has {gigabytes(has):.9g} GB, {gigabytes(needs):.9g} GB are needed"
        raise TooSmallError(request.identity.path, reason, "use a larger drive or a scaled run")


def refuse_twins(request: Request) -> None:
    """Raise IdentityError where another drive carries the same identity."""
    identity = request.identity
    if identity.kind == "block" and (others := twins(identity)):
        reason = f"is ambiguous: it has the same identity {identity.id!r} as {', '.join(others)}"
        raise IdentityError(identity.path, reason, "detach the other drive")


def refuse_wear(request: Request) -> None:
    """Raise WearError where the run would write the drive more often than is allowed.

    Worked: 62 GB known to be written on a drive of 2 GB are 31 drive writes, more than 30.
    """
    limit, known = request.drive_writes_max, request.written_bytes
    most = known if limit is None else max(known, request.written_bytes_max)
    limit = DRIVE_WRITES_MAX if limit is None else limit
    writes = most / request.identity.capacity_bytes
    if request.identity.kind == "block" and writes > limit:
        said = "would be written" if most == known else "could be written, at the rate of its link,"
        reason = f"{said} {writes:.4g} times over, {limit:g} are allowed"
        enough = ceil(writes) if writes > limit + 1 else ceil(writes * 1000) / 1000
        raise WearError(request.identity.path, reason, f"if it may be worn so far, add --max-drive-writes {enough:g}")


def refuse_heat(request: Request) -> None:
    """Raise OverheatedError where the drive is as warm as it warns of."""
    if reason := too_hot(request.identity):
        raise OverheatedError(request.identity.path, reason, "let it cool down and see to its air flow")


def check_node(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the descriptor is no longer the disk of this name, or the disk has left."""
    if _disk(identity, descriptor) is None:
        raise IdentityError(identity.path, "is no longer this disk", _AGAIN)


def check_sequence(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the drive was detached and attached since it was named.

    The kernel gives every attached disk a new number; the held one and the one of that name must both have it.
    Source: Linux ``BLKGETDISKSEQ``, sysfs ``diskseq``.
    """
    disk = _disk(identity, descriptor)
    result = {_ioctl_number(descriptor, _BLKGETDISKSEQ), disk.number("diskseq") if disk else None}
    if identity.diskseq is not None and result - {None, identity.diskseq}:
        raise IdentityError(identity.path, "the drive was replaced since it was named", _AGAIN)


def check_identity(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the drive calls itself otherwise."""
    disk = _disk(identity, descriptor)
    if disk and (result := disk_identity(disk.name).id) != identity.id:
        raise IdentityError(identity.path, f"its identity changed to {result!r}", _AGAIN)


def check_size(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the capacity changed."""
    size = _ioctl_number(descriptor, _BLKGETSIZE64)
    if size != identity.capacity_bytes:
        raise IdentityError(identity.path, f"its size changed to {size} bytes", _AGAIN)


def check_blocks(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the logical or physical block size changed."""
    blocks = _ioctl_number(descriptor, _BLKSSZGET, "I"), _ioctl_number(descriptor, _BLKPBSZGET, "I")
    expected = identity.logical_block_bytes, identity.physical_block_bytes or blocks[1]
    if blocks != expected:
        raise IdentityError(identity.path, f"its blocks changed from {expected} to {blocks} bytes", _AGAIN)


def check_writable(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the drive has turned read-only."""
    if _ioctl_number(descriptor, _BLKROGET, "I"):
        raise IdentityError(identity.path, "it turned read-only", "make it writable or name another drive")


def check_same_file(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the held file is not the one that was named, or the path leads to another by now."""
    status = os.fstat(descriptor)
    named = Path(identity.path).stat() if Path(identity.path).exists() else None
    is_named = identity.file_id in (None, file_id(status)) and stat.S_ISREG(status.st_mode)
    if not is_named or named is None or not os.path.samestat(status, named):
        raise IdentityError(identity.path, "the file was replaced since it was named", "name the file again")


def check_file_size(identity: DriveIdentity, descriptor: int) -> None:
    """Raise IdentityError where the file's size changed, NotADriveError where it is not wholly allocated."""
    status = os.fstat(descriptor)
    if status.st_size // identity.logical_block_bytes * identity.logical_block_bytes != identity.capacity_bytes:
        raise IdentityError(identity.path, f"its size changed to {status.st_size} bytes", "name the file again")
    if status.st_blocks * _BLOCK_UNIT_BYTES < identity.capacity_bytes:
        remedy = f"allocate it first: fallocate -l SIZE {identity.path}"
        raise NotADriveError(identity.path, "is sparse: its blocks are not all allocated", remedy)


def _disk(identity: DriveIdentity, descriptor: int) -> Disk | None:
    status = os.fstat(descriptor)
    disk = disk_of(status.st_rdev) if stat.S_ISBLK(status.st_mode) else None
    return disk if disk and disk.node == identity.path else None


def _ioctl_number(descriptor: int, request: int, form: str = "Q") -> int | None:
    try:
        raw = fcntl.ioctl(descriptor, request, bytes(struct.calcsize(form)))
    except OSError:
        return None
    return int(struct.unpack(form, raw)[0])
