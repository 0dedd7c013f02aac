"""A site of run folders for tests, and a client with or without a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.location import Place
from assay.web.app import make_app
from assay.web.guard import change_token
from assay.web.serving import Serving, site_of
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from pathlib import Path

    from assay.web.links import Role
    from assay.web.site import Site

HOST = "http://127.0.0.1:8375"


def site_in(folder: Path, *folders: Path) -> Site:
    """A site with its index, and perhaps an agent, in a folder. folders : of runs; else ``folder / "runs"``."""
    runs = folder / "runs"
    runs.mkdir(exist_ok=True)
    place = Place(shown="index", path=folder / "index.sqlite")
    serving = Serving(folders=folders or (runs,), place=place, agent=folder / "agent.sock")
    return site_of(serving, 8375, lambda: False)


def client_of(site: Site, role: Role | None = None) -> TestClient:
    """A browser; with a role, one that opened a link."""
    client = TestClient(make_app(site), base_url=HOST, raise_server_exceptions=True)
    if role is not None:
        opened = site.links.opened(site.links.make(role, 1)[1])
        assert opened
        client.cookies.set(site.rules.cookie, opened[1])
        client.headers["x-assay-token"] = change_token(opened[1])
    return client
