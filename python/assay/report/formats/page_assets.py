"""Style, scripts and fonts of a page: inside its file, or linked where a server has them."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

from assay.report.drawing import screen_rules

ASSETS = Path(__file__).parents[1] / "assets"
SCRIPTS = ("places.js", "figures.js", "report.js", "search.js")
"""In this order one script: what the first names the others use."""
STYLES = ("report.css", "front.css", "figures.css")
FACES = ((400, "IBMPlexSans-Regular-Latin1.woff2"), (700, "IBMPlexSans-SemiBold-Latin1.woff2"))
_UNSCRIPTED = (
    ".fold::details-content, .form::details-content, .annex::details-content "
    "{ content-visibility: visible; display: block; }"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAssets:
    """What a page needs beside its content. policy : its content security policy. head, end : elements of both ends."""

    policy: str
    head: Markup
    end: Markup


@cache
def inlined() -> PageAssets:
    """Everything in the page, which then asks the network for nothing; each part is named by its hash."""
    style, script = f"{_fonts()}{_style()}", _script()
    styles = " ".join(map(_hashed, (style, _UNSCRIPTED)))
    return PageAssets(
        policy=_policy(styles=styles, scripts=_hashed(script), fonts="data:"),
        head=Markup(f"<style>{style}</style>\n<noscript><style>{_UNSCRIPTED}</style></noscript>"),  # noqa: S704 - ours
        end=Markup(f"<script>{script}</script>"),  # noqa: S704 - ours
    )


def linked(address: str) -> PageAssets:
    """Everything below an address of the same server, which has ``asset_files``.

    Worked: ``/assets`` -> a link to ``/assets/page.css`` and a script of ``/assets/page.js``.
    """
    return PageAssets(
        # The server's own frame around the page asks it for what has changed.
        policy=_policy(styles="'self'", scripts="'self'", fonts="'self'") + "; connect-src 'self'",
        head=Markup('<link rel="stylesheet" href="{}/page.css">').format(address),
        end=Markup('<script src="{}/page.js"></script>').format(address),
    )


def asset_files() -> dict[str, bytes]:
    """What ``linked`` pages ask for, by name."""
    faces = "".join(_face(weight, f'url("{name}")') for weight, name in FACES)
    fonts = {name: (ASSETS / "fonts" / name).read_bytes() for _, name in FACES}
    return {"page.css": f"{faces}{_style()}".encode(), "page.js": _script().encode(), **fonts}


def _style() -> str:
    return "\n".join((*map(_asset, STYLES), screen_rules()))


def _script() -> str:
    return "\n".join(map(_asset, SCRIPTS))


def _fonts() -> str:
    def packed(name: str) -> str:
        return base64.b64encode((ASSETS / "fonts" / name).read_bytes()).decode("ascii")

    return "".join(_face(weight, f'url("data:font/woff2;base64,{packed(name)}")') for weight, name in FACES)


def _face(weight: int, address: str) -> str:
    """A font as a rule of a style sheet."""
    return f'@font-face{{font-family:"IBM Plex Sans";font-weight:{weight};src:{address} format("woff2")}}'


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8").strip()


def _policy(*, styles: str, scripts: str, fonts: str) -> str:
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; font-src {fonts}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
