"""The log of a run in its folder: every line that could be shown, whatever is shown."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Self

from assay.cli.progress.plain import PlainDisplay

if TYPE_CHECKING:
    from pathlib import Path

    from assay.run.progress import Progress

RUN_LOG = "run.log"
_NEW = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ERRORS = "backslashreplace"


class RunLog:
    """Appends to ``run.log`` of the folder that the run names; nothing of it is in the hash chain."""

    def __init__(self) -> None:
        self._file: IO[str] | None = None
        self._lines: PlainDisplay | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            with suppress(OSError):
                self._file.close()

    def show(self, progress: Progress) -> None:
        """Write what is new. A log that cannot be written is no reason to end a run."""
        if self._lines is None and progress.folder:
            self._open(progress.folder)
        if self._lines:
            self._lines.show(progress)

    def say(self, line: str) -> None:
        """Write a line of any text, once there is a folder."""
        if self._lines:
            self._lines.say(line)

    def _open(self, folder: Path) -> None:
        with suppress(OSError):
            descriptor = _opened(folder / RUN_LOG)
            self._file = os.fdopen(descriptor, "w", encoding="utf-8", errors=_ERRORS)
            self._lines = PlainDisplay(self._file, cells=True)


def append_line(folder: Path, line: str) -> None:
    """Append a line with its time to the log in a folder; a log that cannot be written is left as it is."""
    with suppress(OSError), os.fdopen(_opened(folder / RUN_LOG), "w", encoding="utf-8", errors=_ERRORS) as file:
        PlainDisplay(file).say(line)


def _opened(path: Path) -> int:
    """A descriptor of a new log, or of that of a run that goes on."""
    try:
        return os.open(path, _NEW, 0o644)
    except FileExistsError:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
