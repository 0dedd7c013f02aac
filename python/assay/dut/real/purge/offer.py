"""What a drive offers for a purge, and how a purge is watched while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import AssayError, DeviceFailureError

if TYPE_CHECKING:
    from assay.dut.real.transport import CommandSet
    from assay.engine.records import PurgeMethod

CHECK_REMEDY = "check the drive and the kernel log; its contents are undefined now"
# What a controller takes before it moves, and how often it is asked.
_MARGIN_S = 600
_UNKNOWN_LIMIT_S = 12 * 3600
_PAUSE_S, _PAUSE_S_MAX = 0.5, 10.0
_STANDS_S = 300


Shown = Callable[[float | None, int], None]
"""Takes the fraction of 1 that is done, None where nobody knows, and the ns since it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeWatch:
    """Who watches a purge.

    show : takes how far it is.
    keep : takes advice that must outlive the run, as what frees the drive; returns once it is durable.
    clock, pause : seconds of a monotonic clock, and waiting for some.
    """

    show: Shown = lambda *_: None
    keep: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One way to purge a drive.

    label : as printed. run : does it and says in half a sentence what the drive states afterwards; raises
    DeviceFailureError and OSError. obstacle : why it may not be done now, ready to be raised.
    deviation : why it is less than a purge, or None. rehearsed : it has run on a drive, if only an emulated one.
    """

    method: PurgeMethod
    label: str
    run: Callable[[PurgeWatch], str]
    obstacle: AssayError | None = None
    deviation: str | None = None
    rehearsed: bool = True


def is_rehearsed(commands: CommandSet | None, method: PurgeMethod) -> bool:
    """Whether a purge has run on a drive, if only an emulated one. commands : that the drive takes.

    All others were tried against recorded replies only. Worked: an ATA ``erase`` -> not; an NVMe ``format`` -> it has.
    """
    return method in ("discard", "overwrite") or (commands == "nvme" and method in ("format", "format-crypto"))


def limit_seconds(estimate_s: int | None) -> int:
    """How long a drive may take that has named its own estimate. Worked: 1200 s -> 4200 s; None -> 12 h."""
    return _UNKNOWN_LIMIT_S if estimate_s is None else 3 * estimate_s + _MARGIN_S


def watch_background(
    path: str, look: Callable[[], float | None], watch: PurgeWatch, limit_s: float, way_out: str
) -> None:
    """Look until an operation that the drive carries out by itself has ended, less often while nothing changes.

    look : fraction done, None once it has ended; raises DeviceFailureError where it failed.
    way_out : what frees a drive of this kind; kept once without progress for 5 minutes, and where Ctrl-C leaves it.
    Raises DeviceFailureError after ``limit_s``.
    """
    begun = changed = watch.clock()
    last, pause, is_named = -1.0, _PAUSE_S, False
    try:
        while (done := look()) is not None:
            now = watch.clock()
            watch.show(done, int((now - begun) * 1e9))
            if done != last:
                last, changed, pause, is_named = done, now, _PAUSE_S, False
            if now - begun > limit_s:
                reason = f"the purge has not ended after {now - begun:.0f} s ({done:.1%} done)"
                raise DeviceFailureError(path, reason, way_out)
            if now - changed >= _STANDS_S and not is_named:
                is_named = True
                stands = f"no progress of the purge for {_STANDS_S // 60} min ({done:.1%} done)"
                watch.keep(f"{path}: {stands}. Ctrl-C leaves it; {way_out}")
            watch.pause(pause)
            pause = min(2 * pause, _PAUSE_S_MAX)
    except KeyboardInterrupt:
        watch.keep(f"{path}: left while the drive purges itself ({max(last, 0):.1%} done), which goes on; {way_out}")
        raise


def watch_command(action: Callable[[], object], watch: PurgeWatch) -> None:
    """Carry out a command that returns only when it is done, and show the time meanwhile.

    An interruption is raised when the drive is done, as is said at the first one: the kernel ends no process before,
    and a drive left in the middle would be locked or half erased.
    """
    begun = watch.clock()
    worker = _Worker(action)
    worker.start()
    interrupted = False
    while worker.is_alive():
        try:
            watch.show(None, int((watch.clock() - begun) * 1e9))
            worker.join(_PAUSE_S)
        except KeyboardInterrupt:
            if not interrupted:
                watch.keep("The run ends with the purge: the drive holds the command, which cannot be taken back.")
            interrupted = True
    if worker.error is not None:
        raise worker.error
    if interrupted:
        raise KeyboardInterrupt


class _Worker(threading.Thread):
    """Carries one action out and keeps what it raised."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__(name="assay-purge", daemon=True)
        self._action = action
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._action()
        except BaseException as error:  # noqa: BLE001 -- raised again where it is waited for
            self.error = error
