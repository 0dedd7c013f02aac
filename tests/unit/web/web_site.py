"""A site for tests, asked in the process: as a browser of a role, as a program with a token, or as nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.folders import parent_of
from assay.archive.index.folders import site as this_host
from assay.archive.index.location import Place
from assay.archive.index.read import reading
from assay.archive.index.search import Query, find_runs
from assay.web.app import make_app
from assay.web.guard import KEY_HEADER
from assay.web.serving import Serving, site_of
from index_runs import store
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.index.search import FoundRun
    from assay.summary.forms import ListedRun
    from assay.web.links import Role
    from assay.web.site import Site

PORT = 8375
HOST = f"http://127.0.0.1:{PORT}"


def site_in(
    folder: Path, *folders: Path, place: Place | None = None, held: bool = False, metrics_identity: bool = False
) -> Site:
    """A site with its index, and perhaps an agent, in a folder. folders : of runs; else ``folder / "runs"``."""
    if not folders:
        folders = (folder / "runs",)
        folders[0].mkdir(exist_ok=True)
    place = place or Place(shown="index", path=folder / "index.sqlite")
    agent = folder / "agent.sock"
    serving = Serving(folders=folders, place=place, metrics_identity=metrics_identity, agent=agent)
    return site_of(serving, str(PORT), lambda: held)


def site_with(folder: Path, *runs: ListedRun, held: bool = False, **use: object) -> Site:
    """The same, with runs in its index that have no folder. use : of ``DriveUse``, of each."""
    result = site_in(folder, held=held)
    if runs:
        store(result.place, list(runs), this_host(), parent_of(folder / "runs"), **use)
    return result


def client_of(site: Site, role: Role | None = None) -> TestClient:
    """A browser; with a role, one that opened a link and sends the key of its session. Jobs are left waiting.

    ``program`` : a program with its token. No redirect is followed.
    """
    client = TestClient(make_app(site), base_url=HOST, raise_server_exceptions=True, follow_redirects=False)
    if role is None:
        return client
    token = site.sessions.links.make(role, 1)[1]
    if role == "program":
        client.headers["authorization"] = f"Bearer {token}"
        return client
    opened = site.sessions.open(token)
    assert opened
    client.cookies.set(site.rules.cookie, opened.cookie)
    client.headers[KEY_HEADER] = opened.key
    return client


def indexed(site: Site) -> list[FoundRun]:
    """The runs of the index of a site, the newest first."""
    with reading(site.place) as reader:
        return list(find_runs(reader, Query(hidden=True, missing=True)).runs) if reader else []
