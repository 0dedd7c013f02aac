"""Where a run comes from, held against the keys that this user trusts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun


def with_level(run: StoredRun, folder: Path, *, whole: bool = True) -> StoredRun:
    """A run with its level. whole : hold captured completions against the bundle, too, which may take a while.

    Raises StoreError where the keys that are trusted cannot be read.
    """
    from assay.archive.bundle import trusted_keys, with_origin  # noqa: PLC0415
    from assay.cli.config import config_folder  # noqa: PLC0415

    return with_origin(run, folder, trusted_keys(config_folder()), host_id=_host_id(), whole=whole)


@cache
def _host_id() -> str | None:
    from assay.dut.real.platform import host_id  # noqa: PLC0415

    return host_id()
