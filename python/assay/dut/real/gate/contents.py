"""What is on a drive: file systems, partition tables, RAID and volume members, on the disk and in its partitions."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.command import Answer, CommandError, run_command
from assay.dut.real.gate.levels import DiskLevel, FileLevel, Level, levels_below
from assay.dut.real.sysfs import disk_at, number_label, printable
from assay.errors import IdentityError, SignatureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from assay.dut.real.gate.facts import Request
    from assay.engine.records import DriveIdentity

WIPEFS = "wipefs"
_SECONDS = 30
_END_BYTES, _PLACE_BYTES, _PLACES = 1 << 20, 4096, 256


def signatures(path: str, *, descriptor: int | None = None) -> frozenset[str]:
    """Types of what is found on a drive, as libblkid names them: ``ext4``, ``gpt``, ``LVM2_member``, ``crypto_LUKS``.

    descriptor : of the held drive; it is then looked at through that, whatever its name means by now.
    Raises IdentityError where the drive, or a partition, cannot be looked at: what is on it is then unknown.
    """
    result = _found(path) if descriptor is None else _found(f"/proc/self/fd/{descriptor}", descriptor, named=path)
    return result.union(*map(_found, _partitions(path)))


def unacknowledged(identity: DriveIdentity, acknowledged: Iterable[str]) -> tuple[str, ...]:
    """One line saying what is on a drive and was not acknowledged, or why that cannot be told; empty where neither."""
    try:
        missing = _missing(identity, frozenset(acknowledged), None)
    except IdentityError as error:
        return (error.reason,)
    return (f"{_words(missing)}, to be acknowledged with --destroy-signature",) if missing else ()


def carried(identity: DriveIdentity) -> str:
    """What is on a drive and on what it stands on, in words; empty where nothing is. Raises IdentityError.

    Worked: a drive with a file system -> ``carries ext4``.
    """
    return _words(_missing(identity, frozenset(), None))


def sampled(path: str) -> str:
    """A digest of what lies at fixed places of a drive: its first and last MiB, and 256 blocks of 4 KiB between them.

    The blocks are spread evenly: what was written over more than 1/256 of the drive is seen for certain. They are read
    from the drive, not from the kernel's cache; one that cannot be read counts by its error.
    Raises IdentityError where the drive cannot be opened.
    """
    digest = hashlib.sha256()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            with mmap.mmap(-1, _END_BYTES) as buffer, memoryview(buffer) as view:
                for start, length in _places(os.lseek(descriptor, 0, os.SEEK_END)):
                    digest.update(_content(descriptor, view[:length], start))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise IdentityError(path, f"its contents are unknown ({error.strerror})", "check the drive") from None
    return digest.hexdigest()


def _places(size: int) -> Iterator[tuple[int, int]]:
    """Start and length in bytes of what ``sampled`` reads. Worked: a drive of 3 MiB -> 258 places."""
    end = min(_END_BYTES, size)
    yield 0, end
    between = max(size - 2 * _END_BYTES, 0)
    for number in range(_PLACES if between else 0):
        yield _END_BYTES + number * between // _PLACES // _PLACE_BYTES * _PLACE_BYTES, _PLACE_BYTES
    yield size - end, end


def _content(descriptor: int, view: memoryview, start: int) -> bytes:
    try:
        return bytes(view[: os.preadv(descriptor, [view], start)])
    except OSError as error:
        return str(error.errno).encode()


def refuse_signatures(request: Request, descriptor: int | None = None) -> None:
    """Raise SignatureError where something is on a drive, or on what it stands on, that was not acknowledged.

    descriptor : of the held drive; it is then looked at through that.
    """
    missing = _missing(request.identity, request.signatures, descriptor)
    if missing:
        options = " ".join(f"--destroy-signature {name}" for name in sorted(frozenset().union(*missing.values())))
        raise SignatureError(request.identity.path, _words(missing), f"if that may be destroyed, add {options}")


def _missing(
    identity: DriveIdentity, acknowledged: frozenset[str], descriptor: int | None
) -> dict[Level | None, frozenset[str]]:
    """What was not acknowledged, by the level that carries it; None is the drive itself.

    A loop device may show a part only of what is below it, so that is looked at as a whole. What a mapped device or an
    array stands on carries the mark of that, which a write to the mapped device does not reach.
    """
    result: dict[Level | None, frozenset[str]] = {None: signatures(identity.path, descriptor=descriptor)}
    for level in levels_below(identity):
        if isinstance(level, DiskLevel) and level.is_free:
            result[level] = signatures(level.disk.node)
        elif isinstance(level, FileLevel) and level.is_part and level.file.is_at(level.file.path):
            result[level] = signatures(str(level.file.path))
    named: frozenset[str] = acknowledged
    missing = {}
    for place, types in result.items():
        if types - named:
            missing[place] = types - named
        named |= types
    return missing


def _words(missing: Mapping[Level | None, frozenset[str]]) -> str:
    carried = {level: f"carries {', '.join(sorted(types))}" for level, types in missing.items()}
    return "; ".join(level.told(words) if level else words for level, words in carried.items())


def _partitions(path: str) -> list[str]:
    """Nodes of a disk's partitions. Raises IdentityError where a node is missing or another device's."""
    disk = disk_at(path)
    nodes = []
    for partition in disk.partitions() if disk else ():
        node = partition.node
        number = Path(node).stat().st_rdev if Path(node).exists() else 0
        if number_label(number) != partition.number_text:
            raise IdentityError(path, f"its contents are unknown: {node} is missing", "let udev make its node")
        nodes.append(node)
    return nodes


def _found(place: str, descriptor: int | None = None, *, named: str | None = None) -> frozenset[str]:
    inherited = () if descriptor is None else (descriptor,)
    try:
        answer = run_command(WIPEFS, ["--no-act", "--json", "--", place], seconds=_SECONDS, pass_fds=inherited)
        return _types(answer)
    except CommandError as error:
        reason = f"its contents are unknown ({error})"
        raise IdentityError(named or place, reason, "install util-linux, or check the drive") from None


def _types(answer: Answer) -> frozenset[str]:
    """The types in what wipefs prints. A warning counts as no answer, whatever the exit code: it may hide something."""
    if answer.code or answer.errors:
        raise CommandError(printable(answer.errors) or f"wipefs ended with exit code {answer.code}")
    try:
        types = json.loads(answer.output)["signatures"] if answer.output.strip() else []
        return frozenset(printable(str(entry["type"]).encode()) for entry in types)
    except (ValueError, KeyError, TypeError):
        raise CommandError("wipefs gave no list") from None
