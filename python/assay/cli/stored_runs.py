"""Stored runs as commands open them: their level of trust, and what is printed of each on standard error."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

import click

from assay.words.outcomes import ending_label, is_cut_short
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.archive.verify import Verification
    from assay.engine.records import StoredRun
    from assay.summary.forms import ListedRun
    from assay.summary.record import RunSummary


_LARGE_BYTES = 10_000_000
"""Some 2 s of checking, and more."""


def with_level(run: StoredRun, folder: Path) -> StoredRun:
    """A run with its level, from ``archive.levels``. Long checks and failures are named on standard error."""
    from assay.archive import levels  # noqa: PLC0415

    return levels.with_level(run, folder, host_id(), verify=_verify_noted, unkept=_tell_unkept)


def shown_run(folder: Path) -> StoredRun:
    """A run folder with its level; unfinished parts are named on standard error. Raises AssayError."""
    from assay.archive.rendering import stored_run  # noqa: PLC0415

    run = with_level(stored_run(folder), folder)
    say_unfinished(folder, run)
    return run


def summed_up(run: StoredRun, folder: Path) -> RunSummary:
    """The summary of a run, which is kept for the next time. Raises as ``archive.rendering.run_summary``."""
    from assay.archive.kept import keep_summary  # noqa: PLC0415
    from assay.archive.rendering import run_summary  # noqa: PLC0415

    summary = run_summary(run, folder)
    keep_summary(run, folder, summary, host_id())
    return summary


def with_known_level(run: StoredRun, folder: Path) -> StoredRun:
    """A run with its level as far as it was checked before. Raises as above."""
    from assay.archive import levels  # noqa: PLC0415

    return levels.with_known_level(run, folder, host_id())


@cache
def host_id() -> str | None:
    """The ID of this host; None where it has none."""
    from assay.dut.real import platform  # noqa: PLC0415

    return platform.host_id()


def _verify_noted(folder: Path) -> Verification:
    """Check a run; on a terminal, a line names a long check first."""
    from assay.archive.verify import verify_run  # noqa: PLC0415

    sizes = (os.lstat(f"{above}/{name}").st_size for above, _, names in os.walk(folder) for name in names)
    if sys.stderr.isatty() and sum(sizes) > _LARGE_BYTES:
        text = f"{folder}: checked against the rules, once; this takes as long as assay verify"
        click.echo(f"assay: {visible(text)}", err=True)
    return verify_run(folder)


@cache
def _tell_unkept(reason: str) -> None:
    """Said once in a process."""
    text = f"the state folder cannot be used: {reason}; each display checks its runs again"
    click.echo(f"assay: {visible(text)}", err=True)


def say_unfinished(folder: Path, run: StoredRun) -> None:
    """Say where a journal does not end as that of a finished run does, and which test did not run to its end."""
    for text in unfinished(run):
        click.echo(f"assay: {visible(f'{folder}: {text}')}", err=True)


def unfinished(run: StoredRun) -> Iterator[str]:
    """Missing parts of a run, a line each; none if it ran to its end.

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
    """Words for limits that an exit code does not cover; the command that judges them follows."""
    return f"{count} of its plan, not in the exit code; judged by"


def say_left_changed() -> None:
    """Say what runs that were killed have left changed in the kernel or a drive, and how it is put back."""
    from assay.dut.real.notes import left_changed  # noqa: PLC0415

    for line in left_changed():
        click.echo(f"assay: {visible(line)}", err=True)
