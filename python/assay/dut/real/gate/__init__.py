"""The gate: the only code that opens a drive for writing, and every reason why it does not.

A drive that is only read it opens for reading, so that the kernel refuses writes; who uses it is refused then, too.
Everything is checked before the first byte is written; the exclusive claim is held until the run ends. A drive that is
in use, or that the running system lies on, is refused whatever options are given; what cannot be told, or may do no
harm, until it is acknowledged by a word (``doubts``). An exclusive open of the whole disk catches mounts (in any
namespace), swap, device-mapper and MD holders; what it misses (a process with the node open, a loop device stacked on
the disk, a kernel server, inactive members, what a layer above lies on) is looked for on its own, and so is what it
finds, to name it. All of it is asked of every disk and file that the target stands on, too, and again behind the claim.
"""

from assay.dut.real.gate.claim import pinned
from assay.dut.real.gate.commands import open_passthrough
from assay.dut.real.gate.contents import carried, sampled, signatures
from assay.dut.real.gate.entry import OpenDrive, examined, open_drive, refusals, refuse_foreseen
from assay.dut.real.gate.facts import DRIVE_WRITES_MAX, Request
from assay.dut.real.gate.mounts import on_file_system
from assay.dut.real.gate.stack import stack_kinds
from assay.dut.real.gate.users import Asking, arrived

__all__ = [
    "DRIVE_WRITES_MAX",
    "Asking",
    "OpenDrive",
    "Request",
    "arrived",
    "carried",
    "examined",
    "on_file_system",
    "open_drive",
    "open_passthrough",
    "pinned",
    "refusals",
    "refuse_foreseen",
    "sampled",
    "signatures",
    "stack_kinds",
]
