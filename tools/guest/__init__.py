"""A Debian guest under QEMU that boots in seconds, does a list of tasks and says what came of them.

``kernel`` fetches a kernel, ``initramfs`` packs what the guest needs, ``boot`` runs the machine. What the guest is for
stands with those who ask for it. Nothing is installed: the kernel is unpacked into a cache folder, and everything else
is copied from the host. KVM is not used, so that a guest runs on any machine.
"""

from guest.boot import Machine, Outcome, Task, run_guest
from guest.errors import GuestFailedError, GuestMissingError
from guest.initramfs import Content
from guest.kernel import Kernel, find_kernel

__all__ = [
    "Content",
    "GuestFailedError",
    "GuestMissingError",
    "Kernel",
    "Machine",
    "Outcome",
    "Task",
    "find_kernel",
    "run_guest",
]
