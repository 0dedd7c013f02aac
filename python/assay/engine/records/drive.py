"""The drive, how it was purged, and the system that tests it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

DriveKind = Literal["block", "file", "simulated"]
CacheState = Literal["enabled", "disabled", "unknown"]
Control = Literal["trim", "write-cache"]
PurgeMethod = Literal[
    "format",
    "format-crypto",
    "sanitize-block",
    "sanitize-crypto",
    "sanitize-overwrite",
    "erase",
    "erase-enhanced",
    "discard",
    "overwrite",
]
"""Ways to purge a real drive, as chosen; which command one stands for depends on the drive's kind."""
SIMULATED_PURGE = "simulated purge"
REAL_PURGES = (
    "NVMe Format (",
    "NVMe Sanitize (",
    "SCSI FORMAT UNIT",
    "SCSI SANITIZE (",
    "ATA SECURITY ERASE UNIT (",
    "ATA SANITIZE DEVICE (",
    "discard",
    "overwrite",
)
"""How purges are printed: of a simulated drive, and what those of a real drive begin with."""
_FAULTS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveIdentity:
    """Who the drive is. Unknown facts are None and printed as unknown.

    id : the text that confirms a destructive act: serial, WWN, ``loop:<inode>:<diskseq>``, real path, or ``sim:...``.
    controls : what can be done to it between sequences: give ranges back (``trim``), set its ``write-cache``.
    eui, nguid : of an NVMe namespace. controller : name of its controller; namespace_id, namespace_count : its number,
    and how many namespaces the kernel shows there. numa_node : of the device that it hangs on.
    file_id : device and inode of a file target, ``major:minor:inode``; its path may lead to another file later.
    refusals : reasons why the gate would refuse it now, one line each; empty means it may be tested.
    faults : what goes wrong with a simulated drive on purpose, one line each; faults_sha256 : of the files that say so.
    """

    id: str
    path: str
    kind: DriveKind
    capacity_bytes: int
    logical_block_bytes: int
    physical_block_bytes: int | None = None
    model_number: str | None = None
    serial: str | None = None
    firmware: str | None = None
    wwn: str | None = None
    interface: str | None = None
    media: str | None = None
    diskseq: int | None = None
    write_cache: CacheState = "unknown"
    controls: tuple[Control, ...] = ()
    eui: str | None = None
    nguid: str | None = None
    controller: str | None = None
    namespace_id: int | None = None
    namespace_count: int | None = None
    numa_node: int | None = None
    file_id: str | None = None
    refusals: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    faults_sha256: tuple[str, ...] = ()

    @property
    def keeps_data(self) -> bool:
        """Whether it returns what was written; a simulated drive has times and no content."""
        return self.kind != "simulated"

    @property
    def file_label(self) -> str:
        """What lies below a file target. Worked: interface ``file on ext4 (rw; rw)`` -> ``file on ext4``."""
        named = (self.interface or "").partition(" (")[0]
        return named if named.startswith("file ") else "file on a file system"

    @property
    def faults_label(self) -> str | None:
        """The faults on one line, the first three of many; None where there are none.

        Worked: ``("stall of 5 s, at 30 s", "gone, at 60 s")`` -> ``"stall of 5 s, at 30 s; gone, at 60 s"``.
        """
        more = f"; and {len(self.faults) - _FAULTS_SHOWN} more" if len(self.faults) > _FAULTS_SHOWN else ""
        return "; ".join(self.faults[:_FAULTS_SHOWN]) + more or None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveCondition:
    """Link, temperature and wear of a drive at one moment; unknown facts are None.

    link : as negotiated, such as ``SATA 6.0 Gbps``. wear_used_pct : of the rated endurance, may exceed 100.
    health : counts of the drive's own health log by name, such as ``media_errors``; only what could be read.
    state_hash : SHA-256 of the state of a simulated drive whose state is kept.
    """

    link: str | None = None
    temperature_c: float | None = None
    wear_used_pct: float | None = None
    state_hash: str | None = None
    health: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRecord:
    """How the drive was purged and what proves it.

    method : as printed: ``NVMe Format (user data erase)``, ``discard``, ``overwrite``, ``simulated purge`` and so on.
    proof : one sentence saying what was checked. deviation : why this is less than a purge, or None.
    """

    method: str
    proof: str
    deviation: str | None
    span_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The test system as it describes itself; unknown facts are None.

    host_id : tells hosts apart without giving the machine's own id away. build : SHA-256 of the engine, shortened.
    """

    system: str | None
    motherboard: str | None
    cpu: str | None
    memory_bytes: int | None
    operating_system: str | None
    kernel: str | None
    clock_source: str | None
    tool: str
    tool_version: str
    host_id: str | None = None
    build: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
