"""What is said on standard error of every run that a command opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engine.records import StoredRun


def say_unfinished(folder: Path, run: StoredRun) -> None:
    """Say where a journal does not end as that of a finished run does, and which test did not run to its end."""
    for text in unfinished(run):
        click.echo(f"assay: {visible(f'{folder}: {text}')}", err=True)


def unfinished(run: StoredRun) -> Iterator[str]:
    """What of a run is missing, a line each; nothing where it ran to its end.

    Worked: Ctrl-C in the second test -> ``"cut short: lat ended with interrupted; its results are withheld"``.
    """
    from assay.results import ran_to_its_end  # noqa: PLC0415
    from assay.results.silent import NO_COMPLETIONS  # noqa: PLC0415

    if run.journal is not None and not run.journal.complete:
        yield f"unfinished or cut: its journal ends after {run.journal.line_count} lines, without the run's end"
    for test in run.tests:
        if test.ended is not None and test.ended != NO_COMPLETIONS and not ran_to_its_end(test):
            yield f"cut short: {test.settings.test} ended with {test.ended}; its results are withheld"


def say_left_changed() -> None:
    """Say what runs that were killed have left changed in the kernel or a drive, and how it is put back."""
    from assay.dut.real.notes import left_changed  # noqa: PLC0415

    for line in left_changed():
        click.echo(f"assay: {visible(line)}", err=True)
