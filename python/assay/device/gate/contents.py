"""What is on a drive: file systems, partition tables, RAID and volume members, on the disk and in its partitions."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.device.command import Answer, CommandError, run_command
from assay.device.sysfs import disk_at, printable
from assay.errors import IdentityError, SignatureError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.device.gate.facts import Request

WIPEFS = "wipefs"
_SECONDS = 30


def signatures(path: str, *, descriptor: int | None = None) -> frozenset[str]:
    """Types of what is found on a drive, as libblkid names them: ``ext4``, ``gpt``, ``LVM2_member``, ``crypto_LUKS``.

    descriptor : of the held drive; it is then looked at through that, whatever its name means by now.
    Raises IdentityError where the drive, or a partition, cannot be looked at: what is on it is then unknown.
    """
    found = _found(path) if descriptor is None else _found(f"/proc/self/fd/{descriptor}", descriptor, named=path)
    return found.union(*map(_found, _partitions(path)))


def unacknowledged(path: str, acknowledged: Iterable[str]) -> tuple[str, ...]:
    """One line saying what is on a drive and was not acknowledged, or why that cannot be told; empty where neither."""
    try:
        missing = sorted(signatures(path) - frozenset(acknowledged))
    except IdentityError as error:
        return (error.reason,)
    return (f"carries {', '.join(missing)}, to be acknowledged with --destroy-signature",) if missing else ()


def refuse_signatures(request: Request, descriptor: int) -> None:
    """Raise SignatureError where something is on the held drive that was not acknowledged by its type."""
    path = request.identity.path
    missing = sorted(signatures(path, descriptor=descriptor) - request.signatures)
    if missing:
        options = " ".join(f"--destroy-signature {name}" for name in missing)
        raise SignatureError(path, f"carries {', '.join(missing)}", f"if that may be destroyed, add {options}")


def _partitions(path: str) -> list[str]:
    """Nodes of a disk's partitions. Raises IdentityError where a node is missing or another device's."""
    disk = disk_at(path)
    nodes = []
    for partition in disk.partitions() if disk else ():
        node = "/dev/" + partition.name.replace("!", "/")
        number = Path(node).stat().st_rdev if Path(node).exists() else 0
        if f"{os.major(number)}:{os.minor(number)}" != partition.number_text:
            raise IdentityError(path, f"what is on it cannot be told: {node} is missing", "let udev make its node")
        nodes.append(node)
    return nodes


def _found(place: str, descriptor: int | None = None, *, named: str | None = None) -> frozenset[str]:
    inherited = () if descriptor is None else (descriptor,)
    try:
        answer = run_command(WIPEFS, ["--no-act", "--json", "--", place], seconds=_SECONDS, pass_fds=inherited)
        return _types(answer)
    except CommandError as error:
        reason = f"what is on it cannot be told ({error})"
        raise IdentityError(named or place, reason, "install util-linux, or check the drive") from None


def _types(answer: Answer) -> frozenset[str]:
    """The types in what wipefs prints. A warning counts as no answer, whatever the exit code: it may hide something."""
    if answer.code or answer.errors:
        raise CommandError(printable(answer.errors) or f"wipefs ended with exit code {answer.code}")
    try:
        found = json.loads(answer.output)["signatures"] if answer.output.strip() else []
        return frozenset(printable(str(entry["type"]).encode()) for entry in found)
    except (ValueError, KeyError, TypeError):
        raise CommandError("wipefs gave no list") from None
