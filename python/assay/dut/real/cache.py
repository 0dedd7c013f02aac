"""The drive's volatile write cache, as the kernel sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.sysfs import SYSFS, read_text

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import CacheState

_STATES: dict[str | None, CacheState] = {"write back": "enabled", "write through": "disabled"}


def read_write_cache(name: str, *, sysfs: Path = SYSFS) -> CacheState:
    """Tell whether the volatile write cache of a disk is on.

    name : kernel name of a whole disk, for example ``nvme0n1``.
    Returns ``enabled``, ``disabled``, or ``unknown`` where the kernel says neither.
    Source: Linux ``Documentation/ABI/stable/sysfs-block``, ``queue/write_cache``.
    Worked: ``write back`` -> ``enabled``.
    """
    return _STATES.get(read_text(sysfs / "block" / name / "queue/write_cache"), "unknown")
