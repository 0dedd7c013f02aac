"""A comparison and what can be downloaded of it: the files that ``assay compare --out`` writes."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from assay.cli import assay
from assay.cli.index import update
from assay.web.made_files import COMPARISON_FORMATS
from click.testing import CliRunner
from every_kind import run_of
from synthetic_runs import synthetic_runs
from web_site import client_of, indexed, site_in

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one") / "run"
    run_of("tp", folder)
    return folder


def got(client: TestClient, path: str) -> Any:
    """What an address answers once it was made."""
    for _ in range(600):
        answer = client.get(path)
        if answer.status_code != 202:
            return answer
        time.sleep(0.1)
    raise AssertionError(path)


def test_a_comparison_is_downloaded_as_the_command_writes_it(run: Path, tmp_path: Path) -> None:
    synthetic_runs(run, tmp_path / "runs", 2)
    site = site_in(tmp_path)
    update(site.place, site.folders)
    runs = indexed(site)[::-1]
    with client_of(site, "viewer") as client:
        page = got(client, f"/compare?run={runs[0].address}&run={runs[1].address}&despite=1").text
        assert page.count("<time datetime=") == 2
        links = re.findall(r'href="(/compare/made/[^"]+)"', page)
        assert [link.split("?")[0].rsplit("/")[-1] for link in links] == [*COMPARISON_FORMATS]
        assert all(link.endswith("&amp;despite=1") for link in links)
        files = {link.split("?")[0].rsplit("/")[-1]: got(client, link.replace("&amp;", "&")) for link in links}
        assert client.get(f"/compare/made/exe?run={runs[0].address}&run={runs[1].address}").status_code == 404
        assert client.get("/compare/made/pdf?run=a").status_code == 400
    assert {answer.headers["content-disposition"] for answer in files.values()} == {
        f'attachment; filename="comparison-{format_.file}"' for format_ in COMPARISON_FORMATS.values()
    }
    assert all(answer.headers["content-security-policy"].startswith("sandbox") for answer in files.values())
    out = tmp_path / "out"
    folders = [str(each.folder) for each in runs]
    done = CliRunner().invoke(assay, ["compare", *folders, "--despite", "--out", str(out)])
    assert done.exit_code == 0, done.output
    for kind, name in (("pdf", "report.pdf"), ("html", "report.html"), ("xlsx", "comparison.xlsx")):
        assert files[kind].content == (out / name).read_bytes(), kind
    assert json.loads(files["json"].content) == json.loads((out / "comparison.json").read_bytes())
    with zipfile.ZipFile(io.BytesIO(files["csv"].content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            path.name: path.read_bytes() for path in out.glob("*.csv")
        }
    assert "/assets/" not in files["html"].text
