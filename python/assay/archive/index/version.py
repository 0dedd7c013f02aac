"""Which form of the index this version knows, and what its rows were made by."""

from __future__ import annotations

from functools import cache

from assay.version import tool_version

SCHEMA = 4
"""The last migration. One that is newer is of a newer version of Assay."""

VERSION_TABLE = "assay_index_version"

_ROWS = 5
"""Raised where the same run folder gives other rows: all are then read again."""


@cache
def made_by() -> str:
    """What rows are made by. Worked: ``"assay 0.1.0, rows 1"``."""
    return f"assay {tool_version()}, rows {_ROWS}"
