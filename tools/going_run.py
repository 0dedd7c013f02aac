"""A run folder that looks as that of a run that goes on: locked, with progress and lines."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.engine.codec import canonical
from assay.engine.live import LivePoint, LiveSecond
from assay.engine.records import DriveIdentity
from assay.run.progress import Progress, Watched
from assay.run.store import LIVE, PROGRESS
from assay.run.store.live import LiveFile
from assay.run.store.progress_file import RunHistory, progress_facts
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DRIVE = DriveIdentity(
    id="x", path="/dev/loop9", kind="block", capacity_bytes=10**9, logical_block_bytes=512, model_number="A\x1b[2J"
)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """A folder that is locked, as by the process of a run."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class GoingFolder:
    """Holds the folder until it is ended. drive : None writes no drive. clock : wall time in ns of its lines."""

    def __init__(
        self, folder: Path, drive: DriveIdentity | None = DRIVE, clock: Callable[[], int] = time.time_ns
    ) -> None:
        folder.mkdir(parents=True)
        self.folder, self.second = folder, 0
        self._lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.live = LiveFile(folder, clock, virtual=False)
        progress = Progress(test="iops", phase="round", name="round 2", share=0.25, watched=Watched(after="x"))
        self.write({**progress_facts(progress, drive), **RunHistory().facts()()})

    def write(self, facts: dict[str, Any]) -> None:
        """Replace the progress."""
        draft = self.folder / "draft"
        draft.write_bytes(canonical(facts))
        draft.replace(self.folder / PROGRESS)

    def seconds(self, count: int) -> None:
        """Let some seconds end, each with ten writes."""
        for _ in range(count):
            self.live.add(1, [LiveSecond(0, self.second, SECOND_NS, (LivePoint(0, 1, 10, 40960, 5000, 900),))])
            self.second += 1

    def end(self) -> None:
        """The run ends, as ``RunWriter.close`` lets it."""
        self.live.close()
        for name in (PROGRESS, LIVE):
            (self.folder / name).unlink()
        os.close(self._lock)
