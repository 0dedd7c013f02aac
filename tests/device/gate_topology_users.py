"""Every kind of user that a random topology has: how it comes to a drive, and where and when it can."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from assay.dut.real.gate import exports
from gate_topology_images import CONTENTS, patiently
from gate_topology_processes import LIBC, checked, mount, thread_writes, unmount

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from gate_topology_images import Dut, Image
    from gate_topology_processes import UserProcess

BEFORE, AT, AFTER = "before", "at", "after"
MOMENTS = (BEFORE, AT, AFTER)
"""When a user comes: before the gate is asked, right after the claim, and while the drive is held."""
DISK, STACK, FILE = "disk", "stack", "file"
"""What is tested: the loop device of an image, the top of a stack upon it, or the image itself."""
_MEMORY_CONTENTS = tuple(content for content in CONTENTS if content != "erofs")
_TABLES = tuple(content for content in CONTENTS if content.startswith("table"))


class Scene(NamedTuple):
    """What a user comes to.

    nodes : of the loop devices of a stack, the topmost last. spare : a free loop device. is_still : the user itself
    must write nothing.
    """

    dut: Dut
    image: Image
    nodes: tuple[str, ...]
    process: UserProcess
    spare: int
    dice: random.Random
    is_still: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of user. come : lets it come; it leaves when the trial ends.

    is_kept_out : a claim may keep it from coming at all. is_read : it counts until the reader is acknowledged.
    is_reader : it reads, too, which is acknowledged so that the rest of it counts alone. is_on_disk : the image lies on
    a disk. is_set_here : only this process sees it, as a file of the kernel that a test made up. is_written : the
    system writes it when it likes.
    """

    come: Callable[[Scene], None]
    targets: tuple[str, ...] = (DISK, STACK, FILE)
    moments: tuple[str, ...] = MOMENTS
    contents: tuple[str, ...] = _MEMORY_CONTENTS
    is_kept_out: bool = False
    is_read: bool = False
    is_reader: bool = False
    is_on_disk: bool = False
    is_set_here: bool = False
    is_written: bool = False
    needs_loop: bool = False


def _mount(scene: Scene) -> None:
    place, node = str(scene.dut.disk / f"mnt-{scene.image.slot}"), scene.dut.target(scene.image)
    mount("ext4", node, place, is_read_only=scene.is_still)
    scene.dut.undo.callback(patiently, lambda: unmount(place))


def _mount_elsewhere(scene: Scene) -> None:
    place, node = str(scene.dut.disk / f"mnt-{scene.image.slot}"), scene.dut.target(scene.image)
    scene.dut.undo.callback(patiently, scene.process.mount("ext4", node, place, is_read_only=scene.is_still))


def _mount_file(scene: Scene) -> None:
    place, image = str(scene.dut.disk / "mnt-file"), str(scene.image.path)
    if scene.dice.random() < 0.5:
        scene.dut.undo.callback(patiently, scene.process.mount("erofs", image, place))
    else:
        mount("erofs", image, place)
        scene.dut.undo.callback(patiently, lambda: unmount(place))


def _swap(scene: Scene, path: Callable[[Scene], str]) -> None:
    name = path(scene)
    checked(LIBC.swapon(name.encode(), 0), name)
    scene.dut.undo.callback(lambda: checked(LIBC.swapoff(name.encode()), name))


def _loop(scene: Scene, path: Callable[[Scene], str]) -> None:
    scene.dut.loops.attach(scene.spare, path(scene))
    scene.dut.undo.callback(scene.dut.loops.detach, scene.spare)


def _loop_by_a_deleted_name(scene: Scene) -> None:
    other = scene.dut.link(scene.image, stays=False)
    try:
        _loop(scene, lambda _: str(other))
    finally:
        other.unlink()


def _written(scene: Scene, path: Callable[[Scene], str]) -> None:
    flags = scene.dice.choice([os.O_WRONLY, os.O_RDWR])
    scene.dut.undo.callback(scene.process.open(path(scene), flags))


def _read(scene: Scene, path: Callable[[Scene], str]) -> None:
    scene.dut.undo.callback(scene.process.open(path(scene), os.O_RDONLY))


def _mapped(scene: Scene, path: Callable[[Scene], str]) -> None:
    scene.dut.undo.callback(scene.process.map(path(scene)))


def _written_by_a_thread(scene: Scene) -> None:
    path = scene.dice.choice([_image, _top] if scene.nodes else [_image])
    way = scene.dice.choice(["own-table", "outlived"])
    scene.dut.undo.callback(thread_writes(path(scene), way))


def _claimed(scene: Scene) -> None:
    scene.dut.undo.callback(scene.process.open(_any_node(scene), os.O_RDONLY | os.O_EXCL))


def _locked(scene: Scene, path: Callable[[Scene], str], *locks: str) -> None:
    lock = scene.dice.choice(locks)
    scene.dut.undo.callback(scene.process.open(path(scene), os.O_RDONLY, lock))


def _exported(scene: Scene, path: Callable[[Scene], str], *places: str) -> None:
    """Let a server of the kernel say that it serves a path."""
    entry = exports.CONFIG / scene.dice.choice(places).format(scene.image.name)
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text(f"{path(scene)}\n")
    scene.dut.undo.callback(entry.unlink)


def _overlaid(scene: Scene) -> None:
    """Somebody writes a file of which an overlay, which is laid over its folder beforehand, has another inode."""
    _written(scene, _image)


def overlay(dut: Dut, image: Image) -> Path:
    """The name that an image has in an overlay over its folder."""
    lower, place = dut.disk / "lower", dut.disk / "overlaid"
    work = dut.memory.parent / f"{dut.memory.name}-work"
    for folder in (lower, place, work):
        folder.mkdir(exist_ok=True)
    options = f"lowerdir={lower},upperdir={dut.memory},workdir={work}"
    checked(LIBC.mount(b"overlay", str(place).encode(), b"overlay", 0, options.encode()), "overlay")
    dut.undo.callback(patiently, lambda: unmount(str(place)))
    return place / image.name


def _top(scene: Scene) -> str:
    return scene.nodes[-1]


def _any_node(scene: Scene) -> str:
    return scene.dice.choice(scene.nodes)


def _lower_node(scene: Scene) -> str:
    return scene.dice.choice(scene.nodes[:-1])


def _partition(scene: Scene) -> str:
    return scene.dut.target(scene.image)


def _named(scene: Scene) -> str:
    return scene.dut.node_by_another_name(_any_node(scene))


def _image(scene: Scene) -> str:
    return str(scene.image.path)


def _link(scene: Scene) -> str:
    return str(scene.dut.link(scene.image))


_NODES = (DISK, STACK)
_PLACES: dict[str, tuple[Callable[[Scene], str], tuple[str, ...], tuple[str, ...]]] = {
    "node": (_top, _NODES, _MEMORY_CONTENTS),
    "lower node": (_lower_node, (STACK,), _MEMORY_CONTENTS),
    "partition": (_partition, _NODES, _TABLES),
    "node of another name": (_named, _NODES, _MEMORY_CONTENTS),
    "image": (_image, (DISK, STACK, FILE), _MEMORY_CONTENTS),
    "hard link": (_link, (DISK, STACK, FILE), _MEMORY_CONTENTS),
}


def _at_places(way: str, come: Callable[[Scene, Callable[[Scene], str]], None], **facts: bool) -> dict[str, Kind]:
    # What is mapped is looked at at the claim only.
    moments = (BEFORE, AT) if way == "mapped" else MOMENTS
    return {
        f"{name} {way}": Kind(
            come=partial(come, path=path), targets=targets, contents=contents, moments=moments, **facts
        )
        for name, (path, targets, contents) in _PLACES.items()
    }


_MOUNTED = tuple(content for content in CONTENTS if content.endswith("ext4"))
_SWAPPED = tuple(content for content in CONTENTS if content.endswith("swap"))
_NVMET, _LIO = "nvmet/subsystems/{}/namespaces/1/device_path", "target/core/iblock_0/{}/udev_path"
KINDS: dict[str, Kind] = {
    "mounted": Kind(come=_mount, targets=_NODES, contents=_MOUNTED, is_kept_out=True),
    "mounted elsewhere": Kind(come=_mount_elsewhere, targets=_NODES, contents=_MOUNTED, is_kept_out=True),
    "swapped to": Kind(
        come=partial(_swap, path=_partition), targets=_NODES, contents=_SWAPPED, is_kept_out=True, is_written=True
    ),
    "claimed": Kind(come=_claimed, targets=_NODES, is_kept_out=True, is_reader=True),
    "locked": Kind(
        come=lambda scene: _locked(scene, _any_node, "shared", "exclusive"),
        targets=_NODES,
        is_kept_out=True,
        is_reader=True,
    ),
    "range locked": Kind(
        come=lambda scene: _locked(scene, _top if scene.nodes else _image, "range"), is_kept_out=True, is_reader=True
    ),
    "image locked": Kind(
        come=lambda scene: _locked(scene, _image, "shared", "exclusive"), is_kept_out=True, is_reader=True
    ),
    "loop upon it": Kind(come=partial(_loop, path=_any_node), targets=_NODES, needs_loop=True),
    "loop on its partition": Kind(
        come=partial(_loop, path=_partition), targets=_NODES, contents=_TABLES, needs_loop=True
    ),
    "loop on its image": Kind(come=partial(_loop, path=_image), needs_loop=True),
    "loop on a hard link": Kind(come=partial(_loop, path=_link), needs_loop=True),
    "loop on a deleted name": Kind(come=_loop_by_a_deleted_name, needs_loop=True),
    "exported": Kind(come=lambda scene: _exported(scene, _any_node, _NVMET, _LIO), targets=_NODES, is_set_here=True),
    "image exported": Kind(come=lambda scene: _exported(scene, _image, _NVMET, _LIO), is_set_here=True),
    "image mounted": Kind(come=_mount_file, contents=("erofs",), is_on_disk=True),
    "image swapped to": Kind(come=partial(_swap, path=_image), contents=("swap",), is_on_disk=True, is_written=True),
    "written below an overlay": Kind(come=_overlaid, targets=(FILE,), moments=(BEFORE,)),
    "written by a thread": Kind(come=_written_by_a_thread),
    **_at_places("written", _written),
    **_at_places("read", _read, is_read=True),
    **_at_places("mapped", _mapped),
}
OVERLAID = "written below an overlay"


def missing(dut: Dut) -> dict[str, str]:
    """Kinds that this host cannot have, with the reason."""
    found = {} if dut.has_erofs else {"image mounted": "mkfs.erofs is not installed"}
    image = dut.images[0]
    for kind, act in (("image mounted", _try_erofs), (OVERLAID, overlay)):
        if kind not in found:
            try:
                act(dut, image)
            except OSError as error:
                found[kind] = str(error)
            finally:
                dut.reset()
    return found


def _try_erofs(dut: Dut, image: Image) -> None:
    dut.prepare(image, "erofs", is_on_disk=True)
    place = str(dut.disk / "mnt-file")
    mount("erofs", str(image.path), place)
    dut.undo.callback(patiently, lambda: unmount(place))
