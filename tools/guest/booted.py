"""Boots the host's root directory as Debian does: systemd is the first process, and starts one script.

An installation of this package for all users lies in ``INSTALLED``: interpreter, package and what it depends on are
mounted below it, since a user's home folder, where they may lie on the host, is closed to services. Units that the host
has enabled are not started.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from guest import host_root

INSTALLED = Path("/opt/assay-trial")
"""Where the installation lies: ``bin/assay``."""
APPEND = (
    "systemd.unit=assay-trial.target systemd.show_status=0 systemd.log_level=notice "
    # The interpreter's shared library lies where it was built, perhaps in a home folder.
    f"systemd.setenv=LD_LIBRARY_PATH={INSTALLED}/base/lib"
)
"""Words of the kernel's command line for ``Machine``."""
LAST = "[ -x /root/opt/assay-trial/bin/assay ] || poweroff -f\nexec switch_root /root /lib/systemd/systemd"
"""For ``Content``."""

_ASSAY = f"#!{INSTALLED}/bin/python -I\nfrom assay.cli import main\nmain()\n"
_TARGET = "[Unit]\nRequires=basic.target assay-trial.service\nAfter=basic.target\n"
_SERVICE = "[Service]\nType=oneshot\nTimeoutStartSec=infinity\nExecStart=/bin/sh /opt/assay-trial/trial\n"
_LEFT = (
    ".dockerenv",
    "etc/assay",
    "etc/systemd/system",
    "var/lib/assay",
    "var/lib/assay-web",
    "var/log/assay",
    "var/log/journal",
)


def booting(root: Path, script: str) -> str:
    """The script of the last task: what the booted system starts.

    root : of this project. script : its output and exit status become the outcome ``booted``.
    """
    packages = Path(sysconfig.get_path("purelib"))
    mounts = {"base": Path(sys.base_prefix), "package": root / "python", "packages": packages}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    files = {
        "opt/assay-trial/pyvenv.cfg": f"home = {INSTALLED}/base/bin\n",
        f"opt/assay-trial/lib/{version}/site-packages/trial.pth": f"{INSTALLED}/package\n{INSTALLED}/packages\n",
        "opt/assay-trial/bin/assay": _ASSAY,
        "opt/assay-trial/trial": _reported(script),
        "etc/fstab": "",
        # Emptying the host's /tmp takes minutes.
        "etc/tmpfiles.d/tmp.conf": "",
        "etc/systemd/system/assay-trial.target": _TARGET,
        "etc/systemd/system/assay-trial.service": _SERVICE,
    }
    return "\n".join(
        [
            host_root.mounting(),
            f"rm -rf {' '.join(f'/root/{path}' for path in _LEFT)}",
            *(f"mkdir -p /root{INSTALLED}/{name}" for name in mounts),
            *(f"mount --bind /root{path.resolve()} /root{INSTALLED}/{name}" for name, path in mounts.items()),
            *(_written(path, content) for path, content in files.items()),
            f"ln -s ../base/bin/{version} /root{INSTALLED}/bin/python",
            f"chmod 755 /root{INSTALLED}/bin/assay",
        ]
    )


def _written(path: str, content: str) -> str:
    """Commands that write a file below the root directory."""
    return f"mkdir -p /root/{Path(path).parent}\ncat >/root/{path} <<'@file'\n{content}@file"


def _reported(script: str) -> str:
    """The script, with its outcome on the second serial port and the machine's end after it."""
    return f"""(
{script}
) >/run/outcome 2>&1 </dev/null
status=$?
{{ echo "@begin 999-booted"; cat /run/outcome; echo; echo "@end $status"; }} >/dev/ttyS1
sync
systemctl poweroff --force --force
"""
