"""How far a run is, kept in its folder while it goes on, for those who ask from outside."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.run.seen import Seen, drive_facts
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import DriveIdentity
    from assay.run.progress import Progress
    from assay.run.store.write import RunWriter
    from assay.run.time_left import TimeLeft

EVERY_NS = 5 * SECOND_NS
"""Between two writes: a few kB at most, on the thread that writes the journal."""
EVENT_EVERY_NS = SECOND_NS
"""The same behind something that happened."""


def keeping(
    writer: RunWriter,
    show: Callable[[Progress], None],
    *,
    drive: DriveIdentity | None = None,
    clock: Callable[[], int] = time.monotonic_ns,
) -> Callable[[Progress], None]:
    """Show progress, and keep it as well: at once, every five seconds, and a second after something happened."""
    last_ns, seen, happened = -EVERY_NS, Seen(), False
    about = None if drive is None else drive_facts(drive)

    def both(progress: Progress) -> None:
        nonlocal last_ns, happened
        seen.look(progress)
        happened = happened or progress.is_event
        now_ns = clock()
        if now_ns - last_ns >= (EVENT_EVERY_NS if happened else EVERY_NS):
            last_ns, happened = now_ns, False
            known, more = {**progress_facts(progress), "drive": about}, seen.facts()
            writer.keep_progress(lambda: {**known, **more()})
        show(progress)

    return both


def progress_facts(progress: Progress) -> dict[str, Any]:
    """What ``progress.json`` holds; see docs/formats/run-folder.md."""
    return {
        "pid": os.getpid(),
        "wall_ns": time.time_ns(),
        "elapsed_ns": progress.elapsed_ns,
        "test": progress.test,
        "test_number": progress.number,
        "test_count": progress.count,
        "phase": progress.phase,
        "name": progress.name,
        "step": progress.step,
        "step_number": progress.step_number,
        "step_count": progress.step_count,
        "share": progress.share,
        "left": _left(progress.left),
        "test_left": _left(progress.test_left),
        "run_left": _left(progress.run_left),
        "virtual": progress.virtual,
        "watched": asdict(progress.watched) if progress.watched else None,
    }


def _left(left: TimeLeft | None) -> dict[str, int | None] | None:
    return None if left is None else asdict(left)
