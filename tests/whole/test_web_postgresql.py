"""The whole server on PostgreSQL: what it shows, and what it says while the database is gone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from contextlib import contextmanager
from html import unescape
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

import pytest
from every_kind import run_of
from on_terminal import ASSAY
from postgresql_server import new_database, stoppable_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("postgresql")


@contextmanager
def served(folder: Path, database: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a server on a database, and the variables that it was started with."""
    variables = {f"XDG_{name}_HOME": str(folder / name) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    variables = os.environ | variables | {"ASSAY_INDEX": database}
    command = [ASSAY, "serve", str(folder / "runs"), "--port", "0"]
    with (folder / "log").open("w+") as log:
        with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=log, text=True) as process:
            try:
                assert process.stdout
                address = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
                assert address
                yield address[0], variables
            finally:
                process.terminate()
                process.wait(20)
        log.seek(0)
        assert "Traceback" not in log.read()


def browser(address: str, variables: dict[str, str]) -> OpenerDirector:
    """One with a session."""
    command = [ASSAY, "serve", "link", "--port", address.rpartition(":")[2]]
    done = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    token = done.stdout.split()[0].partition("#")[2]
    headers = {"content-type": "application/json"}
    request = Request(f"{address}/session", json.dumps({"token": token}).encode(), headers)  # noqa: S310 - ours
    opener.open(request).close()
    return opener


def got(opener: OpenerDirector, address: str) -> tuple[int, str]:
    """Status and text of an answer, once it was made."""
    for _ in range(600):
        try:
            with opener.open(address) as answer:
                status, text = answer.status, answer.read().decode()
        except HTTPError as error:
            status, text = error.code, error.read().decode()
        if status != 202:
            return status, unescape(text)
        time.sleep(0.1)
    raise AssertionError(address)


def until_listed(opener: OpenerDirector, address: str, count: int) -> list[Any]:
    """The runs of the API once there are so many; a list that is opened has the index brought up."""
    for _ in range(300):
        got(opener, f"{address}/runs")
        runs: list[Any] = json.loads(got(opener, f"{address}/api/v1/runs")[1])
        if len(runs) == count:
            return runs
        time.sleep(0.2)
    raise AssertionError(runs)


def test_every_page_is_served_from_postgresql_and_says_while_that_is_gone(tmp_path: Path) -> None:
    for seed in (1, 2):
        run_of("tp", tmp_path / f"runs/night-{seed}", seed=seed)
    with stoppable_server() as database:
        url = new_database(database.folder, "served")
        with served(tmp_path, url) as (address, variables):
            opener = browser(address, variables)
            runs = until_listed(opener, address, 2)
            first, second = (run["address"] for run in runs)
            (drive,) = set(re.findall(r"/drives/\w+", got(opener, f"{address}/runs")[1]))
            pages = {
                "/runs?test=tp&sort=drive": "night-1",
                f"/runs/{first}": "strip-of-run",
                f"/compare?run={first}&run={second}": "2 runs",
                "/trend": "2 runs, ",
                drive: "Written by these runs",
                "/api/v1/trend": '"series"',
            }
            for path, content in pages.items():
                status, text = got(opener, address + path)
                assert (status, content in text) == (200, True), path
            database.stop()
            for path in ("/runs", f"/runs/{second}", "/trend", drive):
                status, text = got(opener, address + path)
                assert status == 500
                assert "does not answer as an index" in text
                assert "see that it runs and lets you in" in text
            assert got(opener, f"{address}/api/v1/runs")[0] == 503
            assert got(opener, f"{address}/")[0] == 200
            database.start()
            run_of("tp", tmp_path / "runs/night-3", seed=3)
            assert {run["run"].rpartition("/")[2] for run in until_listed(opener, address, 3)} >= {"night-3"}
            assert "does not answer" not in got(opener, f"{address}/runs")[1]
