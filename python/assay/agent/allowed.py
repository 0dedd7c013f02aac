"""What ``agent.toml`` allows of a request; everything else is refused before a drive is looked at."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from assay.dut.dut import Answers
from assay.dut.real.identity import disks
from assay.dut.real.loop import loop_backing
from assay.dut.real.sysfs import disk_at
from assay.dut.simulated.model import files_of, is_simulated
from assay.errors import GateRefusedError, UsageError
from assay.procedures.registry import SHIPPED, procedures
from assay.run.plan_file import Plan, named_files, plan_of
from assay.spec.files import is_plain_name
from assay.spec.root_file import owned_folder, owned_path

if TYPE_CHECKING:
    from collections.abc import Collection

    from assay.agent.config import AgentConfig
    from assay.agent.messages import CheckRequest, Consents
    from assay.engine.records import DriveIdentity

_BY_ROOT = "root allows it in agent.toml"
_LINK = re.compile(r"/dev/(disk/by-[a-z]+|mapper)/(?!\.\.?$)[^/]+")
"""Names that udev gives to disks."""


def plan_text(request: CheckRequest, drive: str) -> str:
    """The plan file of a request for a drive; the run reads it. Raises UsageError for what a plan file cannot hold.

    Worked: ``{"scale": 0.5}`` and ``sim:ideal`` -> the lines ``scale = 0.5`` and ``drive = "sim:ideal"``.
    """
    table = {**request.plan, "drive": drive}
    try:
        text = tomli_w.dumps(table)
        text.encode()
        same = tomllib.loads(text) == table
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise UsageError("plan", "has a value that no plan file can have, such as null", "leave it out")
    return text


def allowed_plan(config: AgentConfig, request: CheckRequest) -> Plan:
    """The plan of a request.

    Raises UsageError for a plan with faults or one that names a file, GateRefusedError for what is not allowed.
    """
    if "drive" in request.plan or request.plan.get("file_target"):
        raise UsageError("plan", "names the drive or a file target", "give the drive as drive")
    _refuse_files(config, request.drive)
    plan_text(request, request.drive)
    edition = request.plan.get("edition")
    if isinstance(edition, str) and ("/" in edition or edition.endswith(".toml")):
        raise UsageError("plan: edition", "names a file", "name a shipped edition")
    _refuse_outside_tests(config, request.plan)
    plan = plan_of({**request.plan, "drive": request.drive})
    if files := named_files(plan):
        raise UsageError(f"plan: {files[0]}", "names a file", "run such a plan with assay run")
    return plan.resolved()


def allowed_answers(config: AgentConfig, wanted: Consents) -> Answers:
    """What a request acknowledges, for the gate. Raises GateRefusedError for what is not allowed."""
    _refuse_others("destroy_signatures", wanted.destroy_signatures, config.destroy_signatures)
    _refuse_others("acknowledge", wanted.acknowledge, config.acknowledge)
    for key in ("drive_writes_max", "all_namespaces"):
        value, most = getattr(wanted, key), getattr(config, key)
        if value is not None and (most is None or value > most):
            limit = "none" if most is None else f"{most:g}"
            raise GateRefusedError(f"{key} = {value:g}", f"is beyond {limit}, which is allowed", _BY_ROOT)
    return Answers(
        signatures=frozenset(wanted.destroy_signatures),
        acknowledged=frozenset(wanted.acknowledge),
        drive_writes_max=wanted.drive_writes_max,
        all_namespaces=wanted.all_namespaces,
    )


def may_erase(config: AgentConfig, drive: DriveIdentity) -> bool:
    """Whether the agent may run tests on a drive.

    Worked: a simulated drive -> True; a file -> False; a loop device only by its path and backing file.
    """
    if drive.kind == "simulated":
        return True
    if drive.kind != "block":
        return False
    if drive.serial is not None or drive.wwn is not None:
        return drive.id in config.may_erase
    disk = disk_at(drive.path)
    backing = loop_backing(disk) if disk else None
    named = str(backing) if backing else None
    return any(node_of(device.path) == drive.path and device.backing == named for device in config.devices)


def node_of(drive: str) -> str:
    """The kernel's node that a name of a drive means; any other text as it is, which is no node then.

    One link of udev is read, and no other file is looked at: the folders of other paths may be a user's.
    Worked: ``/dev/disk/by-id/nvme-X``, a link to ``../../nvme0n1`` -> ``/dev/nvme0n1``.
    """
    if not _LINK.fullmatch(drive):
        return drive
    try:
        return os.path.normpath(os.path.join(os.path.dirname(drive), os.readlink(drive)))  # noqa: PTH115, PTH118, PTH120
    except (OSError, ValueError):
        return drive


def listed_drive(config: AgentConfig, drive: str, all_namespaces: int | None = None) -> DriveIdentity:
    """The disk of a name, which may be erased; of any other nothing is said but that it is none.

    all_namespaces : so many are on its controller, and each must be a listed disk as well. Raises GateRefusedError.
    """
    known, node = list(disks()), node_of(drive)
    disk = next((disk for disk in known if disk.path == node), None)
    if disk is None:
        raise GateRefusedError(drive, "is not a whole disk of this host", "choose from assay drives")
    refuse_unlisted(config, disk)
    if all_namespaces is not None:
        beside = [other for other in known if disk.controller and other.controller == disk.controller]
        for other in beside:
            refuse_unlisted(config, other)
        if len(beside) != all_namespaces:
            reason = f"but {len(beside)} of the controller are disks of this host"
            raise GateRefusedError(f"all_namespaces = {all_namespaces}", reason, "attach all, or run it with assay run")
    return disk


def refuse_unlisted(config: AgentConfig, drive: DriveIdentity) -> None:
    """Raise GateRefusedError unless the agent may run tests on a drive."""
    if not may_erase(config, drive):
        reason = f"({drive.id}) is not listed in agent.toml as a drive that may be erased"
        raise GateRefusedError(
            drive.path, reason, "root adds it to may_erase, or to devices if it has no serial number"
        )


def _refuse_outside_tests(config: AgentConfig, plan: dict[str, Any]) -> None:
    """Before their own code sees the plan."""
    known = {*config.outside_tests, *SHIPPED}
    outside = {test.name for test in procedures()} - known
    for key in ("tests", "studies"):
        named = plan.get(key)
        names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        _refuse_others("test", outside.intersection(names), known)


def _refuse_files(config: AgentConfig, drive: str) -> None:
    """Raise UsageError for a file outside the folder of root that agent.toml names, PlanError for one of others."""
    for file in files_of(drive) if is_simulated(drive) else ():
        folder, name = os.path.split(file)
        if not config.drive_files or folder != config.drive_files or not is_plain_name(name):
            remedy = f"name a shipped drive model, or {_BY_ROOT}: drive_files"
            raise UsageError(drive, f"names the file {file}", remedy)
        owned_folder(Path(folder), owner=os.geteuid(), remedy=_BY_ROOT)
        if os.path.lexists(file):
            owned_path(Path(file), owner=os.geteuid(), remedy=_BY_ROOT)


def refuse_command(config: AgentConfig, command: str) -> None:
    """Raise GateRefusedError for a command at the end that is not allowed."""
    _refuse_others("on_end", (command,) if command else (), config.on_end)


def _refuse_others(what: str, wanted: Collection[str], allowed: Collection[str]) -> None:
    if wrong := next((word for word in wanted if word not in allowed), None):
        raise GateRefusedError(f'{what} "{wrong}"', "is not allowed", _BY_ROOT)
