"""Kinds of drives and stacks: what the gate does with each, and on what that was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["supported", "refused", "untested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of drive or stack.

    state : ``supported`` where it is let in and was tried, ``refused`` with the rule that refuses it, ``untested``
    where no rule is against it and nobody has tried it. rule : of the gate's tables, empty where there is none.
    tried : the tests that show it, below ``tests``; empty where there are none. note : in a few words.
    """

    name: str
    state: State
    rule: str = ""
    tried: tuple[str, ...] = ()
    note: str = ""


_DRIVES = "drives/test_drive_run.py"
KINDS: tuple[Kind, ...] = (
    Kind(name="NVMe", state="supported", tried=(_DRIVES, "drives/test_drive_purge.py"), note="emulated only"),
    Kind(name="SATA", state="supported", tried=("drives/test_drive_identity.py",), note="emulated only"),
    Kind(name="SCSI, SAS", state="supported", tried=("drives/test_drive_identity.py",), note="emulated only"),
    Kind(name="virtio, MMC", state="untested"),
    Kind(name="USB bridge", state="untested", note="identity and cache are those of the bridge"),
    Kind(name="Loop device", state="supported", tried=("device/test_run_loop.py",)),
    Kind(name="File", state="supported", tried=("device/test_preflight.py",), note="with --file-target"),
    Kind(name="4Kn", state="supported", tried=("device/test_alignment.py",), note="as a loop device"),
    Kind(name="Metadata, protection information", state="untested"),
    Kind(name="Two controllers of one namespace", state="untested", note="NVMe multipath of one kernel disk"),
    Kind(name="Several paths to one drive", state="refused", rule="twins", note="disks with one identity"),
    Kind(name="Zoned", state="refused", rule="zoned", tried=("device/test_gate_rules.py",)),
    Kind(name="Read-only", state="refused", rule="writable", tried=("device/test_gate_rules.py",)),
    Kind(name="Partition", state="refused", rule="partition", tried=("device/test_gate.py",)),
    Kind(name="Mapped device, LVM volume", state="supported", tried=("drives/test_gate_holders.py",)),
    Kind(
        name="Disk below a mapped device or LVM",
        state="refused",
        rule="holders",
        tried=("drives/test_gate_holders.py",),
    ),
    Kind(name="MD array", state="untested"),
    Kind(name="Member of an MD array", state="refused", rule="md", tried=("device/test_gate_rules.py",)),
    Kind(name="Member of a btrfs", state="refused", rule="btrfs", tried=("device/test_gate_rules.py",)),
    Kind(name="nbd, ublk, rbd, zvol", state="refused", rule="untold", note="until acknowledged: unknown-backing"),
    Kind(name="File on FUSE", state="refused", rule="untold", note="until acknowledged: unknown-backing"),
    Kind(
        name="File on an overlay or network", state="refused", rule="alike", note="until acknowledged: file-system:TYPE"
    ),
    Kind(
        name="Disk of a virtual machine that runs",
        state="refused",
        rule="writers",
        tried=("device/test_gate_rules.py",),
    ),
    Kind(name="Disk that the kernel exports", state="refused", rule="exports", tried=("device/test_gate_rules.py",)),
    Kind(
        name="In a container, with its own PIDs",
        state="refused",
        rule="unseen",
        note="until acknowledged: unseen-processes",
    ),
)
"""In the order in which the page has them."""
SYSTEMS = (
    ("Debian 12, Linux 6.18", "all tests on loop devices and files"),
    ("Debian 12, Linux 6.1", "guests with emulated drives"),
)
"""Distributions and kernels that were tried, and with what."""
