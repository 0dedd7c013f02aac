"""What the cases of the gate's rules are made of: a drive, what is asked for it, and what is set up around it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.real.gate import claim, entry, mounts, open_drive
from assay.dut.real.identity import identify
from assay.dut.real.sysfs import Disk
from conftest import allocate, command, find_loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from assay.engine.records import DriveIdentity
    from conftest import LoopDrive

MIB = 1 << 20
SIZE_BYTES = 16 * MIB
READER = f"reader:{Path('/proc/self/comm').read_text('utf-8').strip()}"
"""The test's own process, which holds drives open to make cases."""
EXT4 = {"acknowledged_signatures": frozenset({"ext4"})}


@dataclass
class Case:
    """A drive as it was chosen, what is asked of the gate, and the rules that refuse it with what they say."""

    identity: DriveIdentity
    rules: dict[str, str]
    wish: dict[str, Any] = field(default_factory=dict)

    def open(self) -> None:
        """Ask for the drive and let go of it."""
        wish = {
            "confirmation": self.identity.id,
            "acknowledged_signatures": frozenset(),
            "needed_bytes": 0,
            "acknowledged": frozenset({READER}),
            **self.wish,
        }
        open_drive(self.identity, **wish).close()


@dataclass
class Stage:
    """What a case is set up with; ``undo`` is left at the end of the test."""

    loop_drive: LoopDrive
    folder: Path
    patch: pytest.MonkeyPatch
    undo: ExitStack

    def drive(self, size_bytes: int = SIZE_BYTES) -> DriveIdentity:
        """A free loop device."""
        return identify(self.loop_drive(size_bytes), file_target=False)

    def file(self) -> DriveIdentity:
        """A free file."""
        return identify(str(allocate(self.folder / "target.img", SIZE_BYTES)), file_target=True)

    def sysfs_value(self, attribute: str, text: str) -> None:
        """Make every disk tell a value that no loop device has."""
        real = Disk.text
        told = lambda disk, name: text if name == attribute else real(disk, name)  # noqa: E731
        self.patch.setattr(Disk, "text", told)

    def between(self, change: Callable[[], object], back: Callable[[], object]) -> None:
        """Change something between claim and check, and back when the drive is let go of."""
        claimed, close = claim.claim_drive, entry.OpenDrive.close

        def claim_and_change(identity: DriveIdentity, pin: int | None = None) -> int:
            descriptor = claimed(identity, pin)
            change()
            return descriptor

        def close_and_back(drive: entry.OpenDrive) -> None:
            close(drive)
            back()

        self.patch.setattr(claim, "claim_drive", claim_and_change)
        self.patch.setattr(entry.OpenDrive, "close", close_and_back)

    def proc(self, name: str, text: str) -> None:
        """Another content of a file in /proc."""
        fake = self.folder / "proc"
        fake.mkdir()
        for entry_name in {"self", "swaps", "mdstat"} - {name}:
            (fake / entry_name).symlink_to(Path("/proc") / entry_name)
        (fake / name).write_text(text)
        self.patch.setattr(mounts, "PROC", fake)

    def swap_to(self, node: str) -> None:
        """Use a device for swap; skips where that is not allowed."""
        command("mkswap", node)
        try:
            command("swapon", node)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"SKIPPED: no swap allowed here: {error.stderr}")
        self.undo.callback(command, "swapoff", node)

    def loop_upon(self, backing: str, *options: str) -> str:
        """Another loop device upon a file or device; its node."""
        node = find_loop(*options, backing)
        self.undo.callback(command, "losetup", "--detach", node)
        return node

    def on_top(self, backing: str, *options: str) -> DriveIdentity:
        """A loop device upon a file or device, as a drive."""
        return identify(self.loop_upon(backing, *options), file_target=False)
