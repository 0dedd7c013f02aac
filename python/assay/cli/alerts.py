"""``assay alerts``: a trial of the alerts of root; and what happens when a run has ended, well or not."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from assay.cli.commands import HelpedCommand
from assay.errors import AssayError, InternalError, InterruptedRunError, PlanError, SystemRefusedError
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.cli.progress import RunDisplay
    from assay.run.ending import RunResult

_ACTIONS = ("test",)


@click.command(cls=HelpedCommand, examples=("alerts test",))
@click.argument("action", metavar="test", type=click.Choice(_ACTIONS))
def alerts(action: str) -> None:
    """Send a trial event to each alert in /etc/assay/alerts.toml, and print each response.

    The event has the form of a run that ended well, with trial = true. It is sent whatever ends an alert is for.

    Exit codes: 0 all were delivered; 1 an alert was not delivered; 2 the file is missing or has faults.
    """
    from assay.run.alerts import ALERTS_FILE, deliveries, read_alerts  # noqa: PLC0415
    from assay.run.ending import trial_end  # noqa: PLC0415

    del action
    entries = read_alerts()
    if not entries:
        raise PlanError(str(ALERTS_FILE), "holds no alert", "write it as docs/guide/alerts.md shows")
    failed = 0
    for delivery in deliveries(entries, trial_end()):
        click.echo(visible(str(delivery)))
        failed += not delivery.delivered
    if failed:
        reason = f"{failed} of {len(entries)} not delivered"
        raise SystemRefusedError("alerts", reason, "correct what is named above and try again")


@dataclass
class RunExit:
    """How a run ended so far. The block of ``at_end`` sets ``result``; an error that leaves the block replaces it."""

    result: RunResult


@contextmanager
def at_end(command: str | None, display: RunDisplay, target: str) -> Iterator[RunExit]:
    """Send alerts and run a command in a shell after the block, whichever way it is left; what it raised goes on.

    command : None for none. display : knows the folder of the run. target : the drive as the plan names it.
    The drive is let go of by then and the report is written, so that nothing that is measured is disturbed.
    Faults of the alerts are shown before the block, so that they can be corrected while the run goes on.
    """
    from assay.run.alerts import alert_faults  # noqa: PLC0415
    from assay.run.ending import RunResult, failed_with  # noqa: PLC0415

    for line in (line for fault in alert_faults() for line in _lines(fault)):
        click.echo(f"assay: alerts: {visible(line)}", err=True)
    end = RunExit(RunResult())
    try:
        yield end
    except AssayError as error:
        end.result = failed_with(error, "; ".join(_lines(error)))
        raise
    except (KeyboardInterrupt, click.Abort):
        end.result = failed_with(InterruptedRunError)
        raise
    except (OSError, MemoryError) as error:
        end.result = failed_with(SystemRefusedError, str(error))
        raise
    except BaseException:
        end.result = failed_with(InternalError)
        raise
    finally:
        _send_alerts(end.result, display, target)
        if command:
            _run(command, end.result, str(display.folder.resolve()) if display.folder else "")


def _lines(error: AssayError) -> list[str]:
    """An error and those that came with it, a line each."""
    return [f"{fault.thing}: {fault.reason}; {fault.remedy}" for fault in (error, *error.further)]


def _send_alerts(result: RunResult, display: RunDisplay, target: str) -> None:
    """Send the alerts of the file as it is now. What goes wrong is shown, kept in run.log, and changes nothing."""
    from assay.run.alerts import deliveries, read_alerts  # noqa: PLC0415
    from assay.run.ending import run_end  # noqa: PLC0415

    try:
        alerts = read_alerts()
        if alerts:
            for delivery in deliveries(alerts, run_end(result, display.folder, target)):
                display.keep(str(delivery))
                if not delivery.delivered:
                    _warn(str(delivery))
    except AssayError as error:
        _fail(display, _lines(error)[0])
    except KeyboardInterrupt:
        _fail(display, "interrupted")
    except Exception as error:  # noqa: BLE001 - a defect in an alert must not change how the run ended
        _fail(display, type(error).__name__)


def _fail(display: RunDisplay, reason: str) -> None:
    line = f"alerts: not sent: {reason}"
    display.keep(line)
    _warn(line)


def _warn(line: str) -> None:
    click.echo(f"assay: {visible(line)}; the run is not affected", err=True)


def _run(command: str, result: RunResult, folder: str) -> None:
    """Run a command to its end. A failure is printed and changes nothing; output goes to standard error."""
    from assay.run.ending import variables_of  # noqa: PLC0415

    variables = variables_of(folder, result.exit_code, result.outcome)
    sys.stdout.flush()
    code: int | str
    try:
        code = subprocess.run(  # noqa: S602 - a shell is what the user asked for
            command,
            shell=True,
            check=False,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        ).returncode
    except (OSError, ValueError, KeyboardInterrupt) as error:
        code = getattr(error, "strerror", None) or type(error).__name__
    if code:
        click.echo(f"assay: --on-end {visible(command)}: ended with {code}; the run is not affected", err=True)
