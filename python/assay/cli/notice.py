"""What is said on standard error of every run that a command opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.words.outcomes import ending_label, is_cut_short
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.summary.forms import ListedRun


def say_unfinished(folder: Path, run: StoredRun) -> None:
    """Say where a journal does not end as that of a finished run does, and which test did not run to its end."""
    for text in unfinished(run):
        click.echo(f"assay: {visible(f'{folder}: {text}')}", err=True)


def unfinished(run: StoredRun) -> Iterator[str]:
    """What of a run is missing, a line each; nothing where it ran to its end.

    Worked: Ctrl-C in the second test -> ``"cut short: lat: it was interrupted; its results are withheld"``.
    """
    if run.journal is not None and not run.journal.complete:
        yield _unfinished(run.journal.line_count)
    ended = ((test.settings.test, test.ended) for test in run.tests if test.ended is not None)
    yield from (_cut_short(name, reason) for name, reason in ended if is_cut_short(reason))


def say_unfinished_listed(run: ListedRun) -> None:
    """Say of a listed run that it is unfinished; a run that cannot be read has its own line there."""
    if run.fault is None:
        lines = [] if run.complete else [_unfinished(run.journal_lines)]
        lines += [_cut_short(test.test, test.ended) for test in run.tests if test.cut_short]
        for text in lines:
            click.echo(f"assay: {visible(f'{run.run}: {text}')}", err=True)


def _unfinished(line_count: int) -> str:
    return f"unfinished or cut: its journal ends after {line_count} lines, without the run's end"


def _cut_short(test: str, ended: str | None) -> str:
    return f"cut short: {test}: {ending_label(ended)}; its results are withheld"


def limits_label(count: int) -> str:
    """What an exit code does not say of a run whose plan states limits; the command that does follows."""
    return f"{count} of its plan, not in the exit code; judged by"


def say_left_changed() -> None:
    """Say what runs that were killed have left changed in the kernel or a drive, and how it is put back."""
    from assay.dut.real.notes import left_changed  # noqa: PLC0415

    for line in left_changed():
        click.echo(f"assay: {visible(line)}", err=True)
