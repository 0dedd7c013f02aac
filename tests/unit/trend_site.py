"""A site on an index, asked in the process: as a browser with a session, or as a program with a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.web.app import make_app
from assay.web.serving import Serving, site_of
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.index.location import Place
    from assay.web.links import Role
    from assay.web.site import Site

PORT = 8375


def site_at(folder: Path, place: Place, *, metrics_identity: bool = False) -> Site:
    """The site of a folder of runs. Its state is in XDG_STATE_HOME, which a test sets to a folder."""
    serving = Serving(folders=(folder,), place=place, metrics_identity=metrics_identity)
    return site_of(serving, PORT, lambda: False)


def anyone(site: Site) -> TestClient:
    """A client without a session."""
    return TestClient(make_app(site), base_url=f"http://localhost:{PORT}")


def browser_of(site: Site, role: Role = "viewer") -> TestClient:
    """A client with the session of a role."""
    client = anyone(site)
    _, token = site.links.make(role, 1)
    opened = site.links.opened(token)
    assert opened
    client.cookies.set(site.rules.cookie, opened[1])
    return client


def program_of(site: Site) -> TestClient:
    """A client with the token of a program."""
    client = anyone(site)
    client.headers["authorization"] = f"Bearer {site.links.make('program', 1)[1]}"
    return client
