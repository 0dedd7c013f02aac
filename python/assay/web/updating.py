"""The index of a site brought up to its folders, by the child process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.web.jobs import Job

if TYPE_CHECKING:
    from assay.web.site import Site

UPDATE = "update"
"""Kind and key of the job: it waits or runs once at most."""
AGE_S, FAILED_AGE_S = 5.0, 60.0


def bring_up(site: Site, *, age_s: float = AGE_S) -> None:
    """Have the index brought up to the folders of a site, unless that was asked for less than ``age_s`` ago."""
    now_s = time.monotonic()
    if site.jobs.state(UPDATE) == "failed":
        age_s = max(age_s, FAILED_AGE_S)
    if now_s - site.updated_s < age_s or site.jobs.state(UPDATE) in {"waiting", "held", "running"}:
        return
    site.updated_s = now_s
    site.jobs.ask(update_job(site))


def update_job(site: Site) -> Job:
    """The job that brings the index up."""
    index = site.place
    arguments = {
        "index": {
            "shown": index.shown,
            "path": None if index.path is None else str(index.path),
            "url": index.url,
            "is_own": index.is_own,
        },
        "folders": list(map(str, site.folders)),
    }
    return Job(kind=UPDATE, key=UPDATE, arguments=arguments)
