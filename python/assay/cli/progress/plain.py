"""Progress where no terminal is: plain lines with date and zone."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Self

from assay.cli.progress.labels import stamp
from assay.cli.progress.lines import begin_line, event_lines, still_line
from assay.spec.units import MINUTE_NS
from assay.words.visible import visible

if TYPE_CHECKING:
    from assay.run.progress import Progress


class PlainDisplay:
    """A line per phase and per round, and in long phases one per tenth, at most one a minute.

    stream : where they go. A run goes on when nobody reads it any more. cells : a line per cell that ran, too.
    """

    def __init__(self, stream: IO[str], *, cells: bool = False) -> None:
        self._stream, self._cells = stream, cells
        self._phase, self._tenth, self._told_ns = ("", ""), 0, 0
        self._gone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: Progress) -> None:
        """Print what is new."""
        if progress.is_event:
            for line in event_lines(progress, cells=self._cells):
                self.say(line)
        elif progress.test:
            self._follow(progress)

    def say(self, line: str) -> None:
        """Print a line of any text with the time before it."""
        try:
            if not self._gone:
                self._stream.write(f"{stamp()} {visible(line)}\n")
                self._stream.flush()
        except OSError:
            self._gone = True

    def _follow(self, progress: Progress) -> None:
        """Print that a phase begins, or that a tenth of it is done.

        Rounds and samples are one phase each, and so are the parts of an access group, wait state or variant.
        """
        repeated = progress.phase in {"round", "sample"}
        phase = (progress.test, progress.phase if repeated else f"{progress.phase} {progress.index}")
        tenth = int((progress.share or 0) * 10)
        if phase != self._phase:
            self.say(begin_line(progress))
            self._phase, self._tenth, self._told_ns = phase, 0, progress.elapsed_ns
        elif tenth != self._tenth and progress.elapsed_ns - self._told_ns >= MINUTE_NS:
            self.say(still_line(progress))
            self._tenth, self._told_ns = tenth, progress.elapsed_ns
