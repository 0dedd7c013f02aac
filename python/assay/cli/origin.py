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

_LARGE_BYTES = 10_000_000
"""Some 2 s of checking, and more."""


def with_level(run: StoredRun, folder: Path) -> StoredRun:
    """A run with its level. Where this user has not checked it yet, it is checked now, as ``assay verify`` does.

    That is done once for a run: how it came out is kept in the user's state folder.
    Raises StoreError where the keys that are trusted cannot be read.
    """
    from assay.archive.checks.checker import check_run  # noqa: PLC0415

    result = check_run(run, folder, _verify)
    if result.unkept is not None:
        _tell_unkept(result.unkept)
    return _with_origin(run, folder, checked=result.passed, whole=True)


def with_known_level(run: StoredRun, folder: Path) -> StoredRun:
    """A run with its level as far as it was checked before. Captures are not held against a bundle. Raises as above."""
    from assay.archive.checks.checker import known_check  # noqa: PLC0415

    return _with_origin(run, folder, checked=known_check(run, folder), whole=False)


def _with_origin(run: StoredRun, folder: Path, *, checked: bool | None, whole: bool) -> StoredRun:
    from assay.archive.bundle import trusted_keys, with_origin  # noqa: PLC0415
    from assay.cli.config import config_folder  # noqa: PLC0415

    keys = trusted_keys(config_folder())
    return with_origin(run, folder, keys, host_id=_host_id(), checked=checked, whole=whole)


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


@cache
def _host_id() -> str | None:
    from assay.dut.real.platform import host_id  # noqa: PLC0415

    return host_id()
