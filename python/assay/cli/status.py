"""``assay status``: how far a run is, or how it ended; with ``--follow`` a line for each of its seconds."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand, json_option
from assay.cli.config import output_folder
from assay.cli.progress_lines import left_label, percent_label, span_label, time_label
from assay.cli.stored_runs import limits_label, say_left_changed
from assay.errors import UsageError
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.outcomes import ending_label
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.run.store.live import LiveLine, LiveSums
    from assay.run.store.progress_file import KeptProgress
    from assay.run.store.status import RunState


_STATES = {
    "running": "running",
    "suspended": "suspended: its process was stopped by a signal; kill -CONT lets it go on",
    "finished": "finished",
    "ended-early": "ended early",
    "dead": "dead: its process was killed, or the host went down; what was measured is kept",
}
_SILENT_NS = 60 * 10**9
_LOOK_S = 0.5


@click.command(cls=HelpedCommand, examples=("status", "status runs/p1 --follow"))
@click.argument("run", type=click.Path(path_type=Path), metavar="[RUN]", required=False)
@json_option
@click.option("--follow", is_flag=True, help="Print a line a second until the run ends.")
def status(run: Path | None, *, as_json: bool, follow: bool) -> None:
    """Show the progress or the outcome of RUN; default: the newest run in runs.

    It distinguishes a running test from a killed run, and disturbs neither. The exit code is always 0.

    --follow prints IOPS, throughput, mean and maximum response time of each second, those of the last hour first. With
    --json each line is a JSON object; its keys are in docs/formats/run-folder.md. Ctrl-C ends it with 130.
    """
    from assay.run.store.status import newest_run, run_state  # noqa: PLC0415

    if not sys.stderr.isatty():
        # On a terminal every command says it.
        say_left_changed()
    folder = run or newest_run(output_folder())
    if folder is None:
        raise UsageError(str(output_folder()), "holds no run", "name a run folder")
    state = run_state(folder)
    if follow:
        follow_run(folder, as_json=as_json)
        state = run_state(folder)
    if as_json:
        click.echo(json.dumps(_facts(state), indent=None if follow else 2))
        return
    for name, text in _rows(state, time.time_ns()):
        click.echo(f"{name:<10}{visible(text)}")


def _facts(state: RunState) -> dict[str, Any]:
    return {
        "run": str(state.folder),
        "state": state.state,
        "started_wall_ns": state.started_wall_ns,
        "last_wall_ns": state.last_wall_ns,
        "exit_code": state.exit_code,
        "message": state.message,
        "limit_count": state.limit_count,
        "tests": [{"test": test, "ended": ended} for test, ended in state.tests],
        "progress": asdict(state.progress) if state.progress else None,
    }


def _rows(state: RunState, now_ns: int) -> Iterator[tuple[str, str]]:
    """The lines of a run, by name. now_ns : wall clock."""
    goes_on = state.state in {"running", "suspended"}
    yield "Run", str(state.folder)
    yield "State", _state_label(state, now_ns)
    yield "Started", f"{time_label(state.started_wall_ns)}, {span_label(max(now_ns - state.started_wall_ns, 0))} ago"
    for test, ended in state.tests:
        if ended or not goes_on:
            yield "Test", f"{test}: {ending_label(ended) if ended else 'it did not end'}"
    if state.progress and state.state != "finished":
        yield from _progress_rows(state.progress, goes_on=goes_on)
    if not goes_on:
        yield "Last sign", time_label(state.last_wall_ns)
    if state.limit_count and state.exit_code is not None:
        yield "Limits", f"{limits_label(state.limit_count)}: assay limits {state.folder}"
    if state.message:
        yield "Reason", state.message
    if state.state == "dead":
        yield "Report", f"assay report {state.folder}"


def _state_label(state: RunState, now_ns: int) -> str:
    text = _STATES[state.state]
    if state.exit_code is not None:
        return f"{text}, exit code {state.exit_code}"
    if state.state == "running" and state.progress:
        silent_ns = now_ns - state.last_wall_ns
        quiet = f", no sign for {span_label(silent_ns)}" if silent_ns > _SILENT_NS else ""
        return f"{text}, process {state.progress.pid}{quiet}"
    return text


def _progress_rows(kept: KeptProgress, *, goes_on: bool) -> Iterator[tuple[str, str]]:
    """How far it is; of one that died, how far it was."""
    cell = f"cell {kept.step_number} of {kept.step_count}" if kept.step and kept.step_count > 1 else ""
    where = f"{kept.test} (test {kept.test_number} of {kept.test_count})" if kept.test else "before its first test"
    yield "Now" if goes_on else "Was at", ", ".join(filter(None, [where, kept.name, kept.step, cell]))
    if not goes_on:
        return
    share = percent_label(kept.share)
    yield "Phase", ", ".join(filter(None, [share, f"time left: {left_label(kept.left)}"]))
    yield "Left", f"test: {left_label(kept.test_left)}; run: {left_label(kept.run_left)}"
    if kept.run_left and kept.run_left.latest_ns is not None:
        first, last = (kept.wall_ns + at for at in (kept.run_left.earliest_ns, kept.run_left.latest_ns))
        yield "End", f"{time_label(first)} to {time_label(last)}, report not counted"
    yield "As of", time_label(kept.wall_ns)


def follow_run(folder: Path, *, as_json: bool) -> None:
    """Print the lines of the last hour and every new one, until the run ends. Raises KeyboardInterrupt."""
    from assay.run.store.live import LiveReader, line_facts  # noqa: PLC0415
    from assay.run.store.lock import is_going  # noqa: PLC0415

    reader, goes_on = LiveReader(folder), True
    while goes_on:
        # The lock before the lines: those of a run that ends in between are still there, or gone with it.
        goes_on = is_going(folder)
        for line in reader.lines():
            click.echo(json.dumps(line_facts(line)) if as_json else line_text(line))
        if goes_on:
            time.sleep(_LOOK_S)


def line_text(line: LiveLine) -> str:
    """A line for people: rates over the device time that it covers.

    Worked: ``2026-01-02 03:04:05  read 16,700 IOPS, 68.4 MB/s, mean 0.48 ms, max 3.20 ms``; a line without an I/O says
    ``no I/O completed``.
    """
    sides = (("read", line.read), ("write", line.write), ("trim or flush", line.other))
    parts = [f"{name} {sums_label(sums, line.covered_ns)}" for name, sums in sides if sums.io_count]
    covered = "" if line.covered_ns == SECOND_NS else f"; {line.covered_ns / SECOND_NS:,.1f} s of device time"
    return f"{time_label(line.wall_ns)}  {'; '.join(parts) or 'no I/O completed'}{covered}"


def sums_label(sums: LiveSums, covered_ns: int) -> str:
    """Rate, throughput (MB, base 10), mean and maximum response time.

    Worked: 500 I/Os of 4,096 bytes in 1 s, 1 s of response time -> ``500 IOPS, 2.05 MB/s, mean 2.00 ms, max 5.00 ms``.
    """
    iops = sums.io_count * SECOND_NS / covered_ns
    megabytes = sums.transfer_bytes * SECOND_NS / covered_ns / 1e6
    mean_ms, max_ms = (ns / MILLISECOND_NS for ns in (sums.latency_ns_sum / sums.io_count, sums.latency_ns_max))
    return f"{iops:,.0f} IOPS, {megabytes:,.2f} MB/s, mean {mean_ms:,.2f} ms, max {max_ms:,.2f} ms"
