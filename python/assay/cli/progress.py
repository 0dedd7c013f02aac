"""Shows the progress of a run: on standard error as it fits the terminal, and as a log in the run folder."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, TYPE_CHECKING, Literal, Self

import click

from assay.cli.progress_lines import (
    begin_line,
    event_lines,
    extent_label,
    figures_label,
    percent_label,
    phase_rate_label,
    shares_label,
    span_label,
    stamp,
    still_left,
    still_line,
    tracked_lines,
)
from assay.spec.units import MINUTE_NS
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

    from assay.plan.until import RoundOutcome
    from assay.run.progress import Progress, Watched


PANEL_COLUMNS, BAR_COLUMNS = 100, 61
"""From this width on there is a panel, and from this one on a bar."""
_PANEL_LINES = 16
_BAR_WIDTH = 20


class LiveDisplay:
    """Draws the present step at the foot of the terminal; a line per phase and round is printed above it.

    console : of the terminal; its width is read each time, so that a window may change. cells : a line per cell, too.
    It draws only when the run reports progress, twice a second: no thread of its own runs during a measurement.
    """

    def __init__(self, console: Console, *, cells: bool = False) -> None:
        self._console, self._cells = console, cells
        self._live: Live | None = None
        self._judged: dict[str, RoundOutcome] = {}
        self._gone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._unless_gone():
            if self._live:
                self._live.stop()

    def show(self, progress: Progress) -> None:
        """Draw how far it is; print what happened above it. Nothing is drawn before the drive is held."""
        with self._unless_gone():
            if self._gone:
                return
            if progress.is_event:
                if progress.judged:
                    self._judged = {progress.test: progress.judged}
                for line in event_lines(progress, cells=self._cells):
                    self.say(line)
            elif progress.test:
                self._draw(drawn(progress, self._judged.get(progress.test), self._console))

    def say(self, line: str) -> None:
        """Print a line with the time before it, above what is drawn."""
        self._console.print(f"{stamp()} {visible(line)}", markup=False, highlight=False)

    def still(self, text: str) -> None:
        """Draw one line of any text."""
        with self._unless_gone():
            self._draw(_one_line(text))

    @contextmanager
    def _unless_gone(self) -> Iterator[None]:
        """A run goes on when its terminal is closed, or cannot show a character."""
        try:
            yield
        except (OSError, UnicodeError):
            self._gone = True

    def _draw(self, content: RenderableType) -> None:
        from rich.live import Live  # noqa: PLC0415

        if self._live is None:
            # Standard output may be a file, whose lines are not to be drawn here.
            self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        self._live.update(content, refresh=True)


def drawn(progress: Progress, judged: RoundOutcome | None, console: Console) -> RenderableType:
    """The drawing at the present width of the console."""
    from rich.console import Group  # noqa: PLC0415

    if console.width >= PANEL_COLUMNS and console.height >= _PANEL_LINES:
        return _panel(progress, judged, console.width)
    if console.width >= BAR_COLUMNS:
        return Group(*_short(progress))
    # Times first, since the end of a line is what is cut.
    rows = (
        f"{_unit_left(progress)} {percent_label(progress.share)}",
        f"run: {still_left(progress.run_left)}",
        f"{progress.test} {progress.name} {progress.step}",
    )
    return Group(*(_one_line(row.rstrip()) for row in rows))


def _panel(progress: Progress, judged: RoundOutcome | None, width: int) -> RenderableType:
    from rich.panel import Panel  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True, min_width=len("Tracked"))
    table.add_column(overflow="ellipsis", no_wrap=True)
    for name, content in _rows(progress, judged):
        table.add_row(name, content if not isinstance(content, str) else Text(visible(content)))
    title = Text(f"{progress.test}, test {progress.number} of {progress.count}, {visible(progress.name)}")
    return Panel(table, title=title, title_align="left", width=min(width, 160))


def _rows(progress: Progress, judged: RoundOutcome | None) -> Iterator[tuple[str, RenderableType | str]]:
    from rich.text import Text  # noqa: PLC0415

    if progress.step:
        place = f"cell {progress.step_number} of {progress.step_count}" if progress.step_count > 1 else ""
        yield "Now", ", ".join(filter(None, [progress.step, place, figures_label(progress)]))
    facts = [percent_label(progress.share), extent_label(progress), phase_rate_label(progress), _unit_left(progress)]
    yield "Phase", _bar_row(progress, Text(", ".join(filter(None, facts))))
    yield "Test", still_left(progress.test_left)
    yield "Run", _run_text(progress)
    for number, text in enumerate(tracked_lines(judged) if judged else ()):
        missing = f", {judged.gathered} of 5 values for a verdict" if judged and judged.window is None else ""
        yield "" if number else "Tracked", f"{text}{missing}"
    if progress.watched:
        yield from _watched_rows(progress.watched)


def _watched_rows(watched: Watched) -> Iterator[tuple[str, str]]:
    """Temperature and findings, as of the last sequence: no query disturbs a measurement."""
    if watched.temperature_c is not None or watched.drive_events:
        heat = "" if watched.temperature_c is None else f"{watched.temperature_c:g} C after {watched.after}"
        events = f"{watched.drive_events} lines of the kernel's log" if watched.drive_events else ""
        yield "Drive", ", ".join(filter(None, [heat, events]))
    if watched.host_stalls is not None:
        stalls = f"{watched.host_stalls} stalls of this host, {watched.host_stalled_ns / 1e6:,.0f} ms in all"
        yield "Host", f"{stalls if watched.host_stalls else 'no stall of this host'} up to {watched.after}"


def _bar_row(progress: Progress, text: Text) -> RenderableType:
    """A text with a bar before it where the share is known."""
    from rich.progress_bar import ProgressBar  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    share, row = progress.share, Table.grid(padding=(0, 1))
    bar = [] if share is None else [ProgressBar(total=1, completed=min(share, 1), width=_BAR_WIDTH)]
    row.add_row(*bar, text)
    return row


def _unit_left(progress: Progress) -> str:
    if progress.left is None:
        return f"{span_label(progress.unit_elapsed_ns)} so far"
    return still_left(progress.left)


def _run_text(progress: Progress) -> str:
    shares = shares_label(progress)
    return ", ".join(filter(None, [shares, still_left(progress.run_left), f"{span_label(progress.elapsed_ns)} so far"]))


def _short(progress: Progress) -> Iterator[RenderableType]:
    """Three lines: where it is, how far, and the run. Times stand before what may be cut."""
    now = ", ".join(filter(None, [progress.step, figures_label(progress)]))
    yield _one_line(f"{progress.test} {progress.name}{f', {now}' if now else ''}")
    yield _bar_row(progress, _one_line(", ".join(filter(None, [percent_label(progress.share), _unit_left(progress)]))))
    yield _one_line(f"test {progress.number} of {progress.count}, run: {_run_text(progress)}")


def _one_line(text: str) -> Text:
    from rich.text import Text  # noqa: PLC0415

    return Text(visible(text), no_wrap=True, overflow="ellipsis")


class PlainDisplay:
    """A line per phase and per round, and in long phases one per tenth, at most one a minute.

    stream : where they go. A run goes on when the stream is closed. cells : a line per cell that ran, too.
    """

    def __init__(self, stream: IO[str], *, cells: bool = False) -> None:
        self._stream, self._cells = stream, cells
        self._phase, self._tenth, self._printed_ns = ("", ""), 0, 0
        self._gone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """The stream is its owner's to close."""

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
            self._phase, self._tenth, self._printed_ns = phase, 0, progress.elapsed_ns
        elif tenth != self._tenth and progress.elapsed_ns - self._printed_ns >= MINUTE_NS:
            self.say(still_line(progress))
            self._tenth, self._printed_ns = tenth, progress.elapsed_ns


RUN_LOG = "run.log"
_NEW = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _opened(folder: Path) -> IO[str]:
    """A new log in a folder, or the log of a run that goes on."""
    path = folder / RUN_LOG
    try:
        descriptor = os.open(path, _NEW, 0o644)
    except FileExistsError:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace")


Verbosity = Literal["quiet", "normal", "verbose"]
"""Nothing but what must not be missed; a line per phase and round; a line per cell, too."""


class RunDisplay:
    """Shows a run and keeps its log. Use it as a context manager.

    folder : of the run, once it has one.
    """

    def __init__(self, verbosity: Verbosity = "normal") -> None:
        self.folder: Path | None = None
        self._shown = _shown(verbosity)
        self._log: PlainDisplay | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self._shown:
            self._stack.enter_context(self._shown)
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None:
            self.say(f"ended: {error or type(error).__name__}")
        with suppress(OSError):
            self._stack.close()

    def show(self, progress: Progress) -> None:
        """Show how far the run is."""
        self.folder = self.folder or progress.folder
        if self._log is None and self.folder:
            # A log that cannot be written is no reason to end a run.
            with suppress(OSError):
                self._log = PlainDisplay(self._stack.enter_context(_opened(self.folder)), cells=True)
        if self._log:
            self._log.show(progress)
        if self._shown:
            self._shown.show(progress)
        elif progress.advice:
            # Without it a drive may stay locked; that must not be missed.
            click.echo(progress.advice, err=True)

    def rendering(self, name: str, number: int, count: int) -> None:
        """Show that a format of the report is made."""
        line = f"report: {name}, format {number} of {count}"
        self.say(line)
        if isinstance(self._shown, LiveDisplay):
            self._shown.still(line)
        elif self._shown:
            self._shown.say(line)

    def say(self, line: str) -> None:
        """Keep a line in the log alone, once there is a folder."""
        if self._log:
            self._log.say(line)

    def keep(self, line: str) -> None:
        """Keep a line in the log of a run that is over, and whose log is closed."""
        # A log that cannot be written is left as it is.
        with suppress(OSError):
            if self.folder:
                with _opened(self.folder) as file:
                    PlainDisplay(file).say(line)


def _shown(verbosity: Verbosity) -> LiveDisplay | PlainDisplay | None:
    """The display that fits standard error; none for a quiet run."""
    if verbosity == "quiet":
        return None
    cells = verbosity == "verbose"
    if sys.stderr.isatty():
        from rich.console import Console  # noqa: PLC0415

        console = Console(stderr=True)
        if not console.is_dumb_terminal:
            return LiveDisplay(console, cells=cells)
    return PlainDisplay(sys.stderr, cells=cells)
