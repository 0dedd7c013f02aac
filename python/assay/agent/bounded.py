"""Questions to a drive that may never answer: each has a time limit, and none is asked twice at once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import DeviceFailureError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Bounded:
    """Asks on threads of its own; one that hangs is left, and its drive is not asked again before it is back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[float, Future[Any]]] = {}

    def ask(self, path: str, seconds: float, work: Callable[[], T]) -> T:
        """What ``work`` answers about a drive, within so many seconds.

        Raises DeviceFailureError where it does not, or where an earlier question is still open; what ``work`` raises.
        """
        since, answer = self._query(path, work)
        try:
            return answer.result(seconds)  # type: ignore[no-any-return]
        except TimeoutError:
            waited = time.monotonic() - since
            raise DeviceFailureError(path, f"has not answered for {waited:.0f} s", "see the kernel's log") from None

    def _query(self, path: str, work: Callable[[], Any]) -> tuple[float, Future[Any]]:
        with self._lock:
            if path in self._open and not self._open[path][1].done():
                since = self._open[path][0]
                reason = f"has not answered for {time.monotonic() - since:.0f} s"
                raise DeviceFailureError(path, reason, "see the kernel's log")
            query: tuple[float, Future[Any]] = (time.monotonic(), Future())
            self._open[path] = query
        threading.Thread(target=_work, args=(query[1], work), daemon=True).start()
        return query


def _work(answer: Future[Any], work: Callable[[], Any]) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised where it was queried
        answer.set_exception(error)
