"""Templates and the files that pages ask for, which no request of a user names by a path."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import jinja2
from markupsafe import Markup

from assay.report.formats.html import asset_files
from assay.words.visible import visible

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
}


def environment(prefix: str, version: str) -> jinja2.Environment:
    """The templates, which escape every text and make it visible. prefix : what stands before every address."""
    result = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=_made_visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result.globals.update(prefix=prefix, version=version)
    result.filters["iso"] = iso
    return result


def _made_visible(value: object) -> object:
    """A text with its control and bidi characters as codes, line by line; anything else as it is."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(visible, value.split("\n")))


def iso(wall_ns: int | None) -> str:
    """A time of the wall clock as ``<time>`` has it, in UTC; ``web.js`` shows it in the viewer's zone.

    Worked: 0 -> ``1970-01-01T00:00:00Z``; beyond any date: empty.
    """
    try:
        return "" if wall_ns is None else f"{datetime.fromtimestamp(wall_ns // 10**9, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return ""


def static_files() -> dict[str, bytes]:
    """The files below ``/assets`` by name, also those of reports."""
    local = {path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.suffix in TYPES}
    return {**asset_files(), **local}
