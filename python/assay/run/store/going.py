"""Which runs go on, by a look at their folders that reads no journal and takes well below a millisecond each."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.run.store.held import is_going
from assay.run.store.status import is_stopped, kept_progress
from assay.run.store.write import PROGRESS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from assay.run.store.kept import KeptProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class GoingRun:
    """A run that goes on. state : ``suspended`` where its process was stopped."""

    folder: Path
    state: Literal["running", "suspended"]
    progress: KeptProgress

    @property
    def measures_real(self) -> bool:
        """Whether its drive is not simulated; so it is taken where the run does not name its drive."""
        return self.progress.drive is None or self.progress.drive.kind != "simulated"


class GoingRuns:
    """Looks at the runs directly below some folders, again and again. Holds nothing open."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Folders that cannot be read have no runs."""
        self._folders = tuple(folders)
        self._known: dict[Path, tuple[int, KeptProgress | None]] = {}
        self._dead: dict[Path, int] = {}

    def look(self) -> list[GoingRun]:
        """The runs that go on now, by their path."""
        seen = {path: changed for folder in self._folders for path, changed in _progress_files(folder)}
        for known in (self._known, self._dead):
            for path in [path for path in known if path not in seen]:
                del known[path]
        runs = (self._run(path, changed) for path, changed in sorted(seen.items()))
        return [run for run in runs if run]

    def _run(self, path: Path, changed: int) -> GoingRun | None:
        # The lock of a dead run is tried no more, so that whoever goes on with it finds it free.
        if self._dead.get(path) == changed:
            return None
        if not is_going(path):
            self._dead[path] = changed
            return None
        if self._known.get(path, (0, None))[0] != changed:
            self._known[path] = changed, kept_progress(path)
        progress = self._known[path][1]
        if progress is None:
            return None
        return GoingRun(folder=path, state="suspended" if is_stopped(progress.pid) else "running", progress=progress)


def _progress_files(folder: Path) -> list[tuple[Path, int]]:
    """The folders directly below one that have a progress file, and when that was last replaced, in ns."""
    result = []
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    for name in names:
        with suppress(OSError):
            result.append((folder / name, os.lstat(folder / name / PROGRESS).st_mtime_ns))
    return result
