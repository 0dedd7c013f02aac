"""Plans that were checked and may be started, once, by whoever had them checked."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.agent.allowed import allowed_answers, allowed_plan, refuse_command, refuse_unlisted
from assay.agent.messages import CheckAnswer
from assay.errors import ConfirmationError, error_facts
from assay.run.foreseen import describe, foresee, plan_facts
from assay.spec.units import SECOND_NS
from assay.version import tool_version

if TYPE_CHECKING:
    from assay.agent.config import AgentConfig
    from assay.agent.messages import CheckRequest
    from assay.run.foreseen import ForeseenRun

VALID_S = 600
_CHECKS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A checked plan. facts : what must be the same at its turn. uid : who had it checked. until_s : monotonic."""

    request: CheckRequest
    identity: str
    tests: tuple[str, ...]
    facts: dict[str, Any]
    uid: int
    until_s: float


def look_ahead(config: AgentConfig, request: CheckRequest) -> ForeseenRun:
    """The run of a request, once ``agent.toml`` allows all of it. Raises AssayError."""
    plan = allowed_plan(config, request)
    refuse_command(config, request.on_end)
    answers = allowed_answers(config, request.consents)
    foreseen = foresee(plan, out=None, answers=answers, below=Path(config.runs))
    refuse_unlisted(config, foreseen.drive)
    return foreseen


def facts_of(foreseen: ForeseenRun) -> dict[str, Any]:
    """What a start rests on: another value of any of it at the turn of the job refuses it. JSON values."""
    drive = asdict(foreseen.drive)
    return _plain(
        {
            "plan": foreseen.plan.model_dump(mode="json", by_alias=True),
            "drive": {key: drive[key] for key in ("id", "path", "kind", "capacity_bytes", "model_number", "firmware")},
            "disk sequence number": foreseen.drive.diskseq,
            "findings": list(foreseen.drive.refusals),
            "refusal": foreseen.refusal and error_facts(foreseen.refusal),
            "bytes written": [foreseen.expected.written_bytes, foreseen.expected.written_bytes_max],
            "version": tool_version(),
        }
    )


class Checks:
    """Checked plans by their digest."""

    def __init__(self, config: AgentConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._known: dict[str, Checked] = {}

    def check(self, request: CheckRequest, uid: int) -> CheckAnswer:
        """What a run would do. Raises AssayError where nothing can be said of it, or it is not allowed."""
        foreseen = look_ahead(self._config, request)
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
        text = json.dumps([secrets.token_hex(16), uid, facts], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        tests = tuple(test.settings.test for test in foreseen.planned.tests)
        until = time.monotonic() + VALID_S
        with self._lock:
            now = time.monotonic()
            live = {key: known for key, known in self._known.items() if known.until_s > now}
            self._known = dict(list(live.items())[-_CHECKS_MAX + 1 :])
            self._known[digest] = Checked(
                request=request, identity=foreseen.drive.id, tests=tests, facts=facts, uid=uid, until_s=until
            )
        return digest

    def use(self, digest: str, identity: str, uid: int) -> Checked:
        """A checked plan, for its only use. Raises ConfirmationError; a wrong identity may be typed again."""
        with self._lock:
            known = self._known.get(digest)
            if known is None or known.uid != uid or known.until_s < time.monotonic():
                reason = "is unknown, used, or older than 10 min"
                raise ConfirmationError("check", reason, "check the plan again")
            if identity != known.identity:
                reason = f"{identity[:100]!r} is not its identity"
                raise ConfirmationError(known.request.drive, reason, f"type {known.identity}")
            return self._known.pop(digest)


def changed(before: dict[str, Any], now: dict[str, Any]) -> tuple[str, ...]:
    """Names of the facts that differ. Worked: another sequence number -> ``("disk sequence number",)``."""
    return tuple(key for key in before if before[key] != now.get(key))


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back, so that what was stored compares equal."""
    return json.loads(json.dumps(facts))  # type: ignore[no-any-return]
