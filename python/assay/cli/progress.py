"""Shows the progress of a run: bars with ETA on a terminal, plain lines in a log."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from assay.engine.records import SteadyVerdict
    from assay.procedures.until import RoundOutcome
    from assay.run.progress import Progress


_DIGITS = 5
"""That the average of a verdict is shown with; what is compared with it has the same decimals."""


def display() -> TerminalDisplay | LogDisplay:
    """The display that fits standard output."""
    return TerminalDisplay() if sys.stdout.isatty() else LogDisplay()


class LogDisplay:
    """One plain line per phase and round."""

    def __init__(self) -> None:
        self._shown = ""
        self._gone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: Progress) -> None:
        """Print what is new. A run goes on when nobody reads its log any more."""
        if progress.advice:
            self._print(f"{_stamp()} {progress.advice}")
        elif progress.judged:
            self._print(f"{_stamp()} {progress.test} {_judged_line(progress.phase, progress.judged)}")
        elif (shown := _log_line(progress)) != self._shown:
            self._print(f"{_stamp()} {shown}")
            self._shown = shown

    def _print(self, line: str) -> None:
        try:
            if not self._gone:
                click.echo(line)
        except OSError:
            self._gone = True


class TerminalDisplay:
    """Two bars, to the end of the round and to the worst case, with the cell that runs and what it does now."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415

        self._console = Console()
        self._bars: Bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("to go"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[now]}"),
            console=self._console,
            refresh_per_second=2,
        )
        self._unit = self._bars.add_task("starting", total=None, now="")
        self._whole = self._bars.add_task("", total=None, now="", visible=False)
        self._shown = ("", "", 0)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def show(self, progress: Progress) -> None:
        """Move the bars; print a line per finished round."""
        if progress.advice or progress.judged:
            judged = progress.judged and f"{progress.test} {_judged_line(progress.phase, progress.judged)}"
            self._console.print(progress.advice or judged, markup=False, highlight=False)
            return
        self._begin(progress)
        where = f"{progress.test} {_phase_label(progress)} {progress.step}".rstrip()
        total = progress.unit_ns or None
        self._bars.update(
            self._unit, description=where, completed=progress.unit_done_ns, total=total, now=_now(progress)
        )
        self._bars.update(self._whole, completed=progress.done_ns)

    def _begin(self, progress: Progress) -> None:
        """Start a bar anew where another round, or another test, begins: its time to go is its own."""
        shown = (progress.test, progress.phase, progress.index)
        if shown[0] != self._shown[0] or (progress.done_ns and not self._bars.tasks[self._whole].visible):
            limit = f"{progress.test} worst case" if progress.latest_ns else f"{progress.test} earliest end"
            total = progress.latest_ns or max(progress.earliest_ns, progress.done_ns)
            self._bars.reset(self._whole, total=total, description=limit, visible=progress.done_ns > 0)
        if shown != self._shown:
            self._bars.reset(self._unit, total=None)
        self._shown = shown


def _log_line(progress: Progress) -> str:
    """Where a run is, for a log: a purge also tells each tenth that is done."""
    tenth = progress.step if progress.phase == "purge" else ""
    return f"{progress.test} {progress.phase} {tenth}".rstrip()


def _phase_label(progress: Progress) -> str:
    names = {"round": f"round {progress.index}", "sample": f"samples {progress.index}"}
    if progress.phase in {"pre-write", "point"}:
        return f"{progress.phase} {progress.index}"
    return names.get(progress.phase, progress.phase)


def _now(progress: Progress) -> str:
    """What the drive does now. Worked: 29,876.4 IOPS at 0.2677 ms -> ``"29,876 IOPS 0.268 ms"``."""
    if progress.iops is None:
        return ""
    latency = "" if progress.latency_ms is None else f" {progress.latency_ms:.3f} ms"
    return f"{progress.iops:,.0f} IOPS{latency}"


def _judged_line(phase: str, judged: RoundOutcome) -> str:
    from assay.results import iops  # noqa: PLC0415
    from assay.spec.units import duration_label  # noqa: PLC0415

    span = duration_label(sum(step.span_ns for step in judged.steps))
    noun = "cells" if phase == "round" else "samples"
    name = "round" if phase == "round" else "samples"
    done = f"{name} {judged.index}: {len(judged.steps)} {noun} in {span}"
    if phase == "sample":
        done += f", last {float(iops(judged.steps[-1])):,.1f} IOPS"
    if judged.void:
        done += f", VOID: {judged.void}"
    if judged.silent:
        return f"{done}: NO I/O COMPLETED in {judged.silent.label}, the results are withheld"
    if judged.window is None:
        return done
    verdicts = "; ".join(f"{name} {_verdict_text(verdict)}" for name, verdict in judged.window.verdicts.items())
    return f"{done}: {'steady' if judged.window.reached else 'not steady yet'} ({verdicts})"


def _verdict_text(verdict: SteadyVerdict) -> str:
    """A verdict with as many decimals throughout as give its average five digits.

    Worked: ``average 83,715, excursion 25,911 of 16,743, slope 8,371 of 8,372``; five decimals for one of 0.31036.
    """
    average = abs(verdict.average)
    decimals = max(_DIGITS - 1 - math.floor(math.log10(average)), 0) if average else 0
    values = (
        verdict.average,
        verdict.excursion_measured,
        verdict.excursion_allowed,
        verdict.slope_measured,
        verdict.slope_allowed,
    )
    average_text, *others = (f"{value:,.{decimals}f}" for value in values)
    return "average {}, excursion {} of {}, slope {} of {}".format(average_text, *others)


def _stamp() -> str:
    return time.strftime("%H:%M:%S")
