"""The index is brought up by the child process, at most every five seconds."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import TYPE_CHECKING

import pytest
from assay.archive.index.drive_use import drive_use
from assay.archive.index.read import reading
from assay.archive.index.search import Query, find_runs
from assay.run.store.read import read_run
from assay.web import site as site_module
from assay.web import worker
from assay.web.layout import iso
from assay.web.pages.runs import _looked_up, bytes_on_disk, space_label
from assay.web.site import UPDATE, bring_up, update_job
from every_kind import run_of
from index_runs import listed_run
from web_site import client_of, site_with

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one") / "run"
    run_of("tp", folder)
    return folder


def test_a_new_run_is_listed_once_the_child_has_read_it(run: Path, tmp_path: Path) -> None:
    shown = site_with(tmp_path)
    (tmp_path / "runs").rmdir()
    (tmp_path / "runs").symlink_to(run.parent)

    async def work() -> None:
        bring_up(shown)
        task = asyncio.create_task(shown.jobs.serve())
        while shown.jobs.state(UPDATE) not in {"done", "failed"}:  # noqa: ASYNC110 - the queue has no event
            await asyncio.sleep(0.02)
        task.cancel()

    asyncio.run(work())
    assert shown.jobs.failure(UPDATE) is None
    text = client_of(shown, "viewer").get("/runs").text
    assert re.findall(r'<td class="run"><a [^>]*>(.*?)</a>', text) == ["run"]
    with reading(shown.place) as reader:
        assert reader
        (result,) = find_runs(reader, Query()).runs
    assert result.use == drive_use(read_run(run, histograms=True))
    assert result.use.written_bytes


def test_it_is_asked_for_once_in_five_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, now = site_with(tmp_path), [100.0]
    monkeypatch.setattr(site_module.time, "monotonic", lambda: now[0])
    bring_up(shown)
    assert [*shown.jobs._waiting] == [UPDATE]
    shown.jobs._waiting.clear()
    now[0] = 104.9
    bring_up(shown)
    assert not shown.jobs._waiting
    now[0] = 105.0
    bring_up(shown)
    bring_up(shown, age_s=0)
    assert [*shown.jobs._waiting] == [UPDATE]


def test_a_job_crosses_to_the_child_as_json(tmp_path: Path) -> None:
    job = update_job(site_with(tmp_path))
    arguments = json.loads(json.dumps(job.arguments))
    assert worker._done({"kind": job.kind, "arguments": arguments}) == ""


def test_an_index_that_cannot_be_used_is_named_on_the_page(tmp_path: Path) -> None:
    shown = site_with(tmp_path)
    (tmp_path / "index.sqlite").write_bytes(b"no database" * 100)
    (tmp_path / "runs/a").mkdir()
    (tmp_path / "runs/a/run.json").write_text("{}")
    job = update_job(shown)
    assert "is not an index of runs, or is damaged" in worker._done({"kind": job.kind, "arguments": job.arguments})
    answer = client_of(shown, "viewer").get("/runs")
    assert (answer.status_code, "is not an index of runs, or is damaged" in answer.text) == (500, True)


def test_space_counts_what_files_take_and_follows_no_link(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / "series").mkdir(parents=True)
    (folder / "series/a").write_bytes(b"x" * 5000)
    (folder / "out").symlink_to("/usr")
    os.mkfifo(folder / "fifo")
    with (folder / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    expected = (folder / "series/a").stat().st_blocks * 512 + (folder / "sparse").stat().st_blocks * 512
    _looked_up.cache_clear()
    assert bytes_on_disk(str(folder)) == expected
    assert 5000 <= expected < 100_000
    assert bytes_on_disk(str(tmp_path / "none")) is None


def test_a_folder_of_too_many_files_has_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.web.pages.runs.FILES_MAX", 3)
    for number in range(4):
        (tmp_path / f"{number}").touch()
    _looked_up.cache_clear()
    assert bytes_on_disk(str(tmp_path)) is None


def test_times_and_space_are_printed_for_people() -> None:
    assert (iso(0), iso(None), iso(10**30)) == ("1970-01-01T00:00:00Z", "", "")
    assert (space_label(2_500_000), space_label(1_500_000_000)) == ("2.5 MB", "1.50 GB")


def test_a_missing_run_is_listed_on_request(tmp_path: Path) -> None:
    shown = site_with(tmp_path, listed_run("gone"))
    job = update_job(shown)
    assert worker._done({"kind": job.kind, "arguments": job.arguments}) == ""
    shown.updated_s = float("inf")
    assert "No runs in" in client_of(shown, "viewer").get("/runs").text
    assert "folder is missing" in client_of(shown, "viewer").get("/runs?missing=1").text
