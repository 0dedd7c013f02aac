"""The images of random topologies, what is on them, and the loop devices that they are attached to."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest
from assay.dut.real.gate import exports
from conftest import TOOLS, command
from gate_topology_processes import UserProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1 << 20
IMAGE_BYTES = 4 * MIB
DISKS = 3
STOREYS = 2
SPARE = DISKS
LATE_SPARE = DISKS + 1
FIRST_STOREY = DISKS + 2
LOOPS = FIRST_STOREY + STOREYS
_CONFIGURE, _CLEAR, _SET_STATUS, _STATUS = 0x4C0A, 0x4C01, 0x4C04, 0x4C05
_ADD, _REMOVE = 0x4C80, 0x4C81
_PARTITION = 0x1269
_READ_ONLY_FLAG, _PARTITIONS_FLAG = 1, 8
_PATIENCE_S = 30.0
_TABLE = struct.pack("<B3sB3sII", 0, bytes(3), 0x83, bytes(3), 2048, 4096)

# What may be on an image, and the signatures that say so on the disk or in its partition.
CONTENTS = {
    "blank": frozenset[str](),
    "ext4": frozenset({"ext4"}),
    "swap": frozenset({"swap"}),
    "table": frozenset({"dos"}),
    "table+ext4": frozenset({"dos", "ext4"}),
    "table+swap": frozenset({"dos", "swap"}),
    "erofs": frozenset({"erofs"}),
}


class Loops:
    """Loop devices of our own, by high numbers that no ``losetup --find`` gives away; must be closed."""

    def __init__(self, count: int) -> None:
        self.numbers: list[int] = []
        with Path("/dev/loop-control").open("rb") as control:
            while not self.numbers:
                first = 1000 + secrets.randbelow(50_000) * 16
                # Another test has this block of numbers where its first is taken.
                with contextlib.suppress(FileExistsError):
                    fcntl.ioctl(control, _ADD, first)
                    self.numbers = list(range(first, first + count))
            for number in self.numbers[1:]:
                fcntl.ioctl(control, _ADD, number)

    def node(self, slot: int) -> str:
        """The node of a loop device."""
        return f"/dev/loop{self.numbers[slot]}"

    def attach(self, slot: int, backing: str, *, read_only: bool = False) -> None:
        """Set one up over a file or device, with its partitions."""
        flags = _PARTITIONS_FLAG | (_READ_ONLY_FLAG if read_only else 0)
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(backing, "rb" if read_only else "r+b"))  # noqa: PTH123 - text
            loop = stack.enter_context(open(self.node(slot), "rb" if read_only else "r+b"))  # noqa: PTH123
            config = struct.pack("II", file.fileno(), 0) + bytes(52) + struct.pack("I", flags) + bytes(176 + 64)
            patiently(lambda: fcntl.ioctl(loop, _CONFIGURE, config))

    def detach(self, slot: int) -> None:
        """Take it down and wait until it is."""
        with contextlib.suppress(OSError), open(self.node(slot), "rb") as loop:  # noqa: PTH123
            fcntl.ioctl(loop, _CLEAR, 0)
        backing = Path(f"/sys/block/loop{self.numbers[slot]}/loop/backing_file")
        until = time.monotonic() + _PATIENCE_S
        while backing.exists() and time.monotonic() < until:
            time.sleep(0.002)

    def turn(self, slot: int) -> None:
        """Let one show its backing from 1 MiB on, under whoever has it open."""
        with open(self.node(slot), "rb") as loop:  # noqa: PTH123 - text
            status = bytearray(fcntl.ioctl(loop, _STATUS, bytes(232)))
            struct.pack_into("Q", status, 24, MIB)
            patiently(lambda: fcntl.ioctl(loop, _SET_STATUS, bytes(status)))

    def close(self) -> None:
        """Undo what was set up."""
        with Path("/dev/loop-control").open("rb") as control:
            for slot, number in enumerate(self.numbers):
                self.detach(slot)
                patiently(lambda number=number: fcntl.ioctl(control, _REMOVE, number))  # type: ignore[misc]


def image_beneath(descriptor: int) -> int:
    """The inode of the image at the bottom of a stack of loop devices."""
    _, inode, block = struct.unpack_from("3Q", fcntl.ioctl(descriptor, _STATUS, bytes(232)))
    if not block:
        return int(inode)
    # The minor number of a loop device is its own number, as our loop devices are made.
    with open(f"/dev/loop{os.minor(block)}", "rb") as below:  # noqa: PTH123 - text
        return image_beneath(below.fileno())


def patiently(act: Callable[[], object]) -> None:
    """Act, again while the kernel is still busy with letting go."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            act()
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EAGAIN) or time.monotonic() > until:
                raise
            time.sleep(0.002)
        else:
            return


@dataclass
class Image:
    """An image file and where it is attached: the bookkeeping.

    slot : the loop device it is at now, if any; attached : counts attachments. is_used : a trial uses it.
    """

    name: str
    path: Path
    content: str = "blank"
    slot: int | None = None
    attached: int = 0
    read_only: bool = False
    size_bytes: int = IMAGE_BYTES
    is_used: bool = False


class Dut:
    """The images, loop devices and processes that all trials share; must be closed.

    memory, disk : folders for images in memory, and for those that a file system or swap uses as files.
    """

    def __init__(self, memory: Path, disk: Path) -> None:
        self.memory, self.disk = memory, disk
        self.undo = contextlib.ExitStack()
        self.loops = Loops(LOOPS)
        self.processes = [UserProcess(name) for name in ("gate-user-a", "gate-user-b")]
        self.images = [Image(f"disk{nth}.img", memory / f"disk{nth}.img") for nth in range(DISKS)]
        self.has_erofs = shutil.which("mkfs.erofs", path=TOOLS) is not None
        self.templates = {content: make_template(memory, content) for content in CONTENTS if self._makes(content)}
        self._config, exports.CONFIG = exports.CONFIG, memory / "config"
        for name in (*range(DISKS), "file"):
            (disk / f"mnt-{name}").mkdir()

    def _makes(self, content: str) -> bool:
        return content != "erofs" or self.has_erofs

    def close(self) -> None:
        """Undo what was set up."""
        self.reset()
        exports.CONFIG = self._config
        for process in self.processes:
            process.close()
        self.loops.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reset(self) -> None:
        """Undo everything in the opposite order."""
        self.undo.close()
        for slot in range(LOOPS):
            self.loops.detach(slot)
        for image in self.images:
            image.slot, image.read_only, image.size_bytes, image.is_used = None, False, IMAGE_BYTES, False

    def prepare(self, image: Image, content: str, *, is_on_disk: bool, size_bytes: int = IMAGE_BYTES) -> None:
        """Give an image its content; the file keeps its blocks, which a file system would take its time to free."""
        image.path = (self.disk if is_on_disk else self.memory) / image.name
        image.content, image.size_bytes = content, size_bytes
        with image.path.open("r+b" if image.path.exists() else "wb") as file:
            file.write(self.templates[content])
            file.truncate()
            os.posix_fallocate(file.fileno(), 0, size_bytes)

    def place(self, image: Image, slot: int) -> None:
        """Attach an image and make its partition known."""
        self.loops.attach(slot, str(image.path), read_only=image.read_only)
        image.slot, image.attached = slot, image.attached + 1
        if image.content.startswith("table") and not Path(self.target(image)).exists():
            _add_partition(self.loops.node(slot))

    def take_away(self, image: Image) -> None:
        """Detach an image."""
        assert image.slot is not None
        self.loops.detach(image.slot)
        image.slot = None

    def target(self, image: Image) -> str:
        """The node that carries the content: the disk, or its partition."""
        assert image.slot is not None
        node = self.loops.node(image.slot)
        return f"{node}p1" if image.content.startswith("table") else node

    def build(self, image: Image, storeys: int) -> tuple[str, ...]:
        """A stack of loop devices upon an image's own; all nodes, the topmost last."""
        assert image.slot is not None
        nodes = [self.loops.node(image.slot)]
        for slot in range(FIRST_STOREY, FIRST_STOREY + storeys):
            self.loops.attach(slot, nodes[-1])
            self.undo.callback(self.loops.detach, slot)
            nodes.append(self.loops.node(slot))
        return tuple(nodes)

    def link(self, image: Image, *, stays: bool = True) -> Path:
        """A hard link of an image. stays : until the trial ends; else the caller deletes it."""
        path = image.path.with_suffix(".link")
        os.link(image.path, path)
        if stays:
            self.undo.callback(path.unlink)
        return path

    def node_by_another_name(self, path: str) -> str:
        """Another node of a device, of any name."""
        node = self.disk / f"any-name-{Path(path).name}"
        os.mknod(node, 0o600 | 0o060000, Path(path).stat().st_rdev)
        self.undo.callback(node.unlink)
        return str(node)


@contextlib.contextmanager
def trial_dut(disk: Path) -> Iterator[Dut]:
    """What trials share, with images in memory where there is a place for them; skips where no loop device is."""
    memory = Path("/dev/shm")  # noqa: S108 - only the parent of a folder with a name of its own
    with contextlib.ExitStack() as stack:
        parent = memory if os.access(memory, os.W_OK) else disk
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)))
        (folder / "images").mkdir()
        try:
            dut = stack.enter_context(Dut(folder / "images", disk))
        except OSError as error:
            pytest.skip(f"SKIPPED: no loop devices to be had: {error}")
        yield dut


def _add_partition(node: str) -> None:
    """Tell the kernel of the partition in our table; not every kernel reads such tables by itself."""
    partition = ctypes.create_string_buffer(struct.pack("qqi64s64s", MIB, 2 * MIB, 1, b"", b""))
    argument = struct.pack("iiiP", 1, 0, len(partition), ctypes.addressof(partition))
    with open(node, "rb") as disk:  # noqa: PTH123 - text
        fcntl.ioctl(disk, _PARTITION, argument)


def make_template(folder: Path, content: str) -> bytes:
    """An image of a content."""
    is_partitioned = content.startswith("table")
    image = bytearray(IMAGE_BYTES)
    if is_partitioned:
        image[446:512] = _TABLE + bytes(48) + b"\x55\xaa"
    part = folder / "template.part"
    part.write_bytes(bytes(2 * MIB if is_partitioned else IMAGE_BYTES))
    part.chmod(0o600)
    if content.endswith("ext4"):
        command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0", str(part))
    if content.endswith("swap"):
        command("mkswap", str(part))
    if content == "erofs":
        (folder / "empty").mkdir(exist_ok=True)
        command("mkfs.erofs", "--quiet", str(part), str(folder / "empty"))
    first, made = MIB if is_partitioned else 0, part.read_bytes()
    image[first : first + len(made)] = made
    return bytes(image)
