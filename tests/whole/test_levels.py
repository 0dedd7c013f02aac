"""Nothing in a run folder says how far it is to be trusted: only what this user's host has checked does."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import traceback
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from assay.cli import assay, stored_runs
from every_kind import run_of
from folder_faults import Folder

HOST = "a" * 16
OTHER_USER = 65_534
"""Of a user without any rights: nobody."""
BROKEN = "unverified: it breaks rules"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the host ``HOST``."""
    path = tmp_path_factory.mktemp("measured") / "lat"
    run_of("lat", path)
    written(Folder.read(path), path, HOST)
    return path


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of the host ``HOST`` who trusts no key and has checked nothing."""
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setattr(stored_runs, "host_id", lambda: HOST)


def written(folder: Folder, path: Path, host_id: str | None) -> None:
    folder.document["platform"]["host_id"] = host_id
    folder.write(path)


def doubled(run: Path, path: Path, host_id: str | None) -> None:
    """A run whose first step says to have taken twice as long, its chain made good."""
    folder = Folder.read(run)
    next(line for line in folder.lines if line["kind"] == "steps")["data"]["steps"][0]["span_ns"] *= 2
    written(folder, path, host_id)


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assay(list(map(str, arguments)), standalone_mode=False)
    return capsys.readouterr().out


def listed(capsys: pytest.CaptureFixture[str], folder: Path) -> dict[str, str]:
    return {Path(one["run"]).name: one["level"] for one in json.loads(said(capsys, "runs", folder, "--json"))}


def shown(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    level: str = json.loads(said(capsys, "show", path, "--json"))["level"]
    return level


def planted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An ``origin.json`` in a folder that says that all rules are kept, with a manifest that fits."""
    bundle = path.with_suffix(".assay")
    said(capsys, "export", path, "--out", bundle)
    said(capsys, "import", bundle, "--into", path.parent / "imported")
    content = json.loads((path.parent / "imported" / path.name / "origin.json").read_bytes())
    content["checker"] = {"passed": True, "version": "0.1.0"}
    (path / "origin.json").write_text(json.dumps(content), "utf-8")


def test_verify_and_show_say_the_same_level(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, host_id in (("here", HOST), ("nowhere", None), ("elsewhere", "b" * 16)):
        written(Folder.read(run), tmp_path / name, host_id)
        (verified,) = json.loads(said(capsys, "verify", tmp_path / name, "--json"))
        assert verified["level"] == shown(capsys, tmp_path / name)
        # A simulated run needs no host.
        assert ("unverified" in verified["level"]) == (host_id not in {HOST, None})


def test_a_planted_origin_makes_no_forged_run_a_verified_bundle(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for host_id in ("b" * 16, None):
        path = tmp_path / str(host_id) / "forged"
        path.parent.mkdir()
        doubled(run, path, host_id)
        assert "NOT VERIFIED: broken W-" in said(capsys, "verify", path)
        planted(path, capsys)
        # The victim's host has seen none of this.
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"victim-{host_id}"))
        assert listed(capsys, path.parent) == {"forged": "not checked here, unsigned"}
        assert shown(capsys, path) == f"{BROKEN}, unsigned"
        assert f"{BROKEN}, unsigned" in said(capsys, "compare", "--despite", path, run)
        assert listed(capsys, path.parent) == {"forged": f"{BROKEN}, unsigned"}


def test_a_simulated_run_needs_no_host(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(Folder.read(run), tmp_path / "runs-null", None)
    assert shown(capsys, tmp_path / "runs-null") == "self-checked"
    assert "verified, " in said(capsys, "verify", tmp_path / "runs-null")
    doubled(run, tmp_path / "forged-null", None)
    assert shown(capsys, tmp_path / "forged-null") == BROKEN


def test_lists_check_nothing_and_show_and_compare_do_once(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("shown", "compared", "verified"):
        folder = Folder.read(run)
        folder.document["run_id"] = name
        written(folder, runs / name, HOST)
    assert set(listed(capsys, runs).values()) == {"not checked here"}
    assert shown(capsys, runs / "shown") == "self-checked"
    assert listed(capsys, runs)["shown"] == "self-checked"
    said(capsys, "compare", "--despite", runs / "shown", runs / "compared")
    assert listed(capsys, runs)["compared"] == "self-checked"
    said(capsys, "verify", runs / "verified")
    assert set(listed(capsys, runs).values()) == {"self-checked"}
    monkeypatch.setattr("assay.archive.verify.verify_run", lambda _: pytest.fail("checked twice"))
    assert {shown(capsys, path) for path in runs.iterdir()} == {"self-checked"}


def test_a_folder_that_was_changed_has_lost_its_level(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    path = tmp_path / "runs/mine"
    shutil.copytree(run, path)
    assert shown(capsys, path) == "self-checked"
    doubled(run, path, HOST)
    assert listed(capsys, path.parent) == {"mine": "not checked here"}
    assert shown(capsys, path) == BROKEN


def test_a_report_of_an_imported_run_breaks_no_rule(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "export", run, "--out", tmp_path / "x.assay")
    said(capsys, "import", tmp_path / "x.assay", "--into", tmp_path)
    said(capsys, "report", tmp_path / "x", "--json", "--csv")
    assert json.loads((tmp_path / "x/report/results.json").read_bytes())["origin"]
    assert ": verified, " in said(capsys, "verify", tmp_path / "x")


def test_a_state_folder_that_cannot_be_used_fails_nothing(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("a file")
    stored_runs._tell_unkept.cache_clear()
    assert assay(["show", str(run)], standalone_mode=False) in {0, 7}
    captured = capsys.readouterr()
    assert "self-checked" in captured.out
    assert captured.err.count("the state folder cannot be used: ") == 1
    out = tmp_path / "new"
    arguments = ["run", "sim:ideal?capacity=1GB", "--test", "lat", "--scale", "0.01", "--no-report", "--out", str(out)]
    assert assay(arguments, standalone_mode=False) in {0, 7}
    assert (tmp_path / "state").read_text() == "a file"


def test_the_end_of_a_run_makes_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("run", "sim:ideal?capacity=1GB", "--test", "lat", "--scale", "0.01", "--no-report", "--seed", "1")
    said(capsys, *arguments, "--out", tmp_path / "runs/new")
    (line,) = (tmp_path / "state/assay/checked.jsonl").read_text("utf-8").splitlines()
    document = json.loads((tmp_path / "runs/new/run.json").read_bytes())
    assert (json.loads(line)["run_id"], json.loads(line)["passed"]) == (document["run_id"], True)


def by_user(home: Path, *arguments: str | Path) -> str:
    """What a command prints to a user without rights, whose folders are below ``home``.

    It runs in a child of this process, because the interpreter may lie where that user cannot read.
    """
    out = home.with_name("out.txt")
    child = os.fork()
    if child == 0:
        code = 70
        with out.open("w", encoding="utf-8") as file, redirect_stdout(file):
            try:
                os.setgroups([])
                os.setgid(OTHER_USER)
                os.setuid(OTHER_USER)
                os.environ |= {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "STATE")}
                assay(list(map(str, arguments)), standalone_mode=False)
                code = 0
            except BaseException:  # noqa: BLE001 - the child ends here, and its parent shows why
                traceback.print_exc(file=file)
            file.flush()
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, out.read_text("utf-8")
    return out.read_text("utf-8")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_run_of_root_is_seen_by_root_and_by_a_user(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shared, home = Path(folder), Path(folder) / "home"
        shared.chmod(0o755)
        home.mkdir()
        os.chown(home, OTHER_USER, OTHER_USER)
        shutil.copytree(run, shared / "runs/mine")
        assert shown(capsys, shared / "runs/mine") == "self-checked"
        # All that the child needs is loaded here.
        assert listed(capsys, shared / "runs") == {"mine": "self-checked"}

        def level(*arguments: str | Path) -> str:
            content = json.loads(by_user(home, *arguments, "--json"))
            found: str = (content[0] if isinstance(content, list) else content)["level"]
            return found

        assert level("runs", shared / "runs") == "not checked here"
        assert level("show", shared / "runs/mine") == "self-checked"
        assert level("runs", shared / "runs") == "self-checked"
        kept = home / "state/assay/checked.jsonl"
        assert kept.stat().st_uid == OTHER_USER
        # What the user kept is no word of root, also where root is sent there.
        before = kept.read_bytes()
        monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
        assert listed(capsys, shared / "runs") == {"mine": "not checked here"}
        assert shown(capsys, shared / "runs/mine") == "self-checked"
        assert kept.read_bytes() == before
