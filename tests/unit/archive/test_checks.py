"""What this host has checked is kept where only its user can write; nothing there stops a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.checks import Check, keep, kept_checks, rules_version, run_content, seal_of
from assay.archive.levels import Checked, check_run, known_check
from assay.archive.verify import Verification, verify_run
from assay.spec import state_file
from every_kind import run_of

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun

WRITERS, LINES = 8, 25


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a user who has checked nothing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/assay/checked.jsonl"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredRun, Path]:
    folder = tmp_path_factory.mktemp("checks") / "lat"
    return run_of("lat", folder), folder


def check(**more: Any) -> Check:
    digest = "0" * 64
    values = {"run_id": "a", "document": digest, "journal": digest, "journal_hash": digest, "tables": digest}
    return Check(**{**values, "seal": "f" * 64, "rules": rules_version(), "passed": True, **more})


class Counted:
    """The rules, counting how often they were asked."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, folder: Path) -> Verification:
        """As ``verify_run``."""
        self.count += 1
        return verify_run(folder)


def test_a_run_is_checked_once_and_then_known(good: tuple[StoredRun, Path], kept: Path) -> None:
    run, folder = good
    assert known_check(run, folder) is None
    rules = Counted()
    assert [check_run(run, folder, rules) for _ in range(3)] == [Checked(passed=True)] * 3
    assert rules.count == 1
    assert known_check(run, folder) is True
    (line,) = kept.read_bytes().splitlines()
    assert run.journal
    assert (json.loads(line)["run_id"], json.loads(line)["journal_hash"]) == (run.run_id, run.journal.hash)
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_copy_is_known_and_one_that_differs_anywhere_is_not(good: tuple[StoredRun, Path], tmp_path: Path) -> None:
    run, folder = good
    check_run(run, folder)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    names = [name for name in names if name.endswith((".parquet", "run.json", "journal.jsonl"))]
    assert len({name.partition("/")[0] for name in names}) >= 4
    for name in names:
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        assert known_check(run, copy) is True
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / name).write_bytes(content)
        assert known_check(run, copy) is None, name
        shutil.rmtree(copy)


def test_a_check_of_other_rules_or_another_run_counts_for_nothing(good: tuple[StoredRun, Path], kept: Path) -> None:
    run, folder = good
    check_run(run, folder)
    line = json.loads(kept.read_bytes())
    assert known_check(replace(run, run_id="other"), folder) is None
    for change in ({"rules": "0.0.9-0"}, {"tables": "0" * 64}, {"passed": 1}, {"more": 1}, {"seal": None}):
        kept.write_text(json.dumps({**line, **change}) + "\n", "utf-8")
        assert known_check(run, folder) is None, change
    kept.write_text(json.dumps({**line, "passed": False}) + "\n", "utf-8")
    assert known_check(run, folder) is False


def test_torn_and_strange_lines_hide_no_other(kept: Path) -> None:
    keep(check(seal="a" * 64))
    with kept.open("ab") as file:
        file.write(b"\xff\n[]\n" + b"[" * 100_000 + b'\n{"run_id":')
    assert keep(check(seal="b" * 64)) is None
    assert sorted(kept_checks()) == ["a" * 64, "b" * 64]


def test_writers_side_by_side_lose_no_line(kept: Path) -> None:
    code = (
        "import sys; from dataclasses import replace; from assay.archive import checks as record\n"
        f"sample = {check()!r}\n".replace("Check(", "record.Check(")
        + f"for n in range({LINES}): record.keep(replace(sample, seal=sys.argv[1] + format(n, '063x')))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, f"{number:x}"]) for number in range(WRITERS)]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    assert len(kept_checks()) == WRITERS * LINES
    assert kept.read_bytes().count(b"\n") == WRITERS * LINES


def test_the_file_stays_small(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_file, "BYTES_MAX", 10_000)
    for number in range(100):
        keep(check(seal=f"{number:064x}"))
    assert kept.stat().st_size <= 10_000
    assert f"{99:064x}" in kept_checks()
    assert f"{0:064x}" not in kept_checks()


def test_no_link_is_followed_and_no_file_of_others_read(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(check())
    assert kept_checks()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for place in (kept, kept.parent, kept.parents[1]):
        target = elsewhere / place.name
        place.rename(target)
        place.symlink_to(target)
        assert kept_checks() == {}
        assert keep(check(run_id="b"))
        place.unlink()
        target.rename(place)
        assert kept_checks()
    lines = kept.read_bytes()
    for place, mode in ((kept, 0o666), (kept, 0o620), (kept.parent, 0o777), (kept.parents[1], 0o777)):
        before = place.stat().st_mode & 0o777
        place.chmod(mode)
        assert kept_checks() == {}
        assert keep(check(run_id="b"))
        place.chmod(before)
    assert kept.read_bytes() == lines
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert kept_checks() == {}
    assert keep(check(run_id="b")) == "belongs to another user"


def test_what_lies_in_the_way_stops_nothing(good: tuple[StoredRun, Path], kept: Path) -> None:
    run, folder = good
    os.mkfifo(kept.parents[1])
    assert check_run(run, folder).passed is True
    kept.parents[1].unlink()
    kept.parents[1].write_text("a file")
    result = check_run(run, folder)
    assert (result.passed, bool(result.unkept)) == (True, True)
    kept.parents[1].unlink()
    kept.mkdir(parents=True)
    assert check_run(run, folder).passed is True
    kept.rmdir()
    os.mkfifo(kept)
    assert check_run(run, folder).unkept
    assert known_check(run, folder) is None


def test_a_home_folder_is_left_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".local").symlink_to(other)
    assert keep(check())
    assert list(other.iterdir()) == []
    (home / ".local").unlink()
    assert keep(check()) is None
    assert (home / ".local/state/assay/checked.jsonl").is_file()


def test_a_run_that_changes_while_it_is_checked_is_not_kept(
    good: tuple[StoredRun, Path], tmp_path: Path, kept: Path
) -> None:
    run, folder = good
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    table = next(copy.glob("series/*.parquet"))

    def changing(path: Path) -> Verification:
        result = verify_run(path)
        table.write_bytes(b"")
        return result

    check_run(run, copy, changing)
    assert not kept.exists()


def test_the_seal_of_a_journal_is_the_hash_of_its_last_whole_line(good: tuple[StoredRun, Path]) -> None:
    last = (good[1] / "journal.jsonl").read_bytes().splitlines()[-1]
    assert seal_of(last + b"\n") == json.loads(last)["hash"]
    assert seal_of(b'..."hash":"' + b"ab" * 32 + b'"}') == "ab" * 32
    for torn in (b"", b"x", last[:-1], last + b"\n{", b'"hash":"zz"}'):
        assert seal_of(torn) == "", torn
    assert len(run_content(good[1]).tables) == 64
