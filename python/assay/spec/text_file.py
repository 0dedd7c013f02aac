"""Text files that the user names, of whatever tool: read whole and bounded, with or without a byte order mark.

Every reader of such files comes through here, so that none takes what another refuses.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from assay.errors import PlanError
from assay.spec.files import open_named

if TYPE_CHECKING:
    from pathlib import Path


def named_bytes(path: Path, *, bytes_max: int, remedy: str) -> bytes:
    """The bytes of a file without a byte order mark. bytes_max : in whole MiB. Raises PlanError for a larger one."""
    try:
        with open_named(path) as file:
            raw = file.read(bytes_max + 1)
    except OSError as error:
        raise PlanError(str(path), error.strerror or "cannot be read", remedy) from None
    if len(raw) > bytes_max:
        raise PlanError(str(path), f"is larger than {bytes_max >> 20} MiB", remedy)
    return without_mark(raw)


def named_text(path: Path, *, bytes_max: int, remedy: str) -> str:
    """Read a named file as UTF-8 text. Raises PlanError if it is none."""
    try:
        return named_bytes(path, bytes_max=bytes_max, remedy=remedy).decode("utf-8")
    except UnicodeDecodeError:
        raise PlanError(str(path), "is not UTF-8 text", remedy) from None


def without_mark(content: bytes) -> bytes:
    """The beginning of a file without the mark that some editors write there."""
    return content.removeprefix(codecs.BOM_UTF8)
