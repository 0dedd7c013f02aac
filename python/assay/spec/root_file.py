"""Files and folders that only root can have filled: what they allow or hold, no other user can change or replace."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import PlanError
from assay.spec.toml_file import read_toml

if TYPE_CHECKING:
    from assay.spec.toml_file import Positions

_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_STEPS_MAX = 4096
_REMEDY = "move it to a folder that only root can write to"


def read_root_file(path: Path, *, owner: int = 0) -> tuple[dict[str, Any], Positions]:
    """Read a file as ``toml_file.read_toml`` does, once nobody but its owner can change or replace it.

    owner : as of ``owned_path``. Raises PlanError also where others could have written it, or where it is missing.
    Worked: mode 0644 of root below ``/etc/assay`` is read; mode 0664 is refused.
    """
    return read_toml(owned_path(path, owner=owner, missing="name a readable TOML file"))


def owned_path(path: Path, *, owner: int = 0, missing: str = "name a readable file", remedy: str = _REMEDY) -> Path:
    """The path with its links followed, once nobody but its owner can change or replace the file, or a step to it.

    owner : uid that the file, each folder above it and each link on the way must have; root may own folders and links
    in any case. A folder that others may write to serves as a step only with the sticky bit, as /tmp has it.
    missing, remedy : what to do where there is no such file, and where others could change it.
    What was checked stays: each step lies in a folder in which no other user can replace it.
    Raises PlanError.
    Worked: a file of root below a folder of mode 0777 is refused; below ``/etc`` its path is returned.
    """
    return _checked(path, owner, missing, remedy)


def owned_folder(path: Path, *, owner: int, remedy: str, mode: int | None = None, group_above: bool = False) -> Path:
    """Check a folder that others may not write to, sticky or not.

    mode : of one that is made where it is missing; folders above it get 0755. None makes none.
    group_above : a group may write to folders above it, as that of Ubuntu's ``/var/log``. Raises PlanError.
    """
    real = _checked(path, owner, remedy, remedy, mode=mode, forbidden=stat.S_IWOTH if group_above else _WRITABLE)
    status = real.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise PlanError(str(path), "is not a folder", remedy)
    if status.st_mode & _WRITABLE:
        raise PlanError(str(path), "can be written by other users", remedy)
    return real


def _checked(
    path: Path, owner: int, missing: str, remedy: str, *, mode: int | None = None, forbidden: int = _WRITABLE
) -> Path:
    """The path, walked from the root folder step by step. mode : as of ``owned_folder``. forbidden : of others."""
    here, left = Path("/"), list(reversed(path.absolute().parts))
    try:
        for _ in range(_STEPS_MAX):
            if not left:
                return here
            here = here.parent if (part := left.pop()) == ".." else here / part
            if mode is not None:
                _make(here, 0o755 if left else mode)
            status = here.lstat()
            _refuse_shared(here, status, owner, remedy, forbidden)
            if stat.S_ISLNK(status.st_mode):
                left += reversed(here.readlink().parts)
                here = here.parent
    except OSError as error:
        raise PlanError(str(path), error.strerror or "cannot be read", missing) from None
    raise PlanError(str(path), "leads through too many links", missing)


def _make(folder: Path, mode: int) -> None:
    """Make a folder where nothing has its name, whatever the mask of modes. Raises OSError."""
    if not os.path.lexists(folder):
        folder.mkdir(mode=0o700)
        folder.chmod(mode)


def _refuse_shared(path: Path, status: os.stat_result, owner: int, remedy: str, forbidden: int) -> None:
    """Raise PlanError where another user owns a step of a path, or may write to it."""
    folder, link = stat.S_ISDIR(status.st_mode), stat.S_ISLNK(status.st_mode)
    if status.st_uid != owner and not ((folder or link) and status.st_uid == 0):
        raise PlanError(str(path), f"belongs to uid {status.st_uid}", remedy)
    if status.st_mode & forbidden and not link and not (folder and status.st_mode & stat.S_ISVTX):
        raise PlanError(str(path), "can be written by other users", remedy)
