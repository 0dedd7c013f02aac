"""The folder of the runs: open to its group alone, since whoever may open a run's folder could hold it."""

from __future__ import annotations

import grp
import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import StoreError, UsageError

if TYPE_CHECKING:
    from assay.agent.config import AgentConfig


def group_id(config: AgentConfig) -> int:
    """The group that may connect, -1 where it is root alone. Raises UsageError for an unknown one."""
    try:
        return grp.getgrnam(config.group).gr_gid if config.group else -1
    except KeyError:
        raise UsageError(f"group {config.group}", "does not exist", f"groupadd {config.group}") from None


def make_runs_folder(config: AgentConfig) -> bool:
    """Make the folder of the runs, mode 0750; False where it is there, and is left as it is.

    Raises StoreError, and UsageError for an unknown group.
    """
    folder, group = Path(config.runs), group_id(config)
    if folder.is_dir():
        return False
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o750)
        os.chown(folder, -1, group)
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be made", "run this as root") from None
    return True
