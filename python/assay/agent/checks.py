"""Plans that were checked and may be started, once, by whoever had them checked."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.agent.allowed import allowed_answers, allowed_plan, listed_drive, refuse_command, refuse_unlisted
from assay.agent.jobs import AFTER_RUN, SEEN
from assay.agent.messages import CheckAnswer
from assay.dut.dut import identified_drive
from assay.dut.real.gate import carried, sampled
from assay.dut.real.identity import disks
from assay.dut.real.queue import device_counters
from assay.dut.real.sysfs import disk_at
from assay.dut.simulated.model import is_simulated, parse_simulated
from assay.errors import ConfirmationError, IdentityError, error_facts
from assay.run.foreseen import describe, foresee, plan_facts, unqueried
from assay.spec.units import SECOND_NS
from assay.version import tool_version

if TYPE_CHECKING:
    from assay.agent.config import AgentConfig
    from assay.agent.messages import CheckRequest
    from assay.engine.records import DriveIdentity
    from assay.run.foreseen import ForeseenRun

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

    held_by : what holds the drive, which is asked nothing then. Raises AssayError.
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
    """What a start rests on: another value of any of it at the turn of the job refuses it. Hashes by name."""
    drive = asdict(foreseen.drive)
    told = ("id", "path", "kind", "capacity_bytes", "model_number", "firmware", "faults_sha256")
    facts = {
        "plan": foreseen.plan.model_dump(mode="json", by_alias=True),
        "drive": {key: drive[key] for key in told},
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
    """What is on a drive that is to be erased, and nothing of others."""
    if not foreseen.erases:
        return {}
    if foreseen.held_by:
        return dict.fromkeys(SEEN, AFTER_RUN)
    return seen_on(foreseen.drive, foreseen.contents)


def seen_on(drive: DriveIdentity, contents: str) -> dict[str, str]:
    """What is on a drive, and how much the kernel has written to it since it came. contents : in words.

    Raises IdentityError where the drive cannot be read.
    """
    disk = disk_at(drive.path)
    try:
        written = device_counters(disk).write_bytes if disk else None
    except OSError as error:
        raise IdentityError(drive.path, error.strerror or "has no counters", "check the plan again") from None
    return {"contents": _hash([contents, sampled(drive.path)]), "writes": f"{_boot_id()} {written}"}


def left_on(node: str) -> dict[str, str]:
    """What ``seen_on`` gives of a disk of this host, by its node. Raises AssayError."""
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
        """What a run would do. Raises AssayError where nothing can be said of it, or it is not allowed."""
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
        """As ``Queue.see``, for plans that were checked and not started yet."""
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
