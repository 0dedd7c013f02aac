"""``agent.toml``, which only root can have written: what the agent may do; and the folders that it names."""

from __future__ import annotations

import grp
import os
import stat
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from assay.dut.real.notes import NOTES
from assay.errors import StoreError, UsageError
from assay.spec.datum import Strict
from assay.spec.root_file import owned_folder, read_root_file
from assay.spec.toml_file import validated

CONFIG = Path("/etc/assay/agent.toml")
SOCKET = Path("/run/assay/agent.sock")

_Text = Annotated[str, Field(min_length=1, max_length=4096)]
_Folder = Annotated[str, Field(pattern=r"^/[^\x00-\x1f]{0,4000}$")]


class NamedDevice(Strict):
    """A device without a serial number: where it is, and the file that backs a loop device."""

    path: _Text
    backing: _Text | None = None


class AgentConfig(Strict):
    """What the agent may do. Nothing may be erased unless it is listed; simulated drives always.

    socket, group : of the socket, and who may connect beside root. Membership of the group is the right to erase the
    listed drives. state, log : the queue, and a line for each request that asks for more than to look.
    may_erase : identities, as ``assay drives`` prints them. devices : drives without a serial number.
    runs : folder of the run folders.
    drive_files : folder of files of drive models, faults and states that simulated drives may name; none if empty.
    outside_tests : tests of other packages. on_end : values of ``--on-end``.
    confirmation_hours : how long the job of a real drive may wait before its drive must be confirmed again.
    destroy_signatures, acknowledge, drive_writes_max, all_namespaces : what a request may ask for, at most.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    socket: _Folder = str(SOCKET)
    group: Annotated[str, Field(max_length=100)] = ""
    state: _Folder = "/var/lib/assay/agent"
    runs: _Folder = "/var/lib/assay/runs"
    log: _Folder = "/var/log/assay/agent.jsonl"
    may_erase: tuple[_Text, ...] = ()
    devices: tuple[NamedDevice, ...] = ()
    drive_files: _Folder | Literal[""] = ""
    outside_tests: tuple[_Text, ...] = ()
    on_end: tuple[_Text, ...] = ()
    confirmation_hours: Annotated[float, Field(gt=0, le=168)] = 24
    destroy_signatures: tuple[_Text, ...] = ()
    acknowledge: tuple[_Text, ...] = ()
    drive_writes_max: Annotated[float, Field(gt=0)] | None = None
    all_namespaces: Annotated[int, Field(ge=1)] | None = None


def read_config(path: Path = CONFIG) -> AgentConfig:
    """Read the file. Raises PlanError with the place of each fault, and where another user could have written it.

    Worked: an empty file -> no drive may be erased.
    """
    table, positions = read_root_file(path)
    return validated(AgentConfig, path, table, positions)


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
