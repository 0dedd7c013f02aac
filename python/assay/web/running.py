"""The state of the runs of the served folders that go on, as commands print it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.run.store.status import GoingRuns, run_state
from assay.web.forms import RunStatus, StartedTest
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from assay.run.store.status import RunState


def running_states(folders: Iterable[Path]) -> list[RunStatus]:
    """The state of each run below some folders that goes on; reads their journals, and those of no others."""
    states = []
    for run in GoingRuns(folders).look():
        with suppress(AssayError, OSError):
            states.append(run_state(run.folder))
    # One may have ended since.
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
