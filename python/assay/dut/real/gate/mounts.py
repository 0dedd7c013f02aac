"""What is mounted and swapped to, as every process of the host sees it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of ``mountinfo``.

    number : ``major:minor``, anonymous for btrfs and overlays. own : whether our own mount namespace has it.
    kind : type of the file system.
    """

    number: str
    point: str
    source: str
    options: str
    own: bool
    kind: str = ""


def mounts(*, everywhere: bool = True) -> list[Mount]:
    """What is mounted; each namespace is read once. everywhere : in those of all processes that may be looked at.

    Source: Linux ``proc_pid_mountinfo(5)``.
    """
    texts: dict[str, str] = {}
    # A host has hundreds of processes: names as text are several times quicker than paths.
    others = [name for name in os.listdir(PROC) if name.isdigit()] if everywhere else []  # noqa: PTH208
    for process in ("self", *others):
        try:
            namespace = os.readlink(f"{PROC}/{process}/ns/mnt")  # noqa: PTH115
            if namespace not in texts:
                texts[namespace] = (PROC / process / "mountinfo").read_text("utf-8", "replace")
        except OSError:
            # It has ended, or is hidden from us; an exclusive claim sees its mounts all the same.
            continue
    return [_mount(line, own=not nth) for nth, text in enumerate(texts.values()) for line in text.splitlines()]


def swap_paths() -> list[str]:
    """Devices and files that are swapped to."""
    lines = (PROC / "swaps").read_text("utf-8", "replace").splitlines()[1:]
    return [_unescape(line.split()[0]) for line in lines]


def mount_of(path: Path) -> Mount | None:
    """The mount of our own namespace that a path lies in: the last one with the longest point above it."""
    real = Path(os.path.realpath(path))
    above = [mount for mount in mounts(everywhere=False) if real.is_relative_to(mount.point)]
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def _mount(line: str, *, own: bool) -> Mount:
    fields = line.split(" ")
    kind, source, options = fields[fields.index("-") + 1 :][:3]
    return Mount(fields[2], _unescape(fields[4]), _unescape(source), _unescape(options), own, kind)


def _unescape(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), text)
