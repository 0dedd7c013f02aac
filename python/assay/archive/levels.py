"""How far a run is to be trusted: where it comes from, held against the keys that this user trusts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.checks.checker import check_run, known_check
from assay.archive.verify import verify_run
from assay.spec.files import config_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.archive.verify import Verification
    from assay.engine.records import StoredRun


def with_level(
    run: StoredRun,
    folder: Path,
    host_id: str | None,
    *,
    verify: Callable[[Path], Verification] = verify_run,
    unkept: Callable[[str], None] = lambda _: None,
) -> StoredRun:
    """A run with its level. Where this user has not checked it yet, it is checked now, as ``assay verify`` does.

    That is done once for a run: how it came out is kept in the user's state folder. unkept : told why, where it is not.
    host_id : of this host. Raises StoreError where the keys that are trusted cannot be read.
    """
    result = check_run(run, folder, verify)
    if result.unkept is not None:
        unkept(result.unkept)
    return _with_origin(run, folder, host_id, checked=result.passed, whole=True)


def with_known_level(run: StoredRun, folder: Path, host_id: str | None) -> StoredRun:
    """A run with its level as far as it was checked before. Captures are not held against a bundle. Raises as above."""
    return _with_origin(run, folder, host_id, checked=known_check(run, folder), whole=False)


def _with_origin(run: StoredRun, folder: Path, host_id: str | None, *, checked: bool | None, whole: bool) -> StoredRun:
    from assay.archive.bundle import trusted_keys, with_origin  # noqa: PLC0415 - heavy

    keys = trusted_keys(config_folder())
    return with_origin(run, folder, keys, host_id=host_id, checked=checked, whole=whole)
