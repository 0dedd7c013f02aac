"""Lets a guest work with what is installed on the host: its root directory, read-only, with a scratch layer above it.

Nothing is copied and nothing reaches the host: what the guest writes lies in its own memory and is gone with it. Device
nodes, ``/proc`` and ``/sys`` are the guest's own. Needs a kernel of the flavour ``amd64``.
"""

from __future__ import annotations

import shlex

MODULES = ["virtio_pci", "9p", "9pnet_virtio", "overlay"]
"""Kernel modules for ``Content``."""

OPTIONS = (
    *("-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap"),
    *("-device", "virtio-9p-pci,fsdev=host,mount_tag=host"),
)
"""Options of QEMU for ``Machine``."""

_MOUNTED = """set -e
mkdir -p /host /scratch /root
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /host
mount -t tmpfs tmpfs /scratch
mkdir /scratch/upper /scratch/work
mount -t overlay -o lowerdir=/host,upperdir=/scratch/upper,workdir=/scratch/work overlay /root
mount -t devtmpfs devtmpfs /root/dev
mkdir -p /root/dev/shm
mount -t tmpfs tmpfs /root/dev/shm
mount -t tmpfs tmpfs /root/run
mount -t proc proc /root/proc
mount -t sysfs sysfs /root/sys
[ ! -d /sys/kernel/config ] || mount -t configfs configfs /root/sys/kernel/config
"""


def mounting() -> str:
    """The script of a task that must come before the first ``inside``."""
    return _MOUNTED


def inside(command: list[str], *, folder: str, environment: dict[str, str]) -> str:
    """The script of a task that runs a command in the host's root directory; nothing but the environment is inherited.

    >>> print(inside(["ls", "-l"], folder="/srv", environment={"LC_ALL": "C"}))
    exec chroot /root /usr/bin/env -i LC_ALL=C /bin/sh -c 'cd /srv && exec ls -l'
    """
    settings = [f"{name}={value}" for name, value in environment.items()]
    script = f"cd {shlex.quote(folder)} && exec {shlex.join(command)}"
    return shlex.join(["exec", "chroot", "/root", "/usr/bin/env", "-i", *settings, "/bin/sh", "-c", script])
