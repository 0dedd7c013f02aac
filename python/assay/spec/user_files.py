"""Files in a user's own folders, written and read as those of a run folder: no link below such a folder is followed.

A command that runs as root may have the home of somebody else, who can lay a link where it writes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from assay.spec.files import exists_inside, read_inside, write_inside

if TYPE_CHECKING:
    from pathlib import Path

_BYTES_MAX = 1 << 20


def write_user_file(folder: Path, name: str, content: bytes, *, mode: int = 0o644) -> None:
    """Put a file in place whole. Folders that are missing are made for the user alone.

    folder : such as ``~/.config``, which may itself be reached over links. name : with folders below, such as
    ``assay/trusted_keys``. mode : rights of the file.
    Raises OSError also where a folder of the name is a link; a link at the name itself is replaced, not followed.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    first = folder / name.partition("/")[0]
    with suppress(FileExistsError):
        os.mkdir(first, 0o700)  # noqa: PTH102 - one that leads nowhere is there as well
    write_inside(folder, name, content, mode=mode)


def read_user_file(folder: Path, name: str) -> bytes | None:
    """The content of a file of at most a MiB; None where nothing has that name.

    Raises OSError also where it is, or lies behind, a link, or is no regular file.
    """
    try:
        return read_inside(folder, name, bytes_max=_BYTES_MAX) if exists_inside(folder, name) else None
    except FileNotFoundError:
        return None
