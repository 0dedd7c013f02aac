"""A run's page is its report; its files are attachments; nothing is written into its folder."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import time
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.index.folders import parent_of, run_address
from assay.archive.index.folders import site as index_site
from assay.cli.index import update
from assay.web.jobs import Jobs
from every_kind import run_of
from going_run import held
from web_site import client_of, indexed, site_in

if TYPE_CHECKING:
    from pathlib import Path

    from assay.web.site import Site
    from starlette.testclient import TestClient


@pytest.fixture(scope="module")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without a report."""
    folder = tmp_path_factory.mktemp("made") / "night"
    run_of("iops", folder)
    return folder


@pytest.fixture
def site(tmp_path: Path, made_run: Path) -> Site:
    """A site with one run, in its index."""
    runs = tmp_path / "runs"
    runs.mkdir()
    shutil.copytree(made_run, runs / "night")
    site = site_in(tmp_path)
    update(site.place, site.folders)
    return site


def address_of(site: Site) -> str:
    (run,) = indexed(site)
    return run.address


def got(client: TestClient, path: str) -> Any:
    """What a page answers once it was made."""
    for _ in range(600):
        answer = client.get(path, follow_redirects=False)
        if answer.status_code != 202:
            return answer
        time.sleep(0.1)
    raise AssertionError(path)


def test_the_page_of_a_run_is_its_report_and_its_folder_stays_as_it_was(site: Site) -> None:
    folder = site.folders[0] / "night"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with client_of(site, "viewer") as client:
        answer = got(client, f"/runs/{address_of(site)}")
    assert answer.status_code == 200
    assert "strip-of-run" in answer.text
    assert 'href="/assets/page.css"' in answer.text
    assert "<script>" not in answer.text
    assert "style=" not in answer.text.partition("<body>")[0]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_what_is_made_of_a_run_is_an_attachment(site: Site) -> None:
    path = f"/runs/{address_of(site)}/made"
    with client_of(site, "viewer") as client:
        table, bundle, page = (got(client, f"{path}/{kind}") for kind in ("csv", "bundle", "html"))
        assert client.get(f"{path}/exe").status_code == 404
    assert "strip-of-run" in page.text
    assert "/assets/" not in page.text
    assert "iops_matrix.csv" in zipfile.ZipFile(io.BytesIO(table.content)).namelist()
    assert bundle.headers["content-disposition"] == 'attachment; filename="night-run.assay"'
    assert bundle.headers["content-security-policy"].startswith("sandbox")


@pytest.mark.parametrize("name", ["run.json", "journal.jsonl", "series/000001.parquet"])
def test_a_stored_file_is_given_byte_for_byte(site: Site, name: str) -> None:
    answer = client_of(site, "viewer").get(f"/runs/{address_of(site)}/stored/{name}")
    assert answer.content == (site.folders[0] / "night" / name).read_bytes()
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_links_pipes_and_other_names_are_no_stored_files(site: Site, tmp_path: Path) -> None:
    folder, path = site.folders[0] / "night", f"/runs/{address_of(site)}/stored"
    (tmp_path / "secret").write_text("secret")
    (folder / "series/link.parquet").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "series/pipe.parquet")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    client = client_of(site, "viewer")
    names = (
        "series/link.parquet",
        "series/pipe.parquet",
        "page.html",
        "%2e%2e/night/run.json",
        "series/%2e%2e%2frun.json",
        "",
    )
    for name in names:
        assert client.get(f"{path}/{name}").status_code in {404, 307}, name


def test_a_sparse_file_of_a_terabyte_takes_no_memory(site: Site) -> None:
    path = site.folders[0] / "night/series/big.parquet"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    client = client_of(site, "viewer")
    answer = client.head(f"/runs/{address_of(site)}/stored/series/big.parquet")
    assert answer.headers["content-length"] == str(1 << 40)


def test_a_folder_that_vanishes_is_said(site: Site) -> None:
    address = address_of(site)
    shutil.rmtree(site.folders[0] / "night")
    with client_of(site, "viewer") as client:
        answer = got(client, f"/runs/{address}")
    assert answer.status_code == 500
    assert "night" in answer.text


def test_a_bundle_is_checked_unpacked_and_removed(site: Site) -> None:
    with client_of(site, "operator") as client:
        bundle = got(client, f"/runs/{address_of(site)}/made/bundle").content
        shutil.rmtree(site.folders[0] / "night")
        for content, state in ((bundle, "done"), (b"no bundle" * 99, "failed")):
            job = client.post("/bundles", content=content).json()["job"]
            for _ in range(300):
                now = client.get(f"/jobs/{job}").json()["state"]
                if now in {"done", "failed"}:
                    break
                time.sleep(0.1)
            assert now == state
    assert [path.name for path in site.folders[0].iterdir()] == ["night"] or len(list(site.folders[0].iterdir())) == 1
    assert list((site.cache / "bundles").iterdir()) == []


def test_jobs_wait_while_a_drive_is_measured(tmp_path: Path) -> None:
    del tmp_path
    measured = [True]

    async def tried() -> list[str | None]:
        from assay.web.jobs import Job  # noqa: PLC0415

        jobs = Jobs(lambda: measured[0])
        task = asyncio.create_task(jobs.serve())
        jobs.ask(Job(kind="unpack", key="k", arguments={"bundle": "/nowhere", "into": "/nowhere", "draft_name": ".x"}))
        await asyncio.sleep(0.2)
        seen: list[str | None] = [jobs.state("k")]
        measured[0] = False
        for _ in range(200):
            await asyncio.sleep(0.1)
            if jobs.state("k") == "failed":
                break
        failure = jobs.failure("k")
        task.cancel()
        return [*seen, jobs.state("k"), failure and failure.text]

    seen = asyncio.run(tried())
    assert seen[:2] == ["held", "failed"]
    assert "/nowhere" in str(seen[2])


def test_a_run_that_the_index_does_not_know_yet_is_read_first(tmp_path: Path, made_run: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    site = site_in(tmp_path)
    with client_of(site, "viewer") as client:
        time.sleep(1)
        shutil.copytree(made_run, runs / "late")
        address = run_address(index_site(), parent_of(runs), "late")
        answer = client.get(f"/runs/{address}")
        assert answer.status_code == 202
        assert got(client, f"/runs/{address}").status_code == 200
        assert client.get(f"/runs/{'0' * 20}").status_code == 404


def test_a_run_that_goes_on_without_progress_is_said_and_read_once_it_ends(site: Site) -> None:
    folder = site.folders[0] / "later"
    shutil.copytree(site.folders[0] / "night", folder)
    address = run_address(index_site(), parent_of(site.folders[0]), "later")
    with client_of(site, "viewer") as client:
        with held(folder):
            update(site.place, site.folders)
            answer = client.get(f"/runs/{address}")
            assert (answer.status_code, f"assay status {folder}" in answer.text) == (409, True)
            assert "later" not in client.get("/runs").text
        assert got(client, f"/runs/{address}").status_code == 200
