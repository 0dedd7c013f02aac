"""The block layer's request queue: what it would do to our I/Os, and keeping it from merging them."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from assay.device.identity import sysfs_directory
from assay.device.sysfs import SYSFS, read_text
from assay.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.records import DriveIdentity

# 2 switches every kind of merge lookup off; without iostats the kernel's counters stand still.
_WANTED = {"nomerges": "2", "iostats": "1"}
_SHOWN = (
    "scheduler",
    "nomerges",
    "iostats",
    "max_sectors_kb",
    "max_hw_sectors_kb",
    "max_segments",
    "max_segment_size",
    "nr_requests",
    "read_ahead_kb",
    "rotational",
    "rq_affinity",
    "wbt_lat_usec",
    "write_cache",
    "zoned",
    "discard_granularity",
    "discard_max_bytes",
)


@contextmanager
def merging_off(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> Iterator[dict[str, str]]:
    """Keep the kernel from merging I/Os of the drive while the block runs, and its I/O counters on.

    identity : a block device is set; a file or simulated drive is left alone.
    Yields the queue's settings in force by sysfs name; ``{}`` for a file. A setting that could not be changed stays
    as it is, and ``nomerges_note`` or ``iostats_note`` says so. Former values come back on every way out.
    Source: Linux ``Documentation/block/queue-sysfs.rst``. Worked: ``nomerges`` 0 -> 2 inside the block -> 0 after it.
    """
    if identity.kind != "block":
        yield {}
        return
    queue = sysfs_directory(identity, sysfs=sysfs) / "queue"
    with ExitStack() as restored:
        notes = {f"{name}_note": note for name in _WANTED if (note := _change(queue / name, restored))}
        yield queue_settings(identity, sysfs=sysfs) | notes


def queue_settings(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> dict[str, str]:
    """The queue's settings in force by sysfs name; ``{}`` for a file or simulated drive.

    Worked: ``scheduler`` with the text ``[none] kyber`` is ``none``.
    """
    if identity.kind != "block":
        return {}
    queue = sysfs_directory(identity, sysfs=sysfs) / "queue"
    return {name: chosen(text) for name in _SHOWN if (text := read_text(queue / name))}


def split_factor(settings: dict[str, str], transfer_bytes: int) -> int | None:
    """Count the requests that the block layer makes of one transfer.

    settings : as yielded by ``merging_off``. transfer_bytes : at least 1.
    Returns at least 1, or None where ``max_sectors_kb`` is unknown. Only the size limit counts here: a buffer that is
    not contiguous in physical memory can be split further by ``max_segments``.
    Worked: 1 MiB at ``max_sectors_kb`` 256 -> 4.
    """
    limit_kib = settings.get("max_sectors_kb", "")
    if not limit_kib.isdecimal() or int(limit_kib) == 0:
        return None
    return max(1, -(-transfer_bytes // (int(limit_kib) * KIB)))


def stat_path(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> str | None:
    """Name the file with the block layer's own counters of the drive; None for a file or simulated drive."""
    if identity.kind != "block":
        return None
    path = sysfs_directory(identity, sysfs=sysfs) / "stat"
    return str(path) if path.exists() else None


def chosen(text: str) -> str:
    """The choice in force of an attribute that lists all. Worked: ``[none] kyber`` -> ``none``."""
    match = re.search(r"\[([^\]]+)\]", text)
    return match[1] if match else text


def _change(attribute: Path, restored: ExitStack) -> str | None:
    """Set one attribute and book its return; the result says why it could not be set."""
    former, wanted = read_text(attribute), _WANTED[attribute.name]
    if former == wanted:
        return None
    try:
        attribute.write_text(wanted, encoding="ascii")
    except OSError as error:
        return f"left at {former or 'unknown'}: {error.strerror}"
    if former is not None:
        restored.callback(_restore, attribute, former)
    return None


def _restore(attribute: Path, former: str) -> None:
    # A drive that died in the run has no queue any more; its own error must not be hidden by this one.
    with suppress(OSError):
        attribute.write_text(former, encoding="ascii")
