"""What the guest finds when it starts: programs with their libraries, modules, and a script that does its tasks."""

from __future__ import annotations

import re
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from guest.errors import need_command

FOLDERS = ("bin", "sbin", "dev", "proc", "sys", "tmp", "run", "modules", "tasks")


@dataclass(frozen=True, kw_only=True)
class Content:
    """What goes into a guest beside busybox.

    programs : names in the guest's /bin and the files of the host; their shared libraries come along.
    modules : kernel modules to load before the first task: "null_blk", or with parameters "null_blk nr_devices=0".
    last : what the first process does after the last task.
    """

    programs: dict[str, Path] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)
    last: str = "poweroff -f"


def pack(files: dict[str, bytes | Path]) -> bytes:
    """A cpio archive in the form that the kernel unpacks (newc, not compressed), byte-identical for the same content.

    files : place in the guest without the leading slash, and the content or the host's file; all are executable.
    """
    folders = {str(parent) for name in files for parent in Path(name).parents} | set(FOLDERS)
    entries = [entry(name, stat.S_IFDIR | 0o755, b"") for name in sorted(folders - {"."})]
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.read_bytes()
        entries.append(entry(name, stat.S_IFREG | 0o755, data))
    return b"".join([*entries, entry("TRAILER!!!", 0, b"")])


def entry(name: str, mode: int, data: bytes) -> bytes:
    """One file of the archive: thirteen numbers of eight hexadecimal digits, the name, the data."""
    numbers = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name.encode()) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name.encode() + b"\0"
    return padded(head) + padded(data)


def padded(data: bytes) -> bytes:
    r"""Zeros up to the next multiple of four.

    >>> padded(b"12345")
    b'12345\x00\x00\x00'
    """
    return data + bytes(-len(data) % 4)


def with_libraries(programs: dict[str, Path]) -> dict[str, bytes | Path]:
    """The programs under bin, and each shared library where its program looks for it."""
    files: dict[str, bytes | Path] = {f"bin/{name}": path for name, path in programs.items()}
    for program in programs.values():
        files |= {str(library).lstrip("/"): library.resolve() for library in libraries(program)}
    return files


def libraries(program: Path) -> list[Path]:
    """Shared libraries of a program of the host, the loader among them; none where it is static."""
    command = [need_command("ldd", "libc-bin"), str(program)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [Path(found) for found in re.findall(r"(?:=> |^\s+)(/\S+) \(", answer, flags=re.MULTILINE)]
