"""The screen report: one file that needs nothing else and asks the network for nothing.

Every text is escaped by the template engine; the two scripts are named by their hashes in the content
security policy, so no other script can run even where a text slipped through.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from assay.report.embedded import data_address
from assay.report.interactive import plotly_figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.pages.model import Report

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("plotly-gl3d.min.js", "report.js")


def report_html(report: Report, pictures: Mapping[str, bytes]) -> bytes:
    """Lay out a report as one self-contained HTML file, UTF-8, the same bytes each time.

    pictures : SVG text by figure name; shown on paper, and on screen where no script runs.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [_asset(name) for name in SCRIPTS]
    text = environment.get_template("report.html.j2").render(
        report=report,
        style=_asset("report.css"),
        scripts=scripts,
        policy=_policy(scripts),
        pictures={name: Markup(data_address(picture)) for name, picture in pictures.items()},  # noqa: S704 - quoted
        # The bundle has no heat maps: those stay vector pictures.
        figures={figure.name: plotly_figure(figure) for figure in report.screen_figures if figure.kind != "heat"},
    )
    return text.encode("utf-8")


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8").strip()


def _policy(scripts: list[str]) -> str:
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
