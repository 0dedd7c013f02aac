"""What a test in the guest works with: its drives, known by serial, and the machine around it."""

from __future__ import annotations

import json
import os
import tty
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assay.dut.dut import Answers, hold_drive
from assay.dut.real.gate.levels import DiskLevel, levels
from assay.dut.real.identity import disk_identity
from assay.engine.pattern import random_pattern
from assay.engine.records import ActiveRange, DataPattern, Demand, StepSpec, StopRule

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from assay.dut.real.gate import OpenDrive
    from assay.engine.records import DirectionRecord, DriveIdentity, StepRecord
    from assay.engine.stimulus import Stimulus

INSIDE = "ASSAY_EMULATED_DRIVES" in os.environ and Path("/sys/class/dmi/id/sys_vendor").exists()
KIB, MIB = 1 << 10, 1 << 20
CAPACITY = 256 * MIB
# What QEMU calls its drives; nothing else is ever written to.
_MODELS = ("QEMU NVMe Ctrl", "QEMU HARDDISK")


class FindDrive(Protocol):
    """Find a drive by serial."""

    def __call__(self, serial: str) -> DriveIdentity:
        """Give its identity as ``assay.dut.real.identity`` reads it; of two namespaces the first. Fails without it."""
        ...


class Control:
    """The machine outside: asks the host to do what no test can do from within."""

    def __init__(self, port: str = "/dev/ttyS2") -> None:
        descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(descriptor)
        self._stream = open(descriptor, "r+b", buffering=0)  # noqa: SIM115, PTH123 -- lives as long as the guest

    def remove(self, drive: str) -> None:
        """Take a drive out of its slot, by its name in tools/drive_tests.py."""
        self._ask(verb="remove", drive=drive)

    def insert(self, drive: str) -> None:
        """Put it back."""
        self._ask(verb="insert", drive=drive)

    def resize(self, drive: str, capacity_bytes: int) -> None:
        """Change the capacity of the SCSI drive."""
        self._ask(verb="resize", drive=drive, capacity_bytes=capacity_bytes)

    def say(self, text: str) -> None:
        """Show a line on the host."""
        self._ask(verb="say", text=text)

    def _ask(self, **request: object) -> None:
        self._stream.write(json.dumps(request).encode() + b"\n")
        if error := json.loads(self._stream.readline()).get("error"):
            raise RuntimeError(error)


def is_emulated(identity: DriveIdentity) -> bool:
    """Whether a drive is one that QEMU made up, in a machine that QEMU made up."""
    vendor = Path("/sys/class/dmi/id/sys_vendor").read_text("utf-8").strip()
    return INSIDE and vendor == "QEMU" and identity.model_number in _MODELS


def short_iops(identity: DriveIdentity, out: Path) -> list[str]:
    """Options of a short run of IOPS without a report, which takes a minute in an interpreted guest."""
    options = ["--test", "iops", "--scale", "0.001", "--seed", "1", "--no-report"]
    return [*options, "--yes-destroy", identity.id, "--out", str(out)]


def stands_on_emulated(identity: DriveIdentity) -> bool:
    """Whether a drive stands on such drives alone, or on a file of the guest, which is none of the host."""
    below = [level.disk for level in levels(identity) if isinstance(level, DiskLevel) and not level.disk.slaves()]
    lowest = [disk_identity(disk.name) for disk in below if not disk.name.startswith(("loop", "nbd"))]
    return INSIDE and all(map(is_emulated, lowest))


def held(
    identity: DriveIdentity,
    *,
    thread_count: int = 1,
    said: frozenset[str] = frozenset(),
    signatures: frozenset[str] = frozenset(),
) -> AbstractContextManager[tuple[OpenDrive, Stimulus, dict[str, str]]]:
    """Hold a drive through the gate, as a run does. said, signatures : what is acknowledged."""
    assert stands_on_emulated(identity)
    return hold_drive(
        identity,
        Answers(confirmation=identity.id, acknowledged=said, signatures=signatures),
        needed_bytes=0,
        thread_count=thread_count,
        transfer_bytes_max=MIB,
        seed=1,
    )


def step(
    stop: StopRule, active_range: ActiveRange, *, transfer_bytes: int = 4 * KIB, read_share: float = 1.0
) -> StepSpec:
    """One step of random accesses with eight outstanding."""
    return StepSpec(
        label="step",
        pattern=random_pattern(transfer_bytes, read_share, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=8),
        active_range=active_range,
        stop=stop,
    )


def assert_only_whole_ios_count(record: StepRecord, transfer_bytes: int = 4 * KIB) -> None:
    """Every figure of a record is made of I/Os that were done, and of all of them."""
    for direction in (record.read, record.write):
        whole = io_count(direction)
        assert sum(count for _, count in direction.histogram) == whole
        assert direction.window_bytes + direction.tail_bytes == transfer_bytes * whole


def io_count(direction: DirectionRecord) -> int:
    """I/Os of a step, window and tail."""
    return direction.window_io_count + direction.tail_io_count
