"""Jobs of the agent's queue as their page shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from assay.archive.index.folders import address_of, parent_of
from assay.run.foreseen import span_label
from assay.run.store import RUN_DOCUMENT
from assay.web.plan_fields import procedure_titles
from assay.words.outcomes import exit_words
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from assay.agent.messages import JobFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A job.

    number : of its turn among those that have not begun, from 1; 0 of others. last : of those. next : it begins as soon
    as no other runs.
    run : address of its run, empty where its folder is not served or not there yet. again : address of its plan.
    """

    facts: JobFacts
    tests: str
    outcome: str
    level: str
    message: str
    span: str
    number: int = 0
    last: bool = False
    next: bool = False
    run: str = ""
    again: str = ""
    not_served: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRows:
    """The jobs by what becomes of them, in order."""

    running: tuple[JobRow, ...]
    waiting: tuple[JobRow, ...]
    ended: tuple[JobRow, ...]


def queue_rows(jobs: Iterable[JobFacts], parents: Collection[str]) -> QueueRows:
    """The jobs by their state; looks for their run folders.

    parents : folders of runs that this server shows, as the index keeps them.
    """
    jobs = tuple(jobs)
    waiting = [job for job in jobs if job.state in {"waiting", "held"}]
    first = next((job.id for job in waiting if job.state == "waiting"), "")
    return QueueRows(
        running=tuple(_row(job, parents) for job in jobs if job.state == "running"),
        waiting=tuple(
            replace(_row(job, parents), number=number, last=number == len(waiting), next=job.id == first)
            for number, job in enumerate(waiting, 1)
        ),
        ended=tuple(_row(job, parents) for job in jobs if job.state == "ended"),
    )


def _row(job: JobFacts, parents: Collection[str]) -> JobRow:
    folder = Path(job.folder) if job.folder else None
    served = folder is not None and parent_of(folder.parent) in parents
    run = address_of(folder) if folder and served and (folder / RUN_DOCUMENT).is_file() else ""
    titles = procedure_titles()
    return JobRow(
        facts=job,
        tests=", ".join(titles.get(name, name) for name in job.tests),
        outcome=exit_words(job.exit_code) if job.began_wall_ns or job.exit_code else "not begun",
        level="good" if job.exit_code == 0 else "bad" if job.exit_code else "soft",
        message=visible(job.message),
        span=span_label(*job.span_ns),
        run=run,
        again=f"/plan?{urlencode({'run': run, 'drive': job.drive})}" if run else "",
        not_served=folder is not None and not served,
    )
