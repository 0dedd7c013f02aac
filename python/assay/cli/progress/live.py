"""Progress on a terminal: a panel where there is room, a few short lines where there is not."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from assay.cli.progress.labels import (
    extent_label,
    figures_label,
    percent_label,
    phase_rate_label,
    shares_label,
    span_label,
    stamp,
    still_left,
)
from assay.cli.progress.lines import event_lines, tracked_lines
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType
    from rich.live import Live

    from assay.plan.until import RoundOutcome
    from assay.run.progress import Progress, Watched

PANEL_COLUMNS, BAR_COLUMNS = 100, 61
"""From this width on there is a panel, and from this one on a bar."""
_PANEL_LINES = 16
_BAR_WIDTH = 20


class LiveDisplay:
    """What runs now stays at the foot of the terminal; a line per phase and round is printed above it.

    console : of the terminal; its width is asked each time, so that a window may change. cells : a line per cell, too.
    Nothing is drawn but when the run tells its progress, twice a second: no thread of its own runs beside a
    measurement.
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
            if not self._gone:
                self._show(progress)

    def say(self, line: str) -> None:
        """Print a line with the time before it, above what is drawn."""
        self._console.print(f"{stamp()} {visible(line)}", markup=False, highlight=False)

    def still(self, text: str) -> None:
        """Draw one line of any text."""
        with self._unless_gone():
            self._draw(_one_line(text))

    def _show(self, progress: Progress) -> None:
        if progress.is_event:
            if progress.judged:
                self._judged = {progress.test: progress.judged}
            for line in event_lines(progress, cells=self._cells):
                self.say(line)
        elif progress.test:
            self._draw(lines(progress, self._judged.get(progress.test), self._console))

    @contextmanager
    def _unless_gone(self) -> Iterator[None]:
        """A run goes on when its terminal is closed, or cannot show a character."""
        try:
            yield
        except (OSError, UnicodeError):
            self._gone = True

    def _draw(self, drawn: RenderableType) -> None:
        from rich.live import Live  # noqa: PLC0415

        if self._live is None:
            # Standard output may be a file, whose lines are not to be drawn here.
            self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        self._live.update(drawn, refresh=True)


def lines(progress: Progress, judged: RoundOutcome | None, console: Console) -> RenderableType:
    """What is drawn at the console's width now."""
    from rich.console import Group  # noqa: PLC0415

    if console.width >= PANEL_COLUMNS and console.height >= _PANEL_LINES:
        return _panel(progress, judged, console.width)
    if console.width >= BAR_COLUMNS:
        return Group(*_short(progress))
    return Group(*_narrow(progress))


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
    if progress.step:
        place = f"cell {progress.step_number} of {progress.step_count}" if progress.step_count > 1 else ""
        yield "Now", ", ".join(filter(None, [progress.step, place, figures_label(progress)]))
    yield "Phase", _bar_row(progress)
    yield "Test", still_left(progress.test_left)
    yield "Run", _run_text(progress)
    for number, text in enumerate(tracked_lines(judged) if judged else ()):
        missing = f", {judged.gathered} of 5 values for a verdict" if judged and judged.window is None else ""
        yield "" if number else "Tracked", f"{text}{missing}"
    if progress.watched:
        yield from _watched_rows(progress.watched)


def _watched_rows(watched: Watched) -> Iterator[tuple[str, str]]:
    """Temperature and findings, as of the last sequence: the drive is asked nothing while it is measured."""
    if watched.temperature_c is not None or watched.drive_events:
        heat = "" if watched.temperature_c is None else f"{watched.temperature_c:g} C after {watched.after}"
        events = f"{watched.drive_events} lines of the kernel's log" if watched.drive_events else ""
        yield "Drive", ", ".join(filter(None, [heat, events]))
    if watched.host_stalls is not None:
        stalls = f"{watched.host_stalls} stalls of this host, {watched.host_stalled_ns / 1e6:,.0f} ms in all"
        yield "Host", f"{stalls if watched.host_stalls else 'no stall of this host'} up to {watched.after}"


def _bar_row(progress: Progress) -> RenderableType:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    row = Table.grid(padding=(0, 1))
    if progress.share is None:
        row.add_row(Text(_phase_text(progress)))
    else:
        row.add_row(_bar(progress), Text(_phase_text(progress)))
    return row


def _bar(progress: Progress) -> RenderableType:
    from rich.progress_bar import ProgressBar  # noqa: PLC0415

    return ProgressBar(total=1, completed=min(progress.share or 0, 1), width=_BAR_WIDTH)


def _phase_text(progress: Progress) -> str:
    facts = [percent_label(progress.share), extent_label(progress), phase_rate_label(progress), _unit_left(progress)]
    return ", ".join(filter(None, facts))


def _unit_left(progress: Progress) -> str:
    if progress.left is None:
        return f"{span_label(progress.unit_elapsed_ns)} so far"
    return still_left(progress.left)


def _run_text(progress: Progress) -> str:
    shares = shares_label(progress)
    return ", ".join(filter(None, [shares, still_left(progress.run_left), f"{span_label(progress.elapsed_ns)} so far"]))


def _short(progress: Progress) -> Iterator[RenderableType]:
    """Three lines: where it is, how far, and the run. Times stand before what may be cut."""
    from rich.table import Table  # noqa: PLC0415

    now = ", ".join(filter(None, [progress.step, figures_label(progress)]))
    where = f"{progress.test} {progress.name}{f', {now}' if now else ''}"
    yield _one_line(where)
    row = Table.grid(padding=(0, 1))
    text = f"{', '.join(filter(None, [percent_label(progress.share), _unit_left(progress)]))}"
    row.add_row(*([_bar(progress)] if progress.share is not None else []), _one_line(text))
    yield row
    yield _one_line(f"test {progress.number} of {progress.count}, run: {_run_text(progress)}")


def _narrow(progress: Progress) -> Iterator[RenderableType]:
    """Times first, since the end of a line is what is cut."""
    yield _one_line(f"{_unit_left(progress)} {percent_label(progress.share)}".rstrip())
    yield _one_line(f"run: {still_left(progress.run_left)}")
    yield _one_line(f"{progress.test} {progress.name} {progress.step}".rstrip())


def _one_line(text: str) -> RenderableType:
    from rich.text import Text  # noqa: PLC0415

    return Text(visible(text), no_wrap=True, overflow="ellipsis")
