"""Whether a run goes on, ended, or died, also while another process writes to its folder."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.errors import InterruptedRunError, StoreError
from assay.run.store import PROGRESS
from assay.run.store.document import list_runs, read_document
from assay.run.store.journal import read_journal
from assay.run.store.lock import is_going
from assay.run.store.progress_file import KeptProgress, kept_progress
from assay.spec.files import process_fields

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from assay.run.store.journal import Entry


State = Literal["running", "suspended", "finished", "ended-early", "dead"]
"""``suspended`` : it goes on, but its process was stopped. ``dead`` : nobody writes to it and it has no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What has become of a run.

    progress : the last that was kept, None where there is none. tests : names of those that began, with how each ended,
    None for one that has not. last_wall_ns : of the last sign of it. exit_code, message : of one that ended, before
    it was held against limits. limit_count : how many its plan states.
    """

    folder: Path
    state: State
    started_wall_ns: int
    last_wall_ns: int
    progress: KeptProgress | None
    tests: tuple[tuple[str, str | None], ...]
    exit_code: int | None = None
    message: str = ""
    limit_count: int = 0


def run_state(folder: Path) -> RunState:
    """What has become of the run in a folder.

    Raises StoreError where it is no run folder or cannot be read, VerificationError where it was changed.
    """
    head, document = read_document(folder)
    # The lock before the journal: a run that ends in between has its end there.
    held = is_going(folder)
    journal = read_journal(folder, head)
    progress = kept_progress(folder)
    last_wall_ns = journal.lines[-1].wall_ns if journal.lines else document.started_wall_ns
    end = journal.lines[-1].data if journal.complete else None
    exit_code, limits = end.get("exit_code") if end else None, document.plan.get("limits")
    return RunState(
        folder=folder,
        state=_state(end, progress, held=held),
        started_wall_ns=document.started_wall_ns,
        last_wall_ns=max(last_wall_ns, progress.wall_ns if progress else 0),
        progress=progress,
        tests=tuple(_tests(journal.lines)),
        exit_code=exit_code if isinstance(exit_code, int) else None,
        message=str(end.get("message", "")) if end else "",
        limit_count=len(limits) if isinstance(limits, list) else 0,
    )


def newest_run(folder: Path) -> Path | None:
    """The run below a folder that was started last; None where there is none that can be read."""
    result = []
    for path in list_runs(folder):
        with suppress(StoreError):
            result.append((read_document(path)[1].started_wall_ns, path))
    return max(result)[1] if result else None


def _state(end: dict[str, object] | None, progress: KeptProgress | None, *, held: bool) -> State:
    if end is not None:
        interrupted = end.get("exit_code") == InterruptedRunError.exit_code
        return "ended-early" if "message" in end or interrupted else "finished"
    return _active_state(progress) if held else "dead"


def _active_state(progress: KeptProgress | None) -> Literal["running", "suspended"]:
    """Whether the process of an active run was stopped by a signal or a debugger."""
    stopped = progress and process_fields(progress.pid)[:1] in (["T"], ["t"])
    return "suspended" if stopped else "running"


def _tests(entries: Iterable[Entry]) -> list[tuple[str, str | None]]:
    """The tests that began, in order, with how each ended."""
    tests: list[tuple[str, str | None]] = []
    for entry in entries:
        if entry.kind == "test_started":
            settings = entry.data.get("settings")
            tests.append((str(settings.get("test") if isinstance(settings, dict) else "unknown"), None))
        elif entry.kind == "test_ended" and tests:
            tests[-1] = (tests[-1][0], str(entry.data.get("reason")))
    return tests


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
        return GoingRun(folder=path, state=_active_state(progress), progress=progress)


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
