"""Jobs of the page: a stuck or dying one ends alone, one that failed is tried again, and none takes all turns."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.errors import HostLimitError, error_facts, error_of
from assay.web import jobs as jobs_module
from assay.web.jobs import JOBS_MAX, OWNER_JOBS_MAX, Job, Jobs, QueueFullError, supervised
from web_site import client_of, site_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

CHILD = """
import json, os, resource, signal, sys, time
from assay.web import worker
def act(kind, path="", **rest):
    if kind == "hang": time.sleep(600)
    if kind == "die": os.kill(os.getpid(), signal.SIGKILL)
    if kind == "die once" and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "spin":
        while True: pass
    if kind == "eat": bytearray(64 << 30)
    if kind == "defect": raise KeyError("x" * 100_000)
    if kind == "long": raise worker.AssayError("x" * 3_000_000, "y" * 3_000_000, "z")
    if kind == "fail": raise worker.AssayError("thing", "reason", "remedy")
worker.JOBS = {"job": act}
worker.main()
"""


def job(kind: str, key: str = "", **arguments: str) -> Job:
    return Job(kind="job", key=key or kind, arguments={"kind": kind, **arguments})


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose jobs go wrong in the ways that their kinds name."""
    program = tmp_path / "python"
    program.write_text(f"#!{os.sys.executable}\n{CHILD}", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(jobs_module.sys, "executable", str(program))
    monkeypatch.setattr(jobs_module, "CPU_S_MAX", {"job": 1})


def done(jobs: Jobs, rounds: Iterable[list[Job]]) -> None:
    """Serve until all of a round have ended, round by round."""

    async def work() -> None:
        task = asyncio.create_task(jobs.serve())
        for asked in rounds:
            for one in asked:
                jobs.ask(one)
            while {jobs.state(one.key) for one in asked} - {"done", "failed"}:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.02)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(work())


@pytest.mark.usefixtures("child")
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("die", "the child process died twice (exit -9)"),
        ("spin", "more than 1 s of processor time"),
        ("eat", "more than 8 GiB of memory"),
        ("defect", "a defect of Assay (KeyError)"),
        ("long", "xxx...: yyy"),
        ("fail", "thing: reason; remedy"),
    ],
)
def test_a_job_that_goes_wrong_ends_alone_and_says_why(kind: str, why: str) -> None:
    jobs = Jobs()
    done(jobs, [[job(kind), job("well")]])
    failure = jobs.failure(kind)
    assert failure
    assert why in failure.text
    assert len(failure.text) <= 2000
    assert (jobs.state(kind), jobs.state("well"), jobs.failure("well")) == ("failed", "done", None)


@pytest.mark.usefixtures("child")
def test_a_job_that_hangs_is_ended() -> None:
    jobs = Jobs(wall_s=0.2)

    def rounds() -> Iterator[list[Job]]:
        yield [job("hang")]
        jobs._wall_s = None
        yield [job("well")]

    done(jobs, rounds())
    failure = jobs.failure("hang")
    assert failure
    assert "took too long" in failure.text
    assert jobs.state("well") == "done"


@pytest.mark.usefixtures("child")
def test_what_a_killed_job_leaves_is_removed(tmp_path: Path) -> None:
    bundle, draft = tmp_path / "bundle", tmp_path / ".import-1"
    bundle.touch()
    (draft / "run").mkdir(parents=True)
    done(Jobs(), [[replace(job("die"), leaves=(bundle, draft, tmp_path / "none"))]])
    assert not bundle.exists()
    assert not draft.exists()


@pytest.mark.usefixtures("child")
def test_a_child_that_died_is_replaced_and_a_failed_job_is_tried_again(tmp_path: Path) -> None:
    jobs = Jobs()

    def rounds() -> Iterator[list[Job]]:
        yield [job("die once", path=str(tmp_path / "first")), job("fail", key="again")]
        assert (jobs.state("die once"), jobs.state("again")) == ("done", "failed")
        yield [job("well", key="again")]

    done(jobs, rounds())
    assert (jobs.state("again"), jobs.failure("again")) == ("done", None)


def test_a_child_that_cannot_be_started_fails_its_job_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs, real = Jobs(), asyncio.create_subprocess_exec
    refused = iter([True])

    async def start(*arguments: object, **named: object) -> object:
        if next(refused, False):
            raise OSError(24, "Too many open files")
        return await real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    arguments = {"bundle": "/nowhere", "into": "/nowhere", "draft_name": ".import"}
    unpack = [Job(kind="unpack", key=key, arguments=arguments) for key in "ab"]
    done(jobs, [unpack])
    first, second = jobs.failure("a"), jobs.failure("b")
    assert first
    assert second
    assert "Too many open files" in first.text
    assert "/nowhere" in second.text


def test_owners_take_turns_and_each_has_a_bounded_share() -> None:
    async def work() -> list[str]:
        jobs, ran = Jobs(), []

        async def tried(one: Job) -> str:
            ran.append(one.key)
            return ""

        jobs._tried = tried  # type: ignore[method-assign]
        for number in range(OWNER_JOBS_MAX):
            jobs.ask(job("well", key=f"a{number}"), "a")
        with pytest.raises(QueueFullError, match="8 jobs of yours wait already") as caught:
            jobs.ask(job("well", key="a8"), "a")
        assert caught.value.status == 429
        jobs.ask(job("well", key="a0"), "a")
        jobs.ask(job("well", key="b0"), "b")
        jobs.ask(job("well", key="b1"), "b")
        for number in range(JOBS_MAX - jobs.waiting_count):
            jobs.ask(job("well", key=f"{number}"), f"{number}")
        with pytest.raises(QueueFullError, match="64 jobs of all users") as caught:
            jobs.ask(job("well", key="c"), "c")
        assert caught.value.status == 503
        jobs.ask(job("well", key="update"))
        while jobs.waiting_count:
            await jobs._next()
        return [key for key in ran if key[0] in "ab"]

    assert asyncio.run(work()) == ["a0", "b0", "a1", "b1", *(f"a{number}" for number in range(2, OWNER_JOBS_MAX))]


def test_a_job_that_the_server_does_not_know_is_not_done(tmp_path: Path) -> None:
    answer = client_of(site_in(tmp_path), "viewer").get("/jobs/0000").json()
    assert answer == {"state": "lost", "failure": "The server no longer knows this job; try again."}


def test_a_background_task_that_ends_is_logged_and_begins_anew() -> None:
    async def work() -> tuple[list[str], int]:
        log: list[str] = []
        begun = 0

        async def task() -> None:
            nonlocal begun
            begun += 1
            raise (OSError(24, "Too many open files"), KeyError("\x1b" * 4000))[begun % 2]

        running = asyncio.create_task(supervised("Jobs", task, log.append, pause_s=0.001))
        while begun < 4:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.001)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return log, begun

    log, _ = asyncio.run(work())
    assert log[1] == "Jobs stopped (OSError: [Errno 24] Too many open files) and begins anew in 0.002 s"
    assert all(len(line) < 1500 and line.isprintable() for line in log)


def test_a_full_queue_is_no_kind_of_its_own_for_errors_of_others() -> None:
    limit = HostLimitError("agent", "has 2 requests of this user in a minute", "try again")
    assert str(error_of(error_facts(limit))) == str(limit)
