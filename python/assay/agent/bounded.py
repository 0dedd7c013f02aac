"""Questions to a drive that may never answer: each has a time limit, and a drive is asked one at a time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import DeviceFailureError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_PATHS_MAX = 500
"""Of clients, who may name any; those that are asked nothing are forgotten beyond it."""


class Bounded:
    """Asks on threads that are left behind where a drive hangs; it is asked no more before they are back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, _Turn] = {}

    def ask(self, path: str, seconds: float, work: Callable[[], T]) -> T:
        """What ``work`` answers about a drive, within so many seconds, the wait for its turn included.

        Raises DeviceFailureError where it takes longer; what ``work`` raises.
        """
        deadline, turn = time.monotonic() + seconds, self._turn(path)
        if not turn.lock.acquire(timeout=seconds):
            raise _silent(path, turn)
        turn.since = time.monotonic()
        answer: Future[T] = Future()
        threading.Thread(target=_work, args=(answer, work, turn.lock), daemon=True).start()
        try:
            return answer.result(max(deadline - time.monotonic(), 0))
        except TimeoutError:
            raise _silent(path, turn) from None

    def _turn(self, path: str) -> _Turn:
        with self._lock:
            if len(self._turns) > _PATHS_MAX:
                self._turns = {path: turn for path, turn in self._turns.items() if turn.lock.locked()}
            return self._turns.setdefault(path, _Turn())


@dataclass
class _Turn:
    """Whether a drive is being asked, and since when, in monotonic seconds."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    since: float = 0.0


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
