"""Loop devices for tests that need a real block device; without root or a free loop device they skip, with reason."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from assay.engine.records import Placement
from assay.engine.stimulus import Stimulus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import IoPath

COMMAND_SECONDS = 300
HANG_S = 1500
"""What a test starts and has not ended by then hangs: its limits find that and measure no speed."""
_MEMORY = Path("/dev/shm")  # noqa: S108 - only the parent of folders with names of their own
TOOLS = "/usr/sbin:/usr/bin:/sbin:/bin"
FEW = ("--thread-count", "1", "--queue-depth", "4")
"""For runs that are not about demands: a slow disk takes seconds to drain a deep queue, in every step, and a single
thread is late at no boundary of others."""
PATIENT = ("--stall-limit", "3600", "--io-time-limit", "3600")
"""For runs that are not about stalls: a busy host keeps a loop device silent for seconds."""


ASSAY = str(Path(sys.executable).with_name("assay"))


def known_id(path: str) -> str:
    """The identity of a drive by its path, as the command line lists it."""
    done = subprocess.run([ASSAY, "drives", "--json"], capture_output=True, check=True, timeout=HANG_S)
    return next(str(drive["id"]) for drive in json.loads(done.stdout) if drive["path"] == path)


def set_throttle(group: Path, path: str, cap: int, *directions: str) -> None:
    """Let processes of a control group issue so many I/Os a second to a device, in each of these directions."""
    number = Path(path).stat().st_rdev
    for direction in directions:
        rule = f"{os.major(number)}:{os.minor(number)} {cap}"
        (group / f"blkio.throttle.{direction}_iops_device").write_text(rule)


CONTROLLER = Path("/sys/fs/cgroup/blkio")
"""The block I/O controller of control groups of version 1."""


class LoopDrive(Protocol):
    """Set up a loop device of a size and name its node."""

    def __call__(self, size_bytes: int, *, read_only: bool = False) -> str:
        """Give its node; ``read_only`` sets it up without the right to write."""
        ...


def command(*arguments: str) -> str:
    """Run a system tool; its output. Raises CalledProcessError; skips the test where the tool is not installed."""
    if shutil.which(arguments[0], path=TOOLS) is None:
        pytest.skip(f"SKIPPED: needs {arguments[0]}, see tools/debian-packages")
    done = subprocess.run(
        arguments,
        check=True,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        env={"LC_ALL": "C", "PATH": TOOLS},
    )
    return done.stdout.strip()


def find_loop(*options: str) -> str:
    """Set up a free loop device with these options of losetup; its node, once nobody else has it open.

    Another losetup may have chosen the same one at the same moment, and tries it a while longer.
    """
    node = command("losetup", "--find", "--show", *options)
    while _is_tried(node):
        time.sleep(0.02)
    return node


def _is_tried(node: str) -> bool:
    """Whether a losetup of somebody has a node open."""
    return any(_has_open(process, node) for process in Path("/proc").glob("[0-9]*"))


def _has_open(process: Path, node: str) -> bool:
    with contextlib.suppress(OSError):
        is_losetup = (process / "comm").read_text("utf-8") == "losetup\n"
        return is_losetup and any(os.readlink(link) == node for link in (process / "fd").iterdir())  # noqa: PTH115
    return False


def allocate(path: Path, size_bytes: int) -> Path:
    """Create a file whose blocks are all allocated."""
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size_bytes)
    return path


@contextlib.contextmanager
def stimulus_on(  # one keyword per fact of the drive
    path: str,
    size_bytes: int,
    *,
    thread_count: int = 1,
    flags: int = 0,
    sector_bytes: int = 512,
    counters_path: str | None = None,
    io_path: IoPath = "interrupt",
    placement: Placement | None = None,
) -> Iterator[Stimulus]:
    """The stimulus straight on a device or file that a test made itself; ``flags`` join O_DIRECT when it is opened."""
    descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | flags)
    try:
        with Stimulus.real(
            descriptor,
            capacity_bytes=size_bytes,
            logical_block_bytes=sector_bytes,
            thread_count=thread_count,
            seed=1,
            data_origin=1,
            counters_path=counters_path,
            placement=placement or Placement(),
            path=io_path,
        ) as stimulus:
            yield stimulus
    finally:
        os.close(descriptor)


@pytest.fixture
def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("SKIPPED: needs root to set up loop devices")


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, so that no disk decides how long a test takes; on disk where such files take no O_DIRECT."""
    with tempfile.TemporaryDirectory(prefix="assay-", dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        probe = allocate(Path(folder) / "probe", 4096)
        try:
            os.close(os.open(probe, os.O_RDWR | os.O_DIRECT))
        except OSError:
            yield tmp_path
        else:
            yield Path(folder)


@pytest.fixture
def loop_drive(needs_root: None, tmp_path: Path) -> Iterator[LoopDrive]:  # noqa: ARG001
    """A factory of loop devices with direct I/O on allocated images ``tmp_path/loopN.img``."""
    with _loop_devices(tmp_path) as attach:
        yield attach


@pytest.fixture
def loop_drive_in_memory(needs_root: None, memory_path: Path) -> Iterator[LoopDrive]:  # noqa: ARG001
    """The same with images in memory, for tests that many I/Os would make long."""
    with _loop_devices(memory_path) as attach:
        yield attach


@contextlib.contextmanager
def _loop_devices(folder: Path) -> Iterator[LoopDrive]:
    attached: list[tuple[str, Path]] = []

    def attach(size_bytes: int, *, read_only: bool = False) -> str:
        image = allocate(folder / f"loop{len(attached)}.img", size_bytes)
        options = ["--read-only"] if read_only else []
        try:
            node = find_loop("--direct-io=on", *options, str(image))
        except subprocess.CalledProcessError as error:
            reason = error.stderr or str(error)
            pytest.skip(f"SKIPPED: no loop device to be had: {reason}")
        attached.append((node, image))
        return node

    yield attach
    for node, image in attached:
        # A test may have detached it itself, and a test of another worker have been given its number since.
        if _stands_on(node, image):
            with contextlib.suppress(subprocess.CalledProcessError):
                command("losetup", "--detach", node)


def _stands_on(node: str, image: Path) -> bool:
    """Whether a loop device has this file below it, which may be deleted by now."""
    with contextlib.suppress(OSError):
        below = Path(f"/sys/block/{Path(node).name}/loop/backing_file").read_text("utf-8")
        return below.startswith(str(image))
    return False


@pytest.fixture
def throttle() -> Iterator[Path]:
    """A control group of our own; skips where the controller of version 1 is missing."""
    if os.geteuid() != 0 or not (CONTROLLER / "blkio.throttle.read_iops_device").exists():
        pytest.skip("SKIPPED: needs root and the block I/O controller (cgroup version 1) to make a known speed")
    group = CONTROLLER / f"assay-test-{uuid.uuid4().hex[:8]}"
    group.mkdir()
    yield group
    group.rmdir()


def run_in(group: Path, command: list[str]) -> str:
    """Run a command inside the control group; its output."""
    shell = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    done = subprocess.run(["/bin/sh", "-c", shell, "sh", *command], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder of root that every user can pass, below one where every user can write."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)
