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


_RUN, _PATHS = "drives/test_drive_run.py", "drives/test_gate_paths.py"
_BACKINGS, _RULES = "drives/test_gate_backings.py", "device/test_gate_rules.py"
KINDS: tuple[Kind, ...] = (
    Kind(name="NVMe", state="supported", tried=(_RUN, "drives/test_drive_purge.py"), note="emulated only"),
    Kind(name="SATA", state="supported", tried=("drives/test_drive_identity.py",), note="emulated only"),
    Kind(name="SCSI, SAS", state="supported", tried=("drives/test_drive_identity.py",), note="emulated only"),
    Kind(name="USB bridge", state="supported", tried=(_PATHS,), note="emulated only; it tells no serial number"),
    Kind(name="virtio, MMC", state="untested"),
    Kind(name="Loop device", state="supported", tried=("device/test_run_loop.py",)),
    Kind(name="File", state="supported", tried=("device/test_preflight.py",), note="with --file-target"),
    Kind(name="4Kn", state="supported", tried=(_PATHS, "device/test_alignment.py"), note="emulated only"),
    Kind(name="Protection information", state="supported", tried=(_PATHS,), note="emulated only; the gate, no run"),
    Kind(name="Two controllers per namespace", state="supported", tried=(_PATHS,), note="emulated only"),
    Kind(name="Several paths to a drive", state="refused", rule="twins", tried=(_PATHS,)),
    Kind(name="Multipath over several paths", state="supported", tried=(_PATHS,), note="emulated only"),
    Kind(name="Zoned", state="refused", rule="zoned", tried=(_PATHS,)),
    Kind(name="Read-only", state="refused", rule="writable", tried=(_PATHS,)),
    Kind(name="Partition", state="refused", rule="partition", tried=("device/test_gate.py",)),
    Kind(name="Mapped device", state="supported", tried=("drives/test_gate_mapped.py",)),
    Kind(name="LVM volume", state="supported", tried=("drives/test_gate_volumes.py",)),
    Kind(name="MD array", state="supported", tried=("drives/test_gate_arrays.py",)),
    Kind(name="bcache", state="supported", tried=(_BACKINGS,)),
    Kind(name="Disk below any of these", state="refused", rule="holders", tried=("drives/test_gate_mapped.py",)),
    Kind(name="Member of an MD array", state="refused", rule="md", tried=("drives/test_gate_arrays.py",)),
    Kind(name="Member of a btrfs", state="refused", rule="btrfs", tried=(_RULES,)),
    Kind(name="nbd", state="refused", rule="untold", tried=(_BACKINGS,), note="until acknowledged: unknown-backing"),
    Kind(name="ublk, rbd, drbd, zvol", state="refused", rule="untold", note="until acknowledged: unknown-backing"),
    Kind(name="File on FUSE", state="refused", rule="untold", note="until acknowledged: unknown-backing"),
    Kind(name="File on overlay, network", state="refused", rule="alike", note="until acknowledged: file-system:TYPE"),
    Kind(name="Disk of a virtual machine", state="refused", rule="writers", tried=("drives/test_gate_openers.py",)),
    Kind(name="Disk that the kernel exports", state="refused", rule="exports", tried=("drives/test_gate_exports.py",)),
    Kind(name="In a container", state="refused", rule="unseen", note="until acknowledged: unseen-processes"),
)
"""In the order in which the page has them."""
SYSTEMS = (
    ("Debian 12, Linux 6.18", "all tests on loop devices and files"),
    ("Debian 12, Linux 6.1", "guests with emulated drives"),
)
"""Distributions and kernels that were tried, and with what."""
