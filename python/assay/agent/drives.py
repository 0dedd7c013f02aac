"""The drives of this host, each queried for one request at a time and never while a run holds it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from assay.agent.checks import may_erase
from assay.agent.messages import DriveFacts, DrivesAnswer, Health
from assay.dut.real.condition import read_condition
from assay.dut.real.gate import examined
from assay.dut.real.gate import refusals as in_use
from assay.dut.real.identity import disks
from assay.dut.simulated.shipped import shipped_models
from assay.errors import AssayError, DeviceFailureError, HostLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.agent.config import AgentConfig
    from assay.engine.records import DriveIdentity


_ASK_S = 5.0
"""For a drive's answer, its health log included."""


class Drives:
    """Lists the drives, with the last health that each of them reported."""

    def __init__(self, config: AgentConfig, bounded: Bounded) -> None:
        self._config, self._bounded = config, bounded
        self._health: dict[str, Health] = {}

    def look(self, holders: Callable[[], dict[str, str]]) -> DrivesAnswer:
        """Every drive. holders : jobs by the path of the drive that each holds; such a drive is not queried."""
        listed = self._bounded.ask("/sys", _ASK_S, lambda: tuple(disks()))
        return DrivesAnswer(drives=(*(self._real(disk, holders) for disk in listed), *simulated_drives()))

    def _real(self, disk: DriveIdentity, holders: Callable[[], dict[str, str]]) -> DriveFacts:
        refusals, note = self._look_at(disk, holders)
        allowed, health = may_erase(self._config, disk), self._health.get(disk.id)
        facts = {"may_erase": allowed, "job": holders().get(disk.path), "health": health}
        return real_drive(disk, refusals, note).model_copy(update=facts)

    def _look_at(self, disk: DriveIdentity, holders: Callable[[], dict[str, str]]) -> tuple[tuple[str, ...], str]:
        def free() -> tuple[tuple[str, ...], str]:
            # A run may have begun while others queried it.
            if job := holders().get(disk.path):
                return (f"in use by job {job}",), "held by a run, which is not disturbed"
            return self._examined(disk)

        try:
            return self._bounded.ask(disk.path, _ASK_S, free)
        except AssayError as error:
            return (error.reason,), error.reason
        except OSError as error:
            return (error.strerror or "cannot be queried",), "cannot be queried"

    def _examined(self, disk: DriveIdentity) -> tuple[tuple[str, ...], str]:
        """Reasons against a test of a drive, and why its health was not read. The health of a free drive is read."""
        if reasons := in_use(disk):
            return reasons, "in use: not queried"
        read = read_condition(disk)
        self._health[disk.id] = Health(
            wall_ns=time.time_ns(),
            temperature_c=read.temperature_c,
            wear_used_pct=read.wear_used_pct,
            counts=read.health,
        )
        return examined(disk).refusals, ""


def real_drive(disk: DriveIdentity, refusals: tuple[str, ...], note: str) -> DriveFacts:
    """A disk that nothing is known of but who it is and what stands against a test; it may not be erased."""
    return DriveFacts(
        path=disk.path,
        id=disk.id,
        kind="block",
        model=disk.model_number,
        serial=disk.serial,
        firmware=disk.firmware,
        capacity_bytes=disk.capacity_bytes,
        refusals=refusals,
        may_erase=False,
        note=note,
    )


def simulated_drives() -> tuple[DriveFacts, ...]:
    """The drive models of this package."""
    return tuple(
        DriveFacts(
            path=model.drive,
            id=model.drive,
            kind="simulated",
            model=model.title,
            serial=model.serial,
            firmware=None,
            capacity_bytes=model.capacity_bytes,
            refusals=(),
            may_erase=True,
        )
        for model in shipped_models()
    )


T = TypeVar("T")

_THREADS_MAX = 64
USER_MAX = 2


class Bounded:
    """Queries drives on threads. A thread of a drive that hangs is left, and the drive is not queried until it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, _Turn] = {}

    def ask(self, path: str, seconds: float, work: Callable[[], T], uid: int | None = None) -> T:
        """The result of ``work``, a query of a drive, within so many seconds that include the wait for its turn.

        path : the kernel's node, one for a drive. uid : of a user, who may ask twice at once.
        Raises DeviceFailureError where it takes longer; HostLimitError where too many drives do not answer, the user
        asks for more, or others queried it all that time; what ``work`` raises.
        """
        deadline = time.monotonic() + seconds
        with self._turn(path, uid) as turn:
            if not turn.lock.acquire(timeout=seconds):
                raise _silent(path, turn) if time.monotonic() - turn.since >= seconds else _wanted(path)
            turn.since = time.monotonic()
            answer: Future[T] = Future()
            try:
                threading.Thread(target=_work, args=(answer, work, turn.lock), daemon=True).start()
            except RuntimeError:
                turn.lock.release()
                raise _wanted(path) from None
            try:
                return answer.result(max(deadline - time.monotonic(), 0))
            except TimeoutError:
                raise _silent(path, turn) from None

    @contextmanager
    def _turn(self, path: str, uid: int | None) -> Iterator[_Turn]:
        """The turn of a path, kept while requests wait for it or query it."""
        with self._lock:
            self._turns = {path: turn for path, turn in self._turns.items() if turn.waiting or turn.lock.locked()}
            if path not in self._turns and len(self._turns) >= _THREADS_MAX:
                raise HostLimitError("agent", f"waits for {len(self._turns)} drives", "see the kernel's log")
            turn = self._turns.setdefault(path, _Turn())
            if uid is not None and turn.users[uid] >= USER_MAX:
                raise HostLimitError(path, f"is queried for {USER_MAX} requests of this user already", "try again")
            turn.waiting += 1
            turn.users[uid] += 1
        try:
            yield turn
        finally:
            with self._lock:
                turn.waiting -= 1
                turn.users[uid] -= 1


@dataclass
class _Turn:
    """Lock of a drive, held since when in monotonic seconds, and its requests, in all and by user."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    since: float = 0.0
    waiting: int = 0
    users: Counter[int | None] = field(default_factory=Counter)


def _wanted(path: str) -> HostLimitError:
    return HostLimitError(path, "is queried for too many others", "try again")


def _silent(path: str, turn: _Turn) -> DeviceFailureError:
    waited = time.monotonic() - turn.since
    return DeviceFailureError(path, f"has not answered for {waited:.0f} s", "see the kernel's log")


def _work(answer: Future[Any], work: Callable[[], Any], turn: threading.Lock) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised where it was queried
        answer.set_exception(error)
    finally:
        turn.release()
