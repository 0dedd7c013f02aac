"""Questions to a drive that may never answer: each has a time limit, and a drive is asked one at a time."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import DeviceFailureError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Bounded:
    """Asks on threads that are left behind where a drive hangs; it is asked no more before they are back."""

    def __init__(self) -> None:
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._since: dict[str, float] = {}

    def ask(self, path: str, seconds: float, work: Callable[[], T]) -> T:
        """What ``work`` answers about a drive, within so many seconds, the wait for its turn included.

        Raises DeviceFailureError where it takes longer; what ``work`` raises.
        """
        deadline, turn = time.monotonic() + seconds, self._turns[path]
        if not turn.acquire(timeout=seconds):
            raise self._silent(path)
        self._since[path] = time.monotonic()
        answer: Future[T] = Future()
        threading.Thread(target=_work, args=(answer, work, turn), daemon=True).start()
        try:
            return answer.result(max(deadline - time.monotonic(), 0))
        except TimeoutError:
            raise self._silent(path) from None

    def _silent(self, path: str) -> DeviceFailureError:
        waited = time.monotonic() - self._since.get(path, time.monotonic())
        return DeviceFailureError(path, f"has not answered for {waited:.0f} s", "see the kernel's log")


def _work(answer: Future[Any], work: Callable[[], Any], turn: threading.Lock) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised where it was queried
        answer.set_exception(error)
    finally:
        turn.release()
