"""The threads that serve a target which is no drive of its own: loop, md, device mapper, nbd, FUSE."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.sysfs import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import DriveIdentity

_PROC = Path("/proc")
_KERNEL_NAMES = ("kworker/", "loop", "md", "kcryptd", "dmcrypt_write", "nbd", "kdmflush")
_STACKED = ("loop", "md", "dm-", "nbd", "zram")
_FUSE = "/dev/fuse"


def serving_threads(identity: DriveIdentity, *, proc: Path = _PROC) -> Callable[[], Iterator[Path]] | None:
    """What lists the folders in proc of the threads that serve a target; None for a drive of its own.

    For a device made of others, and for a file, these are kernel threads of the block layer; for a file, processes that
    serve a FUSE file system, too. Worked: ``/dev/loop0`` -> those named ``kworker/...``, ``loop0``.
    """
    if identity.kind == "block" and not Path(identity.path).resolve().name.startswith(_STACKED):
        return None
    if identity.kind not in {"block", "file"}:
        return None
    served = list(_fuse_servers(proc)) if identity.kind == "file" else []
    return partial(_threads, served, proc)


def _threads(served: list[Path], proc: Path) -> Iterator[Path]:
    for folder in proc.glob("[0-9]*"):
        if (read_text(folder / "comm") or "").startswith(_KERNEL_NAMES):
            yield folder
    for process in served:
        yield from (process / "task").glob("[0-9]*")


def _fuse_servers(proc: Path) -> Iterator[Path]:
    for process in proc.glob("[0-9]*"):
        try:
            if any(str(link.readlink()) == _FUSE for link in (process / "fd").iterdir()):
                yield process
        except OSError:
            continue
