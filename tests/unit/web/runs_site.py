"""A site whose index has runs without folders, and a browser of a role that asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.folders import site
from assay.archive.index.location import named_place
from assay.archive.index.update import parent_of
from assay.web.app import make_app
from assay.web.guard import LOCAL, Rules, change_token
from assay.web.jobs import Jobs
from assay.web.layout import environment
from assay.web.links import Links
from assay.web.live import Live
from assay.web.site import Site
from index_runs import store
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from pathlib import Path

    from assay.summary.forms import ListedRun
    from assay.web.links import Role

COOKIE = "assay-test"


def site_with(folder: Path, *runs: ListedRun, held: bool = False, **use: object) -> Site:
    """A site of the folder ``runs`` below another. runs : put into its index. use : of ``DriveUse``, of each."""
    rules = Rules(hosts=LOCAL, scheme="http", cookie=COOKIE, bodies={})
    (folder / "runs").mkdir(exist_ok=True)
    result = Site(
        folders=(folder / "runs",),
        place=named_place(str(folder / "index.sqlite")),
        rules=rules,
        links=Links(),
        jobs=Jobs(lambda: held),
        live=Live((folder / "runs",)),
        cache=folder / "cache",
        templates=environment("", "1"),
    )
    if runs:
        store(result.place, list(runs), site(), parent_of(folder / "runs"), **use)
    return result


def client(site: Site, role: Role = "viewer") -> TestClient:
    """A browser with a session; it sends the token of changes, as the page's script does. Jobs are left waiting."""
    _, token = site.links.make(role, 1)
    opened = site.links.opened(token)
    assert opened
    cookie = opened[1]
    headers = {"cookie": f"{COOKIE}={cookie}", "x-assay-token": change_token(cookie)}
    return TestClient(make_app(site), base_url="http://localhost", headers=headers, follow_redirects=False)
