"""Runs tests/drives in a guest with emulated drives, by this very Python and with this very package.

Goal: what only a real NVMe, SATA or SCSI drive shows (identity, removal in mid-run, media errors, splitting), on any
machine. Non-goal: speed; the guest is interpreted, and slow.

Run it by make test-drives, with options for pytest in ARGS: make test-drives ARGS="-k removed"
Needs QEMU, busybox and kmod (tools/debian-packages --install) and a Debian kernel, which apt-get fetches once; without
them one line says what is missing. Two guests share the tests, each with drives of its own, since an interpreted guest
keeps one CPU busy; with options there is one. Writes target/guest/drives-1.xml and drives-2.xml (JUnit). Without
options the tests of tools/installed_tests.py run after them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from guest import (
    Content,
    GuestFailedError,
    GuestMissingError,
    Kernel,
    Machine,
    Outcome,
    Task,
    find_kernel,
    host_root,
    run_guest,
)
from guest import drives as emulated
from guest.control import Control
from guest.drives import EmulatedDrive, drive_options
from installed_tests import TESTS, run_installed
from installed_tests import shown as shown_installed

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "target/guest"
GUEST_COUNT = 2
TIME_LIMIT_S = 2700
MEMORY_MIB = 2048
STACKING_MODULES = (
    *("dm_mod", "dm_crypt", "dm_mirror", "dm_multipath", "dm_round_robin", "loop", "linear", "raid1"),
    *("bcache", "nbd", "nvmet", "target_core_mod", "target_core_iblock", "target_core_file"),
)
"""What builds devices upon drives, and what serves drives to other hosts."""

DRIVES = (
    EmulatedDrive(name="nvme-a", serial="Q-NVME-A"),
    EmulatedDrive(name="nvme-twin", serial="Q-NVME-TWIN", namespace_count=2),
    EmulatedDrive(name="nvme-bad", serial="Q-NVME-BAD", bad_sector=2048),
    EmulatedDrive(name="nvme-hostile", serial="<script>=1+1"),
    EmulatedDrive(name="sata", serial="Q-SATA", bus="sata"),
    EmulatedDrive(name="scsi", serial="Q-SCSI", bus="scsi"),
    EmulatedDrive(name="nvme-paths", serial="Q-NVME-PATHS", path_count=2),
    EmulatedDrive(name="nvme-zoned", serial="Q-NVME-ZONED", zone_bytes=4 << 20),
    EmulatedDrive(name="nvme-4kn", serial="Q-NVME-4KN", block_bytes=4096),
    EmulatedDrive(name="nvme-protected", serial="Q-NVME-PROTECTED", protection_bytes=8),
    EmulatedDrive(name="scsi-paths", serial="Q-SCSI-PATHS", bus="scsi", path_count=2),
    EmulatedDrive(name="scsi-fixed", serial="Q-SCSI-FIXED", bus="scsi", is_read_only=True),
    EmulatedDrive(name="usb", serial="Q-USB", bus="usb"),
)
"""What the guest has in its slots. The tests know them by their serials."""


def main(options: list[str]) -> int:
    """Boot, test, show; 0 where all passed or where this host cannot boot a guest."""
    began = time.monotonic()
    guest_count = 1 if options else GUEST_COUNT
    try:
        kernel = find_kernel(CACHE, flavour="amd64")
        with ThreadPoolExecutor(guest_count) as pool:
            shares = [f"{number}/{guest_count}" for number in range(1, guest_count + 1)]
            guests = list(pool.map(lambda share: run_tests(kernel, options, share), shares))
        # Not beside them: the slower a guest is, the likelier an emulated controller loses I/Os at its reset.
        installed = None if options else installed_outcomes(kernel)
    except GuestMissingError as missing:
        print(f"skipped: {missing}")
        return 0
    except GuestFailedError as failed:
        print(f"failed: {failed}")
        return 1
    status = max(shown(outcomes, number) for number, outcomes in enumerate(guests, 1))
    status = max(status, shown_installed(installed) if installed else 0)
    print(f"{CACHE.relative_to(ROOT)}/drives-*.xml, {time.monotonic() - began:.0f} s")
    return status


def run_tests(kernel: Kernel, options: list[str], share: str) -> dict[str, Outcome]:
    """What the tasks of one guest said: ``root``, ``tests``, and in ``junit`` the results as XML.

    share : which of the tests, by their number; ``1/2`` is every other one from the first.
    """
    content = Content(modules=[*host_root.MODULES, *emulated.MODULES, *STACKING_MODULES])
    pytest = [sys.executable, "-m", "pytest", "tests/drives", f"--ignore={TESTS}", "-n0", "--timeout=600"]
    environment = {
        "ASSAY_EMULATED_DRIVES": share,
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/run",
        "PYTHONPATH": str(ROOT / "python"),
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    tasks = [
        Task(name="root", script=host_root.mounting()),
        Task(
            name="tests",
            script=host_root.inside(
                [*pytest, "--junitxml=/run/junit.xml", *options], folder=str(ROOT), environment=environment
            ),
        ),
        Task(name="junit", script="cat /root/run/junit.xml"),
    ]
    with tempfile.TemporaryDirectory() as name, Control(DRIVES, Path(name), say) as control:
        machine = Machine(
            memory_mib=MEMORY_MIB,
            cpu_count=2,
            options=(*control.options, *host_root.OPTIONS, *drive_options(DRIVES, Path(name))),
            time_limit_s=TIME_LIMIT_S,
        )
        return run_guest(kernel, content, tasks, machine)


def installed_outcomes(kernel: Kernel) -> dict[str, Outcome] | None:
    """Outcomes of the tests of the installed agent; None, with a line, where this host has no systemd."""
    try:
        return run_installed(kernel, [])
    except GuestMissingError as missing:
        print(f"skipped: {missing}")
        return None


def shown(outcomes: dict[str, Outcome], number: int) -> int:
    """Show what a guest said, and keep its results; 0 where all of its tests passed."""
    print(outcomes["root"].output + outcomes["tests"].output)
    (CACHE / f"drives-{number}.xml").write_text(outcomes["junit"].output, "utf-8")
    return outcomes["root"].status or outcomes["tests"].status


def say(line: str) -> None:
    """Show a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
