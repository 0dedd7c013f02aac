"""Where a run comes from, held against the keys that this user trusts."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

import click

from assay.words.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.verify import Verification
    from assay.engine.records import StoredRun
    from assay.summary.record import RunSummary

_LARGE_BYTES = 10_000_000
"""Some 2 s of checking, and more."""


def with_level(run: StoredRun, folder: Path) -> StoredRun:
    """A run with its level, as ``archive.levels`` has it; what takes a while, or fails, is said on standard error."""
    from assay.archive import levels  # noqa: PLC0415

    return levels.with_level(run, folder, host_id(), verify=_verify, unkept=_tell_unkept)


def shown_run(folder: Path) -> StoredRun:
    """A run folder with its level; what of it is unfinished is said on standard error. Raises AssayError."""
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.cli.notice import say_unfinished  # noqa: PLC0415

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


def _verify(folder: Path) -> Verification:
    """Check a run; that it takes a while is said on a terminal."""
    from assay.archive.verify import verify_run  # noqa: PLC0415

    if sys.stderr.isatty() and _bytes(folder) > _LARGE_BYTES:
        text = f"{folder}: checked against the rules, once; this takes as long as assay verify"
        click.echo(f"assay: {visible(text)}", err=True)
    return verify_run(folder)


def _bytes(folder: Path) -> int:
    files = (os.lstat(f"{above}/{name}").st_size for above, _, names in os.walk(folder) for name in names)
    return sum(files)


@cache
def _tell_unkept(reason: str) -> None:
    """Said once in a process."""
    text = f"the state folder cannot be used: {reason}; each display checks its runs again"
    click.echo(f"assay: {visible(text)}", err=True)
