"""A stored run laid out as paper, screen and tables. ``layout`` is loaded when something of it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.report.formats import FORMATS, Format

if TYPE_CHECKING:
    from assay.report.layout import (
        ShownRun,
        build_report,
        records_of_tests,
        render,
        render_pages,
        shown_run,
    )

__all__ = [
    "FORMATS",
    "Format",
    "ShownRun",
    "build_report",
    "records_of_tests",
    "render",
    "render_pages",
    "shown_run",
]


def __getattr__(name: str) -> Any:
    """Find what the package exports in ``layout``, which takes a second to load."""
    if name in __all__:
        return getattr(import_module("assay.report.layout"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
