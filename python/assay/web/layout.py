"""Templates and the files that pages ask for, which no request of a user names by a path."""

from __future__ import annotations

from pathlib import Path

import jinja2

from assay.report.formats.page_assets import asset_files

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
}


def environment(prefix: str, version: str) -> jinja2.Environment:
    """The templates, which escape every text. prefix : what stands before every address."""
    result = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result.globals.update(prefix=prefix, version=version)
    return result


def static_files() -> dict[str, bytes]:
    """What pages ask for below ``/assets``, by name; that of reports, too."""
    local = {path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.suffix in TYPES}
    return {**asset_files(), **local}
