"""Plans that were checked: what ``agent.toml`` allows of a request, and what must be the same when a run begins."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import threading
import time
import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from assay.agent.jobs import AFTER_RUN, SEEN
from assay.agent.messages import CheckAnswer
from assay.dut.dut import Answers, identified_drive
from assay.dut.real.gate import carried, sampled
from assay.dut.real.identity import disks
from assay.dut.real.loop import loop_backing
from assay.dut.real.queue import device_counters
from assay.dut.real.sysfs import disk_at
from assay.dut.simulated.model import files_of, is_simulated, parse_simulated
from assay.errors import ConfirmationError, GateRefusedError, IdentityError, UsageError, error_facts
from assay.procedures.registry import SHIPPED, procedures
from assay.run.foreseen import describe, foresee, plan_facts, unqueried
from assay.run.plan_file import Plan, named_files, plan_of
from assay.spec.files import is_plain_name
from assay.spec.root_file import owned_folder, owned_path
from assay.spec.units import SECOND_NS
from assay.version import tool_version

if TYPE_CHECKING:
    from collections.abc import Collection

    from assay.agent.config import AgentConfig
    from assay.agent.messages import CheckRequest, Consents
    from assay.engine.records import DriveIdentity
    from assay.run.foreseen import ForeseenRun


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
    """Consents of a request, for the gate. Raises GateRefusedError for what is not allowed."""
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
    """The disk of a name, if it may be erased; an error says no more than that a name is no disk.

    all_namespaces : so many are on its controller, and each must be a listed disk as well. Raises GateRefusedError.
    """
    known, node = list(disks()), node_of(drive)
    disk = next((disk for disk in known if disk.path == node), None)
    if disk is None:
        raise GateRefusedError(drive, "is not a whole disk of this host", "choose from assay drives")
    refuse_unlisted(config, disk)
    if all_namespaces is not None:
        siblings = [other for other in known if disk.controller and other.controller == disk.controller]
        for other in siblings:
            refuse_unlisted(config, other)
        if len(siblings) != all_namespaces:
            reason = f"but {len(siblings)} of the controller are disks of this host"
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


VALID_S = 600
USER_CHECKS_MAX = 100
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A checked plan.

    node : of its drive, as the kernel has it. span_ns : as in ``JobFacts``. facts : hashes of what must be the same at
    its turn. uid : who had it checked. until_s : monotonic.
    """

    request: CheckRequest
    identity: str
    node: str
    tests: tuple[str, ...]
    span_ns: tuple[int, int]
    facts: dict[str, str]
    uid: int
    until_s: float


def look_ahead(config: AgentConfig, request: CheckRequest, held_by: str = "") -> ForeseenRun:
    """The run of a request, once ``agent.toml`` allows all of it.

    held_by : what holds the drive, which is then not queried. Raises AssayError.
    """
    plan = allowed_plan(config, request)
    refuse_command(config, request.on_end)
    answers = allowed_answers(config, request.consents)
    below = Path(config.runs)
    if is_simulated(request.drive):
        return foresee(plan, out=None, answers=answers, below=below)
    # From here on the listed node counts, and no longer the name that a client gave.
    disk = listed_drive(config, request.drive, answers.all_namespaces)
    plan = plan.model_copy(update={"drive": disk.path})
    if held_by:
        foreseen = unqueried(plan, identified_drive(plan), held_by)
    else:
        foreseen = foresee(plan, out=None, answers=answers, below=below)
    refuse_unlisted(config, foreseen.drive)
    if foreseen.drive.path != disk.path:
        raise IdentityError(request.drive, f"has become {foreseen.drive.path}", "check the plan again")
    return foreseen


def facts_of(foreseen: ForeseenRun) -> dict[str, str]:
    """Hashes of the facts of a checked run, by name. A start is refused if one of them changed since."""
    drive = asdict(foreseen.drive)
    identity_keys = ("id", "path", "kind", "capacity_bytes", "model_number", "firmware", "faults_sha256")
    facts = {
        "plan": foreseen.plan.model_dump(mode="json", by_alias=True),
        "drive": {key: drive[key] for key in identity_keys},
        "drive model": parse_simulated(drive["path"]).drive_model.text if drive["kind"] == "simulated" else "",
        "disk sequence number": foreseen.drive.diskseq,
        "boot": _boot(foreseen.drive),
        "findings": list(foreseen.drive.refusals),
        "refusal": foreseen.refusal and error_facts(foreseen.refusal),
        "bytes written": [foreseen.expected.written_bytes, foreseen.expected.written_bytes_max],
        "version": tool_version(),
    }
    return {name: _hash(value) for name, value in facts.items()} | _seen_before(foreseen)


def _seen_before(foreseen: ForeseenRun) -> dict[str, str]:
    """Contents and writes of a drive that is to be erased; empty for others."""
    if not foreseen.erases:
        return {}
    if foreseen.held_by:
        return dict.fromkeys(SEEN, AFTER_RUN)
    return seen_on(foreseen.drive, foreseen.contents)


def seen_on(drive: DriveIdentity, contents: str) -> dict[str, str]:
    """Hash of the contents of a drive, and the bytes that were written to it in this boot. contents : in words.

    Raises IdentityError where the drive cannot be read.
    """
    disk = disk_at(drive.path)
    try:
        written = device_counters(disk).write_bytes if disk else None
    except OSError as error:
        raise IdentityError(drive.path, error.strerror or "has no counters", "check the plan again") from None
    return {"contents": _hash([contents, sampled(drive.path)]), "writes": f"{_boot_id()} {written}"}


def left_on(node: str) -> dict[str, str]:
    """Contents and writes of the disk at a node, as ``seen_on``. Raises AssayError."""
    drive = next((disk for disk in disks() if disk.path == node), None)
    if drive is None:
        raise IdentityError(node, "is no disk of this host any more", "check the plan again")
    return seen_on(drive, carried(drive))


class Checks:
    """Checked plans by their digest."""

    def __init__(self, config: AgentConfig) -> None:
        self.config = config
        self._lock = threading.Lock()
        self._known: dict[str, Checked] = {}

    def check(self, request: CheckRequest, uid: int, held_by: str = "") -> CheckAnswer:
        """Check a plan. Raises AssayError if it is not allowed or has faults."""
        foreseen = look_ahead(self.config, request, held_by)
        digest = None if foreseen.refusal else self._kept(request, foreseen, uid)
        return CheckAnswer(
            text=describe(foreseen),
            facts=plan_facts(foreseen),
            refused=error_facts(foreseen.refusal) if foreseen.refusal else None,
            identity=foreseen.drive.id,
            digest=digest,
            until_wall_ns=time.time_ns() + VALID_S * SECOND_NS if digest else None,
        )

    def _kept(self, request: CheckRequest, foreseen: ForeseenRun, uid: int) -> str:
        facts = facts_of(foreseen)
        # A check is used once, so that two of the same plan differ.
        digest = _hash([secrets.token_hex(16), uid, facts])
        checked = Checked(
            request=request,
            identity=foreseen.drive.id,
            node=foreseen.drive.path,
            tests=(*foreseen.plan.tests, *foreseen.plan.studies),
            span_ns=(foreseen.expected.span_ns_least, foreseen.expected.span_ns_most),
            facts=facts,
            uid=uid,
            until_s=time.monotonic() + VALID_S,
        )
        with self._lock:
            now = time.monotonic()
            self._known = {key: known for key, known in self._known.items() if known.until_s > now}
            # The oldest of the same user makes room.
            of_user = [key for key, known in self._known.items() if known.uid == uid]
            for key in of_user[: max(len(of_user) - USER_CHECKS_MAX + 1, 0)]:
                del self._known[key]
            self._known[digest] = checked
        return digest

    def see(self, node: str, seen: dict[str, str]) -> None:
        """Note what a run left on a drive, for checked plans that were not started yet."""
        with self._lock:
            for digest, known in self._known.items():
                if known.node == node and known.facts.get(SEEN[0]) == AFTER_RUN:
                    self._known[digest] = replace(known, facts=known.facts | seen)

    def use(self, digest: str, identity: str, uid: int) -> Checked:
        """A checked plan, for its only use. Raises ConfirmationError; a wrong identity may be typed again."""
        with self._lock:
            known = self._known.get(digest)
            if known is None or known.uid != uid or known.until_s < time.monotonic():
                reason = "is unknown, used, or older than 10 min"
                raise ConfirmationError("check", reason, "check the plan again")
            refuse_identity(known.request.drive, known.identity, identity)
            return self._known.pop(digest)


def refuse_identity(drive: str, identity: str, typed: str) -> None:
    """Raise ConfirmationError unless the identity of a drive was typed."""
    if typed != identity:
        raise ConfirmationError(drive, f"{typed[:100]!r} is not its identity", f"type {identity}")


def changed(before: dict[str, str], now: dict[str, str]) -> tuple[str, ...]:
    """Names of the facts that differ. Worked: another sequence number -> ``("disk sequence number",)``."""
    differ = tuple(key for key in before if before[key] != now.get(key))
    # The kernel counts from zero in each boot; what was sampled holds across them.
    boots = {facts.get("writes", "").partition(" ")[0] for facts in (before, now)}
    return differ if len(boots) == 1 else tuple(key for key in differ if key != "writes")


def _boot(drive: DriveIdentity) -> str:
    """The boot that the identity of a drive without serial number and WWN holds for; empty of others."""
    known = drive.kind != "block" or drive.serial is not None or drive.wwn is not None
    return "" if known else _boot_id()


def _boot_id() -> str:
    return _BOOT_ID.read_text("ascii").strip()


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
