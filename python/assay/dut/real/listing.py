"""Which drives there are, and why each may not be tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.gate import examined
from assay.dut.real.identity import disks

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity


def list_drives() -> list[DriveIdentity]:
    """List the whole disks of this host, each with the reasons why the gate would refuse it now.

    Returns every disk with a capacity in the order of /sys/block; RAM disks and loop devices that are not set up are
    left out. Nothing is written and nothing is opened for writing.
    """
    return [examined(disk) for disk in disks()]
