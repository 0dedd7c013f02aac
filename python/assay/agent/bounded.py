"""Questions to a drive that may never answer: each has a time limit, and a drive is asked one at a time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import DeviceFailureError, HostLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_THREADS_MAX = 64
USER_MAX = 2


class Bounded:
    """Asks on threads that are left behind where a drive hangs; it is asked no more before they are back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, _Turn] = {}

    def ask(self, path: str, seconds: float, work: Callable[[], T], uid: int | None = None) -> T:
        """What ``work`` answers about a drive, within so many seconds, the wait for its turn included.

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
        """The turn of a path, kept while somebody waits for it or it is asked."""
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
    """Whether a drive is being asked, since when in monotonic seconds, and how many ask or wait, in all and by user."""

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
