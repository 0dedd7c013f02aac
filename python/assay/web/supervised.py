"""Background tasks of a server: none ends while the server runs, whatever one of them raises."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PAUSE_S, PAUSE_MAX_S = 1.0, 60.0
_LETTERS_MAX = 300


async def supervised(
    name: str, task: Callable[[], Awaitable[object]], log: Callable[[str], None], *, pause_s: float = PAUSE_S
) -> None:
    """Do a task, and begin it anew whenever it ends, until this is cancelled.

    What ended it goes into the log. pause_s : before it begins anew, doubled each time up to a minute; a task that ran
    for longer than that starts again at the first.
    """
    pause = pause_s
    while True:
        begun_s = time.monotonic()
        try:
            await task()
            reason = "it ended"
        except Exception as error:  # noqa: BLE001 - that is what it is for
            reason = visible(f"{type(error).__name__}: {error}"[:_LETTERS_MAX])
        if time.monotonic() - begun_s > PAUSE_MAX_S:
            pause = pause_s
        log(f"{name} stopped ({reason}) and begins anew in {pause:g} s")
        await asyncio.sleep(pause)
        pause = min(2 * pause, PAUSE_MAX_S)
