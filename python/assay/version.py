"""The version of this tool, for what is written and for what says who wrote it."""

from __future__ import annotations


def tool_version() -> str:
    """The version that is installed; ``unknown`` where none is. Worked: ``"0.1.0"``."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - it takes a while to load

    try:
        return version("assay")
    except PackageNotFoundError:
        return "unknown"
