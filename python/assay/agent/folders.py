"""The agent's folders: only root can change, replace or rename what lies in them, and every folder above them."""

from __future__ import annotations

import grp
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.notes import NOTES
from assay.errors import StoreError, UsageError
from assay.spec.root_file import owned_folder

if TYPE_CHECKING:
    from assay.agent.config import AgentConfig

_SHARED = 0o755


def group_id(config: AgentConfig) -> int:
    """The group that may connect, -1 where it is root alone. Raises UsageError for an unknown one."""
    try:
        return grp.getgrnam(config.group).gr_gid if config.group else -1
    except KeyError:
        raise UsageError(f"group {config.group}", "does not exist", f"groupadd {config.group}") from None


def check_folders(config: AgentConfig) -> None:
    """Make what is missing, and see that no other user can write to any folder of the agent or above it.

    Raises PlanError naming the folder, StoreError where the group could not reach the socket.
    """
    make_runs_folder(config)
    _owned("state", Path(config.state), 0o700)
    # Nothing is read from the log, and it is opened once.
    _owned("log", Path(config.log).parent, _SHARED, group_above=True)
    if config.drive_files:
        _owned("drive_files", Path(config.drive_files), None)
    socket = _owned("socket", Path(config.socket).parent, _SHARED)
    if socket == NOTES and socket.stat().st_mode & _SHARED != _SHARED:
        # A run of an earlier version made it for root alone.
        socket.chmod(_SHARED)
    if config.group:
        _refuse_closed(config, socket)


def make_runs_folder(config: AgentConfig) -> bool:
    """Make the folder of the runs, which the group alone may read; False where it is there, and is left as it is.

    Raises PlanError where others could write to it, UsageError for an unknown group.
    """
    group, made = group_id(config), not os.path.lexists(config.runs)
    folder = _owned("runs", Path(config.runs), 0o750)
    if made:
        os.chown(folder, -1, group)
    return made


def _owned(key: str, folder: Path, mode: int | None, *, group_above: bool = False) -> Path:
    remedy = f"name a folder that only root can write to as {key} in agent.toml"
    return owned_folder(folder, owner=os.geteuid(), remedy=remedy, mode=mode, group_above=group_above)


def _refuse_closed(config: AgentConfig, folder: Path) -> None:
    """Raise StoreError where a member of the group cannot pass a folder on the way to the socket."""
    group = group_id(config)
    for part in (folder, *folder.parents):
        status = part.lstat()
        if not status.st_mode & (stat.S_IXGRP if status.st_gid == group else stat.S_IXOTH):
            reason = f"cannot be reached by group {config.group}: {part} is closed to it"
            raise StoreError(config.socket, reason, "name another as socket in agent.toml")
