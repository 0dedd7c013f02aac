"""Shows the progress of a run: on standard error as it fits the terminal, and as a log in the run folder."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal, Self

import click

from assay.cli.progress.live import LiveDisplay
from assay.cli.progress.plain import PlainDisplay
from assay.cli.progress.run_log import RUN_LOG, RunLog, append_line

if TYPE_CHECKING:
    from pathlib import Path

    from assay.run.progress import Progress

__all__ = ["RUN_LOG", "RunDisplay", "Verbosity"]

Verbosity = Literal["quiet", "normal", "verbose"]
"""Nothing but what must not be missed; a line per phase and round; a line per cell, too."""


class RunDisplay:
    """Shows a run and keeps its log. Use it as a context manager.

    folder : of the run, once it has one.
    """

    def __init__(self, verbosity: Verbosity = "normal") -> None:
        self.folder: Path | None = None
        self._shown = _shown(verbosity)
        self._log = RunLog()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._log)
        if self._shown:
            self._stack.enter_context(self._shown)
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None:
            self._log.say(f"ended: {error or type(error).__name__}")
        self._stack.close()

    def show(self, progress: Progress) -> None:
        """Show how far the run is."""
        self.folder = self.folder or progress.folder
        self._log.show(progress)
        if self._shown:
            self._shown.show(progress)
        elif progress.advice:
            # Without it a drive may stay locked; that must not be missed.
            click.echo(progress.advice, err=True)

    def rendering(self, name: str, number: int, count: int) -> None:
        """Show that a format of the report is made."""
        line = f"report: {name}, format {number} of {count}"
        self._log.say(line)
        if isinstance(self._shown, LiveDisplay):
            self._shown.still(line)
        elif self._shown:
            self._shown.say(line)

    def say(self, line: str) -> None:
        """Keep a line in the log alone."""
        self._log.say(line)

    def keep(self, line: str) -> None:
        """Keep a line in the log of a run that is over, and whose log is closed."""
        if self.folder:
            append_line(self.folder, line)


def _shown(verbosity: Verbosity) -> LiveDisplay | PlainDisplay | None:
    """The display that fits standard error; none for a quiet run."""
    if verbosity == "quiet":
        return None
    if not sys.stderr.isatty():
        return PlainDisplay(sys.stderr, cells=verbosity == "verbose")
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True)
    if console.is_dumb_terminal:
        return PlainDisplay(sys.stderr, cells=verbosity == "verbose")
    return LiveDisplay(console, cells=verbosity == "verbose")
