"""What is said on standard error of every run that a command opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun


def say_unfinished(folder: Path, run: StoredRun) -> None:
    """Say where a journal does not end as that of a finished run does: it may have been cut."""
    if run.journal is not None and not run.journal.complete:
        text = (
            f"{folder}: unfinished or cut: its journal ends after {run.journal.line_count} lines, without the run's end"
        )
        click.echo(f"assay: {visible(text)}", err=True)


def say_left_changed() -> None:
    """Say what runs that were killed have left changed in the kernel or a drive, and how it is put back."""
    from assay.dut.real.notes import left_changed  # noqa: PLC0415

    for line in left_changed():
        click.echo(f"assay: {visible(line)}", err=True)
