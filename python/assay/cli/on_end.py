"""A command of the user's that is run when a run has ended, well or not."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from assay.errors import (
    EXIT_NOT_MET,
    EXIT_NOT_STEADY,
    EXIT_OK,
    EXIT_WITHHELD,
    AssayError,
    InternalError,
    InterruptedRunError,
    SystemRefusedError,
)
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.cli.progress import RunDisplay

_OUTCOMES = {EXIT_OK: "ok", EXIT_WITHHELD: "withheld", EXIT_NOT_STEADY: "not-steady", EXIT_NOT_MET: "limits"}


@dataclass
class RunEnd:
    """How a run ended. outcome : empty where its exit code says it."""

    exit_code: int = EXIT_OK
    outcome: str = ""


@contextmanager
def command_at_end(command: str | None, display: RunDisplay) -> Iterator[RunEnd]:
    """Run a command in a shell behind the block, whichever way it is left, and let what it raised go on.

    command : None for none. display : knows the folder of the run.
    The drive is let go of by then and the report is written, so that nothing that is measured is disturbed.
    """
    end = RunEnd()
    try:
        yield end
    except AssayError as error:
        end.exit_code, end.outcome = error.exit_code, error.slug
        raise
    except (KeyboardInterrupt, click.Abort):
        end.exit_code, end.outcome = InterruptedRunError.exit_code, InterruptedRunError.slug
        raise
    except (OSError, MemoryError):
        end.exit_code, end.outcome = SystemRefusedError.exit_code, SystemRefusedError.slug
        raise
    except BaseException:
        end.exit_code, end.outcome = InternalError.exit_code, InternalError.slug
        raise
    finally:
        if command:
            _run(command, end, str(display.folder.resolve()) if display.folder else "")


def _run(command: str, end: RunEnd, folder: str) -> None:
    """Run it to its end; its failure is said and changes nothing. What it prints goes to standard error."""
    outcome = end.outcome or _OUTCOMES.get(end.exit_code, "ended")
    told = {"ASSAY_RUN": folder, "ASSAY_EXIT_CODE": str(end.exit_code), "ASSAY_OUTCOME": outcome}
    sys.stdout.flush()
    code: int | str
    try:
        code = subprocess.run(  # noqa: S602 - a shell is what the user asked for
            command, shell=True, check=False, env={**os.environ, **told}, stdin=subprocess.DEVNULL, stdout=sys.stderr
        ).returncode
    except (OSError, ValueError, KeyboardInterrupt) as error:
        code = getattr(error, "strerror", None) or type(error).__name__
    if code:
        click.echo(f"assay: --on-end {visible(command)}: ended with {code}; the run is not affected", err=True)
