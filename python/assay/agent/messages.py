"""Messages over the agent's socket: one line of JSON each way, then the connection ends.

A request has a ``verb``; the answer is ``{"answer": {...}}`` or ``{"error": {...}}`` with the keys of an error in JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from assay.dut.simulated.model import is_simulated
from assay.errors import UsageError, joined
from assay.spec.datum import Strict
from assay.spec.json_text import json_object
from assay.spec.model_faults import model_faults

REQUEST_BYTES_MAX = 64 << 10
ANSWER_BYTES_MAX = 4 << 20
_FAULTS_MAX = 5
_SEE = "see docs/formats/agent.md"

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
JobId = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
_Word = Annotated[str, Field(min_length=1, max_length=200)]
_Words = Annotated[tuple[_Word, ...], Field(max_length=50)]
_Drive = Annotated[str, Field(pattern=r"^[^\x00-\x1f]{1,512}$")]


class _Request(Strict):
    """claimed : who the client says its user is; the agent logs it and trusts the socket's uid alone."""

    claimed: Annotated[str, Field(max_length=200)] = ""


class Consents(Strict):
    """What the command line takes as options of the gate; each only as ``agent.toml`` allows.

    destroy_signatures : types of signature. acknowledge : words of doubts. drive_writes_max : in capacities.
    all_namespaces : how many namespaces a purge may destroy.
    """

    destroy_signatures: _Words = ()
    acknowledge: _Words = ()
    drive_writes_max: Annotated[float, Field(gt=0, le=1e6)] | None = None
    all_namespaces: Annotated[int, Field(ge=1, le=1024)] | None = None


class DrivesRequest(_Request):
    """Which drives there are."""

    verb: Literal["drives"] = "drives"


class CheckRequest(_Request):
    """What a run would do. drive : a path or ``sim:NAME``. plan : as a plan file has it, without ``drive``."""

    verb: Literal["check"] = "check"
    drive: _Drive
    plan: dict[str, Any]
    consents: Consents = Consents()
    on_end: Annotated[str, Field(max_length=4096)] = ""


class StartRequest(_Request):
    """Put a checked plan into the queue. digest : of the answer to ``check``. identity : of the drive, as typed."""

    verb: Literal["start"] = "start"
    digest: Digest
    identity: Annotated[str, Field(max_length=4096)]


class StopRequest(_Request):
    """Interrupt a run of the agent, or take a job out of the queue that has not begun."""

    verb: Literal["stop"] = "stop"
    job: JobId


class QueueRequest(_Request):
    """The queue. position : that a job moves to, from 0 among those that have not begun.

    identity : of a real drive, as typed, to release its job, or to hold that of another user. A release of a job that
    waits renews its confirmation.
    """

    verb: Literal["queue"] = "queue"
    action: Literal["list", "move", "hold", "release"] = "list"
    job: JobId | None = None
    position: Annotated[int, Field(ge=0, le=1000)] = 0
    identity: Annotated[str, Field(max_length=4096)] = ""


Request = DrivesRequest | CheckRequest | StartRequest | StopRequest | QueueRequest

JobState = Literal["waiting", "held", "running", "ended"]
"""``held`` : it waits until it is released."""


class JobFacts(Strict):
    """A job as clients see it. uid, claimed : whose. exit_code : as of ``assay run``; None where none is known.

    message : why it ended, empty where its run folder tells; why the agent holds it; that it is suspended.
    suspended : its process was stopped by a signal and does nothing. Times are wall time in ns. span_ns : least and
    most that the drive is busy, as checked.
    """

    id: JobId
    state: JobState
    drive: str
    identity: str
    tests: tuple[str, ...]
    span_ns: tuple[int, int] = (0, 0)
    folder: str
    uid: int
    claimed: str
    put_wall_ns: int
    began_wall_ns: int | None = None
    ended_wall_ns: int | None = None
    exit_code: int | None = None
    message: str = ""
    suspended: bool = False

    @property
    def is_real(self) -> bool:
        """Whether it is of a real drive, which it may erase."""
        return not is_simulated(self.drive)


class Health(Strict):
    """What a drive told of itself. wall_ns : when. counts : see ``health_counts``."""

    wall_ns: int
    temperature_c: float | None
    wear_used_pct: float | None
    counts: dict[str, int]


class DriveFacts(Strict):
    """A drive of this host. refusals : in the gate's words; empty means that it may be tested.

    may_erase : ``agent.toml`` lists it. job : that holds it now. health : the last reading, None where there is none.
    note : why there is no newer one, empty where it is new.
    """

    path: str
    id: str
    kind: Literal["block", "simulated"]
    model: str | None
    serial: str | None
    firmware: str | None
    capacity_bytes: int
    refusals: tuple[str, ...]
    may_erase: bool
    job: JobId | None = None
    health: Health | None = None
    note: str = ""


class DrivesAnswer(Strict):
    """Every whole disk, then the simulated drives."""

    drives: tuple[DriveFacts, ...]


class CheckAnswer(Strict):
    """A plan and a drive. text : the words of ``assay plan``. facts : the same as its JSON. refused : an error in JSON.

    identity : to be typed. digest : for ``start``, None where the run would be refused. until_wall_ns : it is valid.
    """

    text: str
    facts: dict[str, Any]
    refused: dict[str, Any] | None
    identity: str
    digest: Digest | None
    until_wall_ns: int | None


class QueueAnswer(Strict):
    """The jobs in the order of their turns, those that ended behind them, the newest first."""

    jobs: tuple[JobFacts, ...]


VERBS: dict[str, type[Request]] = {
    "drives": DrivesRequest,
    "check": CheckRequest,
    "start": StartRequest,
    "stop": StopRequest,
    "queue": QueueRequest,
}
"""The form of the request of each verb."""


def read_request(line: bytes) -> Request:
    """A request from its line. Raises UsageError naming its faults.

    Worked: ``{"verb": "drives"}`` -> ``DrivesRequest()``.
    """
    if len(line) > REQUEST_BYTES_MAX:
        raise UsageError("request", f"is larger than {REQUEST_BYTES_MAX >> 10} KiB", _SEE)
    try:
        message = json_object(line)
    except ValueError as error:
        raise UsageError("request", str(error), _SEE) from None
    verb = message.get("verb")
    kind = VERBS.get(verb) if isinstance(verb, str) else None
    if kind is None:
        raise UsageError("request: verb", "is not known", f"send {', '.join(VERBS)}")
    try:
        return kind.model_validate(message)
    except ValidationError as error:
        faults = model_faults(error, kind, message)[:_FAULTS_MAX]
        raise joined(
            [UsageError(f"request: {fault.key}"[:200], fault.reason, fault.remedy) for fault in faults]
        ) from None
