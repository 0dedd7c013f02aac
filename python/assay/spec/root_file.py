"""TOML files that only root can have written: what they allow, no other user can have added."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

from assay.errors import PlanError
from assay.spec.toml_file import read_toml

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from assay.spec.toml_file import Positions

_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


def read_root_file(path: Path, *, owner: int = 0) -> tuple[dict[str, Any], Positions]:
    """Read a file as ``toml_file.read_toml`` does, once nobody but its owner can change or replace it.

    owner : uid that the file and each folder above it must have; root may own the folders in any case. Links are
    followed first.
    A folder that others may write to serves only with the sticky bit, as /tmp has it.
    Raises PlanError also where others could have written it, or where it is missing.
    Worked: mode 0644 of root below ``/etc/assay`` is read; mode 0664 is refused.
    """
    return read_toml(owned_path(path, owner=owner, remedy="name a readable TOML file"))


def owned_path(path: Path, *, owner: int = 0, remedy: str = "name a readable file") -> Path:
    """The path with its links followed, once nobody but its owner can change or replace the file.

    owner : as of ``read_root_file``. remedy : for a path that leads to no file.
    Raises PlanError.
    Worked: a file of root below a folder of mode 0777 is refused; below ``/etc`` its path is returned.
    """
    try:
        real = path.resolve(strict=True)
        for part in (real, *real.parents):
            _refuse_shared(part, part.lstat(), owner)
    except OSError as error:
        raise PlanError(str(path), error.strerror or "cannot be read", remedy) from None
    return real


def _refuse_shared(path: Path, status: os.stat_result, owner: int) -> None:
    """Raise PlanError where another user owns a file or folder, or may write to it."""
    folder = stat.S_ISDIR(status.st_mode)
    if status.st_uid != owner and not (folder and status.st_uid == 0):
        raise PlanError(str(path), f"belongs to uid {status.st_uid}", f"give it to uid {owner}: chown {owner} {path}")
    if status.st_mode & _WRITABLE and not (folder and status.st_mode & stat.S_ISVTX):
        raise PlanError(str(path), "can be written by other users", f"take that right away: chmod go-w {path}")
