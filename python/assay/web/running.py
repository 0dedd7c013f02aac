"""The runs of the served folders that go on, without reading those that ended."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.index.update import address_of
from assay.errors import AssayError
from assay.run.store.document import read_document
from assay.run.store.going import progress_files
from assay.run.store.status import current_progress, run_state
from assay.web.forms import RunStatus, StartedTest
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from assay.engine.records import DriveIdentity
    from assay.run.store.kept import KeptProgress
    from assay.run.store.status import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRun:
    """A run that goes on. address : in addresses of the server. suspended : its process was stopped by a signal."""

    folder: Path
    address: str
    identity: DriveIdentity
    progress: KeptProgress
    suspended: bool


def running_runs(folders: Iterable[Path]) -> list[RunningRun]:
    """The runs below some folders that go on and have kept their progress; what cannot be read is left out.

    Reads ``progress.json`` and ``run.json`` of each, and no journal.
    """
    return [run for folder in _with_progress(folders) if (run := _running(folder)) is not None]


def running_states(folders: Iterable[Path]) -> list[RunStatus]:
    """The state of each run below some folders that goes on; reads their journals."""
    states = []
    for folder in _with_progress(folders):
        with suppress(AssayError, OSError):
            states.append(run_state(folder))
    return [status_of(state) for state in states if state.state in {"running", "suspended"}]


def status_of(state: RunState) -> RunStatus:
    """A state as commands print it."""
    return RunStatus(
        run=unicode_name(str(state.folder)),
        state=state.state,
        started_wall_ns=state.started_wall_ns,
        last_wall_ns=state.last_wall_ns,
        exit_code=state.exit_code,
        message=state.message,
        limit_count=state.limit_count,
        tests=tuple(StartedTest(test=test, ended=ended) for test, ended in state.tests),
        progress=state.progress,
    )


def _with_progress(folders: Iterable[Path]) -> Iterator[Path]:
    """The run folders that have ``progress.json``: a run removes it at its end."""
    for folder in folders:
        yield from sorted(run for run, _ in progress_files(folder))


def _running(folder: Path) -> RunningRun | None:
    try:
        progress, state = current_progress(folder)
        if progress is None or state not in {"running", "suspended"}:
            return None
        identity = read_document(folder)[1].identity
    except (AssayError, OSError):
        return None
    return RunningRun(
        folder=folder,
        address=address_of(folder),
        identity=identity,
        progress=progress,
        suspended=state == "suspended",
    )
