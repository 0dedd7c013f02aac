"""Random topologies of loop devices against the gate, and bookkeeping of its own that says what is right.

A trial attaches three images to loop devices, uses some of them (mounts, swap, loops upon them, users that are hidden
behind a deleted name), chooses one, or the top of a stack of loop devices upon it, changes something between choice
and start, and asks the gate for it. What the gate opened is told by the inode of the image at the bottom of what is
behind the descriptor; what it should have done follows from what the trial itself set up, not from the system.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import random
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from assay.dut.real.gate import open_drive
from assay.dut.real.identity import identify
from assay.errors import AssayError
from conftest import command

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1 << 20
IMAGE_BYTES = 4 * MIB
DISKS = 3
STOREYS = 2
SPARE = DISKS
LATE_SPARE = DISKS + 1
FIRST_STOREY = DISKS + 2
LOOPS = FIRST_STOREY + STOREYS
_CONFIGURE, _CLEAR, _STATUS = 0x4C0A, 0x4C01, 0x4C05
_ADD, _REMOVE = 0x4C80, 0x4C81
_PARTITION = 0x1269
_READ_ONLY_FLAG, _PARTITIONS_FLAG = 1, 8
_PATIENCE_S = 5.0
_LIBC = ctypes.CDLL(None, use_errno=True)
_TABLE = struct.pack("<B3sB3sII", 0, bytes(3), 0x83, bytes(3), 2048, 4096)

# What may be on an image, and the signatures that say so on the disk or in its partition.
CONTENTS = {
    "blank": frozenset[str](),
    "ext4": frozenset({"ext4"}),
    "swap": frozenset({"swap"}),
    "table": frozenset({"dos"}),
    "table+ext4": frozenset({"dos", "ext4"}),
    "table+swap": frozenset({"dos", "swap"}),
}


def check_call(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


class Loops:
    """Loop devices of our own, by high numbers that no ``losetup --find`` gives away; must be closed."""

    def __init__(self, count: int) -> None:
        first = 1000 + os.getpid() % 50_000 * 16
        self.numbers = list(range(first, first + count))
        with Path("/dev/loop-control").open("rb") as control:
            for number in self.numbers:
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

    def close(self) -> None:
        """Undo what was set up."""
        with Path("/dev/loop-control").open("rb") as control:
            for slot, number in enumerate(self.numbers):
                self.detach(slot)
                patiently(lambda number=number: fcntl.ioctl(control, _REMOVE, number))  # type: ignore[misc]


def add_partition(node: str) -> None:
    """Tell the kernel of the partition in our table; not every kernel reads such tables by itself."""
    partition = ctypes.create_string_buffer(struct.pack("qqi64s64s", MIB, 2 * MIB, 1, b"", b""))
    argument = struct.pack("iiiP", 1, 0, len(partition), ctypes.addressof(partition))
    with open(node, "rb") as disk:  # noqa: PTH123 - text
        fcntl.ioctl(disk, _PARTITION, argument)


def patiently(act: Callable[[], object]) -> None:
    """Act, again while the kernel is still busy with letting go."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            act()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                raise
            time.sleep(0.002)
        else:
            return


class OtherNamespace:
    """A shell in a mount namespace of its own that mounts on demand; must be closed."""

    def __init__(self) -> None:
        self._shell = subprocess.Popen(
            ["/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.say("true")

    def say(self, line: str) -> None:
        """Run a line there; raise what it says, if anything."""
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.write(f"{line} 2>&1 | tr '\\n' ' '; echo\n")
        self._shell.stdin.flush()
        if said := self._shell.stdout.readline().strip():
            raise OSError(errno.EIO, f"{said} from {line}")

    def close(self) -> None:
        """Undo what was set up."""
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.close()
        self._shell.wait()
        self._shell.stdout.close()


@dataclass
class Image:
    """An image file, and what the trial did with it: the bookkeeping.

    uses : names of what keeps it busy. attached : counts attachments; slot : the loop device it is at now, if any.
    """

    path: Path
    content: str = ""
    slot: int | None = None
    attached: int = 0
    read_only: bool = False
    size_bytes: int = IMAGE_BYTES
    uses: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Outcome:
    """How a trial went. opened : the gate opened something. wrong : what the gate did wrong, empty where nothing."""

    opened: bool
    wrong: str
    story: str


class Dut:
    """The images, loop devices and helpers that all trials share; must be closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.undo: list[Callable[[], object]] = []
        self.loops = Loops(LOOPS)
        self.other = OtherNamespace()
        self.images = [Image(folder / f"disk{nth}.img") for nth in range(DISKS)]
        self.templates = {content: make_template(folder / "template", content) for content in CONTENTS}
        for nth in range(LOOPS):
            (folder / f"mnt{nth}").mkdir()

    def close(self) -> None:
        """Undo what was set up."""
        self.reset()
        self.other.close()
        self.loops.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reset(self) -> None:
        """Undo everything in the opposite order."""
        while self.undo:
            self.undo.pop()()
        for slot in range(LOOPS):
            self.loops.detach(slot)
        for image in self.images:
            image.slot, image.read_only, image.size_bytes = None, False, IMAGE_BYTES
            image.uses.clear()

    def place(self, image: Image, slot: int) -> None:
        """Attach an image and make its partition known."""
        self.loops.attach(slot, str(image.path), read_only=image.read_only)
        image.slot, image.attached = slot, image.attached + 1
        if not Path(self.target(image)).exists():
            add_partition(self.loops.node(slot))

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

    def mount(self, image: Image) -> None:
        """Mount its file system."""
        place = str(self.folder / f"mnt{image.slot}")
        node = self.target(image)
        check_call(_LIBC.mount(node.encode(), place.encode(), b"ext4", 0, None), node)
        self.undo.append(lambda: check_call(_LIBC.umount2(place.encode(), 0), place))

    def mount_elsewhere(self, image: Image) -> None:
        """Mount its file system where only another namespace sees it."""
        place = self.folder / f"mnt{image.slot}"
        self.other.say(f"mount -t ext4 {self.target(image)} {place}")
        self.undo.append(lambda: self.other.say(f"umount {place}"))

    def swap(self, image: Image) -> None:
        """Swap to it."""
        node = self.target(image).encode()
        check_call(_LIBC.swapon(node, 0), node.decode())
        self.undo.append(lambda: check_call(_LIBC.swapoff(node), node.decode()))

    def stack(self, image: Image, spare: int) -> None:
        """Put a loop device upon it."""
        self.loops.attach(spare, self.target(image))
        self.undo.append(lambda: self.loops.detach(spare))

    def share(self, image: Image, spare: int) -> None:
        """Put another loop device over its image."""
        self.loops.attach(spare, str(image.path))
        self.undo.append(lambda: self.loops.detach(spare))

    def share_hidden(self, image: Image, spare: int) -> None:
        """Put another loop device over its image by a name that is deleted then."""
        other = self.folder / "hidden.img"
        os.link(image.path, other)
        try:
            self.loops.attach(spare, str(other))
        finally:
            other.unlink()
        self.undo.append(lambda: self.loops.detach(spare))

    def build(self, image: Image, storeys: int) -> str:
        """A stack of loop devices upon an image's own; the node of the topmost."""
        assert image.slot is not None
        node = self.loops.node(image.slot)
        for slot in range(FIRST_STOREY, FIRST_STOREY + storeys):
            self.loops.attach(slot, node)
            self.undo.append(lambda slot=slot: self.loops.detach(slot))  # type: ignore[misc]
            node = self.loops.node(slot)
        return node

    def open_image(self, image: Image, flags: int, lock: int) -> None:
        """Hold the image itself open as another process would."""
        descriptor = os.open(image.path, flags)
        if lock:
            fcntl.flock(descriptor, lock)
        self.undo.append(lambda: os.close(descriptor))

    def hold(self, image: Image, flags: int, lock: int) -> None:
        """Hold it open as another process would."""
        assert image.slot is not None
        descriptor = os.open(self.loops.node(image.slot), os.O_RDONLY | flags)
        if lock:
            fcntl.flock(descriptor, lock)
        self.undo.append(lambda: os.close(descriptor))


def write_in_place(path: Path, template: bytes) -> None:
    """Give an image its content; the file keeps its blocks, which a file system would take its time to free."""
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(template)
        file.truncate()


def make_template(path: Path, content: str) -> bytes:
    with path.open("wb") as file:
        os.truncate(file.fileno(), IMAGE_BYTES)
        if content.startswith("table"):
            file.write(bytes(446) + _TABLE + bytes(48) + b"\x55\xaa")
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        os.truncate(file.fileno(), IMAGE_BYTES if not content.startswith("table") else 2 * MIB)
    if content.endswith("ext4"):
        command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", str(part))
    if content.endswith("swap"):
        part.chmod(0o600)
        command("mkswap", str(part))
    if content.endswith(("ext4", "swap")):
        with path.open("r+b") as file:
            file.seek(MIB if content.startswith("table") else 0)
            file.write(part.read_bytes())
            os.truncate(file.fileno(), IMAGE_BYTES)
    return path.read_bytes()


NEED_A_LOOP = ("loop upon it", "shared image", "shared image, hidden")


def use(dut: Dut, image: Image, kind: str, spare: int) -> None:
    """Use an image in one way that its content allows, and note it."""
    acts: dict[str, Callable[[], None]] = {
        "mount": lambda: dut.mount(image),
        "mount elsewhere": lambda: dut.mount_elsewhere(image),
        "swap": lambda: dut.swap(image),
        "loop upon it": lambda: dut.stack(image, spare),
        "shared image": lambda: dut.share(image, spare),
        "shared image, hidden": lambda: dut.share_hidden(image, spare),
        "image locked": lambda: dut.open_image(image, os.O_RDONLY, fcntl.LOCK_SH),
        "image written": lambda: dut.open_image(image, os.O_WRONLY, 0),
        "held": lambda: dut.hold(image, os.O_EXCL, 0),
        "locked": lambda: dut.hold(image, 0, fcntl.LOCK_EX),
    }
    acts[kind]()
    image.uses.add(kind)


def possible_uses(image: Image) -> list[str]:
    uses = [*NEED_A_LOOP, "held", "locked", "image locked", "image written"]
    if image.content.endswith("ext4"):
        uses += ["mount", "mount elsewhere"] * 2
    if image.content.endswith("swap"):
        uses += ["swap"] * 3
    return uses


def change(dut: Dut, image: Image, others: list[Image], kind: str, dice: random.Random) -> None:
    """Change something between the choice and the start."""
    slot = image.slot
    assert slot is not None
    partner = dice.choice(others)
    if kind == "swap names":
        other_slot = partner.slot
        assert other_slot is not None
        dut.take_away(image)
        dut.take_away(partner)
        dut.place(partner, slot)
        dut.place(image, other_slot)
    elif kind == "attach again":
        dut.take_away(image)
        dut.place(image, slot)
    elif kind == "another in its place":
        dut.take_away(image)
        dut.take_away(partner)
        dut.place(partner, slot)
    elif kind == "gone":
        dut.take_away(image)
    elif kind == "use":
        use(dut, image, dice.choice(possible_uses(image)), LATE_SPARE)
    elif kind == "resized":
        image.size_bytes = dice.choice([IMAGE_BYTES // 2, IMAGE_BYTES * 2])
        os.truncate(image.path, image.size_bytes)
        command("losetup", "--set-capacity", dut.loops.node(slot))


def trial(dut: Dut, seed: int) -> Outcome:
    """One trial; everything is undone at its end."""
    try:
        return _trial(dut, random.Random(seed))  # noqa: S311 - a trial is to be repeatable
    finally:
        dut.reset()


def _trial(dut: Dut, dice: random.Random) -> Outcome:
    slots = dice.sample(range(DISKS), DISKS)
    for image, slot in zip(dut.images, slots, strict=True):
        image.content = dice.choice(list(CONTENTS))
        write_in_place(image.path, dut.templates[image.content])
        image.read_only = dice.random() < 0.05
        dut.place(image, slot)
    chosen = dice.choice(dut.images)
    others = [image for image in dut.images if image is not chosen]
    is_spare_free = True
    for image in dice.sample(dut.images, 2):
        if not image.read_only and dice.random() < 0.6:
            kind = dice.choice(possible_uses(image))
            if is_spare_free or kind not in NEED_A_LOOP:
                is_spare_free &= kind not in NEED_A_LOOP
                use(dut, image, kind, SPARE)
    storeys = 0 if chosen.read_only else dice.choice([0, 0, 1, STOREYS])
    identity = identify(dut.build(chosen, storeys), file_target=False)
    instance, noted = chosen.attached, (chosen.slot, chosen.size_bytes)
    changes = ["none"] * 4
    # What has a stack upon it stays attached.
    if not storeys and not any(image.uses or image.read_only for image in dut.images):
        changes += ["swap names", "attach again", "another in its place", "gone", "resized"]
    elif not chosen.uses and not chosen.read_only:
        changes += ["use"] if storeys else ["use", "resized"]
    kind = dice.choice(changes)
    change(dut, chosen, others, kind, dice)
    acknowledged = CONTENTS[chosen.content] if dice.random() < 0.8 else frozenset[str]()
    confirmation = identity.id if dice.random() < 0.9 else dice.choice(["y", "YES", "", identity.id[:-1]])
    right = (
        not chosen.uses
        and not chosen.read_only
        and (chosen.slot, chosen.size_bytes) == noted
        and chosen.attached == instance
        and acknowledged >= CONTENTS[chosen.content]
        and confirmation == identity.id
    )
    story = f"{chosen.content}, {storeys} storeys, uses {sorted(chosen.uses)}, then {kind}, ro {chosen.read_only}"
    return judged(identity, confirmation, acknowledged, chosen, right=right, story=f"{story}, right {right}")


def image_beneath(descriptor: int) -> int:
    """The inode of the image at the bottom of a stack of loop devices."""
    _, inode, block = struct.unpack_from("3Q", fcntl.ioctl(descriptor, _STATUS, bytes(232)))
    if not block:
        return int(inode)
    # The minor number of a loop device is its own number, as our loop devices are made.
    with open(f"/dev/loop{os.minor(block)}", "rb") as below:  # noqa: PTH123 - text
        return image_beneath(below.fileno())


def judged(
    identity: object, confirmation: str, acknowledged: frozenset[str], chosen: Image, *, right: bool, story: str
) -> Outcome:
    try:
        with open_drive(
            identity,  # type: ignore[arg-type]
            confirmation=confirmation,
            acknowledged_signatures=acknowledged,
            needed_bytes=0,
        ) as held:
            inode = image_beneath(held.fd)
    except AssayError as error:
        wrong = f"refused a free drive: {error}" if right else ""
        exit_wrong = "" if error.exit_code == 3 else f"exit code {error.exit_code}: {error}"
        return Outcome(opened=False, wrong=wrong or exit_wrong, story=f"{story}; {error.slug}: {error.reason}")
    if inode != chosen.path.stat().st_ino:
        return Outcome(opened=True, wrong="OPENED ANOTHER DRIVE", story=story)
    return Outcome(opened=True, wrong="" if right else "OPENED A DRIVE THAT WAS TO BE REFUSED", story=story)
