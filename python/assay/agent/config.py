"""``agent.toml``: what the agent may do; only root can have written it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from assay.spec.datum import Strict
from assay.spec.root_file import read_root_file
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
