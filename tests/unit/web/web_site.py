"""A site of run folders for tests, and a client with or without a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.location import Place
from assay.archive.index.read import reading
from assay.archive.index.search import Query, found
from assay.web.app import make_app
from assay.web.guard import change_token
from assay.web.serving import Serving, site_of
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.index.search import FoundRun
    from assay.web.links import Role
    from assay.web.site import Site

HOST = "http://127.0.0.1:8375"


def site_in(folder: Path, *folders: Path) -> Site:
    """A site with its index in a folder. folders : of runs; else ``folder / "runs"``."""
    runs = folder / "runs"
    runs.mkdir(exist_ok=True)
    place = Place(shown="index", path=folder / "index.sqlite")
    return site_of(Serving(folders=folders or (runs,), place=place), 8375, lambda: False)


def client_of(site: Site, role: Role | None = None) -> TestClient:
    """A browser; with a role, one that opened a link."""
    client = TestClient(make_app(site), base_url=HOST, raise_server_exceptions=True)
    if role is not None:
        opened = site.links.opened(site.links.make(role, 1)[1])
        assert opened
        client.cookies.set(site.rules.cookie, opened[1])
        client.headers["x-assay-token"] = change_token(opened[1])
    return client


def indexed(site: Site) -> FoundRun:
    """The only run of the index of a site."""
    with reading(site.place) as reader:
        assert reader
        (run,) = found(reader, Query(hidden=True, missing=True)).runs
    return run
