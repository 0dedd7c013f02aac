"""How far a run is, kept in its folder while it goes on, for those who ask from outside."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.run.progress import Progress
    from assay.run.store.write import RunWriter
    from assay.run.time_left import TimeLeft

EVERY_NS = 5 * SECOND_NS
"""Between two writes: a few hundred bytes, on the thread that writes the journal."""


def keeping(
    writer: RunWriter, show: Callable[[Progress], None], *, clock: Callable[[], int] = time.monotonic_ns
) -> Callable[[Progress], None]:
    """Show progress, and keep it as well, at once and then every five seconds."""
    last_ns = [-EVERY_NS]

    def both(progress: Progress) -> None:
        now_ns = clock()
        if now_ns - last_ns[0] >= EVERY_NS:
            last_ns[0] = now_ns
            writer.keep_progress(progress_facts(progress))
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
    }


def _left(left: TimeLeft | None) -> dict[str, int | None] | None:
    return None if left is None else asdict(left)
