"""Bundles through the command line, and the page of a repository of results."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from assay.archive.bundle import with_origin
from assay.archive.rendering import stored_run
from assay.cli import assay
from assay.errors import AssayError, StoreError, UsageError
from assay.report import build_report
from every_kind import run_of
from folder_faults import Folder
from synthetic_runs import synthetic_runs

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs/results-repository/build_page.py"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    for kind in ("lat", "wsat"):
        run_of(kind, folder / kind)
    return folder


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without keys."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ASSAY_OUTPUT", raising=False)
    return tmp_path / "config/assay"


def command(*arguments: str | Path) -> int:
    code = assay(list(map(str, arguments)), standalone_mode=False)
    return code if isinstance(code, int) else 0


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    command(*arguments)
    return capsys.readouterr().out


def test_a_run_goes_from_one_user_to_another(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = said(capsys, "key", "make", "--name", "Lab 2")
    assert "Fingerprint: " in made
    bundle = tmp_path / "x.assay"
    facts = json.loads(said(capsys, "export", runs / "lat", "--out", bundle, "--json"))
    assert facts["signed_by_key"]
    assert facts["files"][-1].startswith("series/")
    shutil.copy(tmp_path / "config/assay/signing_key.pub", tmp_path / "lab2.pub")
    # The other user does not know the key, and then trusts it.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "other"))
    folder = tmp_path / "runs"
    assert "Level: verified bundle, signed by an unknown key" in said(capsys, "import", bundle, "--into", folder)
    assert "Lab 2" in said(capsys, "key", "trust", tmp_path / "lab2.pub")
    assert "Lab 2" in said(capsys, "key", "show")
    assert json.loads(said(capsys, "key", "show", "--json"))[0]["whose"] == "trusted"
    level = "signed by Lab 2"
    assert f"| {level}" in said(capsys, "show", "--full", folder / "x")
    assert json.loads(said(capsys, "show", folder / "x", "--json"))["level"] == level
    assert json.loads(said(capsys, "runs", folder, "--json", "--replicated"))[0]["level"] == level
    assert level in said(capsys, "runs", folder)
    command("report", folder / "x", "--html", "--json")
    assert level in (folder / "x/report/report.html").read_text("utf-8")
    assert json.loads((folder / "x/report/results.json").read_bytes())["origin"]["level"] == level


def test_copies_under_other_hosts_and_serials_are_not_found_again(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Copies with another host and serial each, as if of real drives.
    synthetic_runs(runs / "wsat", tmp_path / "runs", 3, kind="block", model_number="NV9000")
    listed = json.loads(said(capsys, "runs", tmp_path / "runs", "--json", "--replicated"))
    assert len(listed) == 3
    assert [entry["level"] for entry in listed if "replicated" in entry["level"]] == []


def test_a_bundle_is_verified_as_the_run_in_it(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tmp_path / "x.assay"
    command("export", runs / "lat", "--out", bundle)
    capsys.readouterr()
    assert command("verify", bundle, runs / "lat", "--json") == 0
    packed, folder = json.loads(capsys.readouterr().out)
    assert packed["run"] == str(bundle)
    assert {**packed, "run": "", "level": folder["level"]} == {**folder, "run": ""}
    assert folder["level"] == "self-checked"
    assert packed["level"] == "verified bundle, unsigned"
    assert "Level: verified bundle, unsigned." in said(capsys, "verify", bundle)
    content = bytearray(bundle.read_bytes())
    content[len(content) // 2] ^= 1
    bundle.write_bytes(content)
    assert command("verify", bundle, runs / "lat") in {5, 6}
    assert "CANNOT BE READ" in capsys.readouterr().out


def test_own_runs_are_self_checked_and_their_report_says_nothing_new(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored_run(runs / "lat")
    own = "self-checked"
    assert f"| {own}" in said(capsys, "show", "--full", runs / "lat")
    levels = {Path(one["run"]).name: one["level"] for one in json.loads(said(capsys, "runs", runs, "--json"))}
    assert levels["lat"] == own
    assert run.origin is None
    shown = with_origin(run, runs / "lat", (), host_id=run.platform.host_id, checked=True)
    assert "self-checked" not in str(build_report(shown))


def test_a_signature_is_made_where_there_is_a_key_and_never_unasked_of_a_redacted_run(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def key_of(name: str, *options: str) -> str | None:
        found = json.loads(said(capsys, "export", runs / "lat", "--out", tmp_path / name, "--json", *options))
        fingerprint: str | None = found["signed_by_key"]
        return fingerprint

    assert key_of("a") is None
    with pytest.raises(UsageError, match="there is no key"):
        command("export", runs / "lat", "--out", tmp_path / "b", "--sign")
    command("key", "make")
    capsys.readouterr()
    assert key_of("c")
    assert key_of("d", "--no-sign") is None
    assert key_of("e", "--redact") is None
    assert key_of("f", "--redact", "--sign")


def test_a_run_that_breaks_rules_is_imported_and_said_to(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Folder.read(runs / "lat")
    steps = next(line for line in folder.lines if line["kind"] == "steps")["data"]["steps"]
    steps[0]["span_ns"] *= 2
    folder.write(tmp_path / "broken")
    for name, path, code, level in (
        ("good", runs / "lat", 0, "verified bundle, unsigned"),
        ("bad", tmp_path / "broken", 5, "unverified: it breaks rules, unsigned"),
    ):
        command("export", path, "--out", tmp_path / f"{name}.assay")
        capsys.readouterr()
        assert command("import", tmp_path / f"{name}.assay", "--into", tmp_path / "into") == code
        assert f"Level: {level}" in capsys.readouterr().out
        assert f"| {level}" in said(capsys, "show", "--full", tmp_path / "into" / name)


def test_mistakes_are_said_in_one_line(runs: Path, tmp_path: Path) -> None:
    cases: list[tuple[type[AssayError], tuple[str | Path, ...]]] = [
        (UsageError, ("export", runs / "lat", "--redact", "--log")),
        (StoreError, ("export", tmp_path / "none")),
        (StoreError, ("export", runs / "lat", "--out", runs / "lat/run.json/x")),
        (StoreError, ("import", runs / "lat")),
        (StoreError, ("import", runs / "lat/run.json", "--into", tmp_path / "into")),
        (StoreError, ("import", tmp_path / "none.assay")),
        (UsageError, ("key", "trust")),
        (UsageError, ("key", "show", runs / "lat/run.json")),
        (UsageError, ("key", "make", "--name", "a\nb")),
        (StoreError, ("key", "trust", runs / "lat/run.json")),
    ]
    for kind, arguments in cases:
        with pytest.raises(kind) as caught:
            command(*arguments)
        assert "\n" not in str(caught.value), arguments
    assert not (tmp_path / "into").exists()


def script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The script of the template, whose commands are run in this process: each would take seconds to start."""
    spec = importlib.util.spec_from_file_location("build_page", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def in_process(environment: dict[str, str], *arguments: str) -> str:
        monkeypatch.setenv("XDG_CONFIG_HOME", environment["XDG_CONFIG_HOME"])
        return said(capsys, *arguments)

    monkeypatch.setattr(module, "assay", in_process)
    return module


def test_a_repository_of_results_has_numbers_levels_and_labels(
    runs: Path, tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundles, page = tmp_path / "bundles", tmp_path / "page"
    bundles.mkdir()
    command("key", "make", "--name", "Lab <2>")
    (tmp_path / "keys").mkdir()
    shutil.copy(settings / "signing_key.pub", tmp_path / "keys/lab2.pub")
    command("export", runs / "wsat", "--out", bundles / "signed.assay")
    command("export", runs / "lat", "--out", bundles / "redacted.assay", "--redact")
    capsys.readouterr()
    shown = json.loads(said(capsys, "show", runs / "wsat", "--json"))
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(bundles), str(page)])
    assert script(monkeypatch, capsys).main() == 0
    text = (page / "index.html").read_text("utf-8")
    for one in (one for one in shown["tests"][0]["measures"] if one["quoted"]):
        value = "n/a" if one["value"] is None else f"{one['value']:,.3f}"
        assert f'<td>{one["name"]}</td><td class="number">{value}</td><td>{one["unit"]}</td>' in text
    assert '<td>RND 4KiB W, 1 outstanding, maximum</td><td class="number">' in text
    assert "signed by Lab &lt;2&gt;" in text
    assert "verified bundle, unsigned, redacted by its maker" in text
    assert 'class="doubt"' not in text
    assert "simulated drive; not conforming: " in text
    assert shown["journal"]["hash"] in text
    assert "http" not in text


def test_a_bundle_that_is_refused_ends_the_page_of_results(runs: Path, tmp_path: Path) -> None:
    bundles, page = tmp_path / "bundles", tmp_path / "page"
    bundles.mkdir()
    command("export", runs / "lat", "--out", tmp_path / "good.assay")
    (bundles / "bad.assay").write_bytes((tmp_path / "good.assay").read_bytes()[:-7])
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "ASSAY": f"{sys.executable} -c 'from assay.cli import main; main()'",
    }
    line = [sys.executable, str(SCRIPT), str(bundles), str(page)]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 6
    assert "bad.assay: is cut off" in done.stderr
    assert "Traceback" not in done.stderr
    assert not page.exists()
