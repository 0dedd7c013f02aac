"""Shows the progress of a run: bars with ETA on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

import click

from assay.units import duration_label, seconds

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from assay.rounds import JudgedRound
    from assay.session import Progress


def display() -> TerminalDisplay | LogDisplay:
    """The display that fits standard output."""
    return TerminalDisplay() if sys.stdout.isatty() else LogDisplay()


class LogDisplay:
    """One plain line per phase and round."""

    def __init__(self) -> None:
        self._phase = ""
        self._gone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: Progress) -> None:
        """Print what is new. A run goes on when nobody reads its log any more."""
        if progress.judged:
            self._print(f"{_stamp()} {progress.test} {_round_line(progress.judged)}")
        elif progress.phase != self._phase:
            self._print(f"{_stamp()} {progress.test} {progress.phase}")
        self._phase = progress.phase

    def _print(self, line: str) -> None:
        try:
            if not self._gone:
                click.echo(line)
        except OSError:
            self._gone = True


class TerminalDisplay:
    """A bar to the earliest end of the test, with the cell that runs and an ETA."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415

        self._console = Console()
        self._bars: Bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("earliest end in"),
            TimeRemainingColumn(),
            console=self._console,
            refresh_per_second=2,
        )
        self._task = self._bars.add_task("starting", total=None)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def show(self, progress: Progress) -> None:
        """Move the bar; print a line per finished round."""
        if progress.judged:
            self._console.print(f"{progress.test} {_round_line(progress.judged)}", markup=False, highlight=False)
            return
        where = f"round {progress.round_index} {progress.step}" if progress.round_index else progress.phase
        total = max(progress.planned_ns, progress.done_ns) if progress.round_index else None
        self._bars.update(self._task, description=f"{progress.test} {where}", completed=progress.done_ns, total=total)


def _round_line(judged: JudgedRound) -> str:
    cells = judged.round.cells
    span = duration_label(sum(cell.span_ns for cell in cells))
    window = judged.window
    if window is None:
        return f"round {judged.round.index}: {len(cells)} cells in {span}"
    verdicts = "; ".join(
        f"{name} average {verdict.average:.6g}, excursion {verdict.excursion_measured:.4g} of "
        f"{verdict.excursion_allowed:.4g}, slope {verdict.slope_measured:.4g} of {verdict.slope_allowed:.4g}"
        for name, verdict in window.verdicts.items()
    )
    state = "steady" if window.reached else "not steady yet"
    return f"round {judged.round.index}: {state} ({verdicts})"


def _stamp() -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds(time.time_ns())))
