"""Runs tests/drives/test_agent_installed.py in a guest that systemd boots: the agent and the web page as installed.

Goal: the units of ``assay agent --install`` do under systemd what they do without its limits. Non-goal: speed.

Run it by make test-installed, with options for pytest in ARGS; make test-drives runs it as well. Needs what
tools/drive_tests.py needs, and systemd on the host.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from guest import (
    Content,
    GuestFailedError,
    GuestMissingError,
    Kernel,
    Machine,
    Outcome,
    Task,
    booted,
    find_kernel,
    host_root,
    run_guest,
)
from guest import drives as emulated
from guest.control import Control
from guest.drives import EmulatedDrive, drive_options

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "target/guest"
TESTS = "tests/drives/test_agent_installed.py"
TIME_LIMIT_S = 1200
MEMORY_MIB = 2048
DRIVES = (
    EmulatedDrive(name="nvme-a", serial="Q-NVME-A"),
    EmulatedDrive(name="sata", serial="Q-SATA", bus="sata"),
    EmulatedDrive(name="scsi", serial="Q-SCSI", bus="scsi"),
)


def main(options: list[str]) -> int:
    """Boot, test, show; 0 where all passed or where this host cannot boot a guest."""
    try:
        return shown(run_installed(find_kernel(CACHE, flavour="amd64"), options))
    except GuestMissingError as missing:
        print(f"skipped: {missing}")
        return 0
    except GuestFailedError as failed:
        print(f"failed: {failed}")
        return 1


def run_installed(kernel: Kernel, options: list[str]) -> dict[str, Outcome]:
    """What the tests of the installed agent printed: ``booted``. Raises GuestMissingError, GuestFailedError."""
    if not Path("/lib/systemd/systemd").exists():
        raise GuestMissingError("systemd is missing: install the Debian package systemd-sysv")
    content = Content(
        modules=[*host_root.MODULES, *emulated.MODULES, "dm_mod", "crc32c_generic", "ext4"], last=booted.LAST
    )
    with tempfile.TemporaryDirectory() as name, Control(DRIVES, Path(name), say) as control:
        machine = Machine(
            memory_mib=MEMORY_MIB,
            cpu_count=2,
            options=(*control.options, *host_root.OPTIONS, *drive_options(DRIVES, Path(name))),
            append=booted.APPEND,
            time_limit_s=TIME_LIMIT_S,
        )
        return run_guest(kernel, content, [Task(name="root", script=booted.booting(ROOT, script(options)))], machine)


def script(options: list[str]) -> str:
    """What the guest does once it is booted."""
    pytest = [sys.executable, "-m", "pytest", TESTS, "-n0", "--timeout=600", *options]
    path = f"{ROOT / 'python'}:{ROOT / 'tools'}"
    environment = f"ASSAY_EMULATED_DRIVES=1/1 HOME=/run PYTHONPATH={path} LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1"
    return f"cd {shlex.quote(str(ROOT))}\nenv {environment} {shlex.join(pytest)}"


def shown(outcomes: dict[str, Outcome]) -> int:
    """Show what the guest said; 0 where all of its tests passed."""
    outcome = outcomes.get("booted", outcomes["root"])
    print(outcome.output)
    return outcome.status if "booted" in outcomes else 1


def say(line: str) -> None:
    """Show a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
