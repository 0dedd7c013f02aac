"""The summary of a finished run is kept: the same lines in a tenth of the time, and never those of another run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.archive import kept, rendering
from assay.archive.kept import kept_summary
from assay.archive.rendering import run_summary
from assay.cli import assay, stored_runs
from assay.summary import stored
from assay.summary.stored import summary_of, summary_text
from every_kind import OF_FAMILIES, run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StoredRun

FOLDER = "assay/summaries"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measured") / "wsat"
    run_of("wsat", path)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the summaries of a user who has shown nothing so far."""
    for kind in ("STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    return tmp_path / "cache" / FOLDER


def shown(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[int, str]:
    code = assay(["show", str(path)], standalone_mode=False)
    return code, capsys.readouterr().out


def known(path: Path) -> bool:
    return kept_summary(path, stored_runs.host_id()) is not None


@pytest.mark.parametrize("kind", OF_FAMILIES)
def test_a_summary_comes_back_equal(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    summary = run_summary(quiet(kind), Path("RUN"))
    back = summary_of(summary_text(summary))
    assert back == summary
    assert repr(back) == repr(summary)


def test_a_number_that_is_a_third_comes_back_equal() -> None:
    assert stored._record(json.loads(json.dumps(stored._plain(Fraction(1, 3))))) == Fraction(1, 3)


def test_a_run_is_shown_alike_from_what_was_kept(run: Path, capsys: pytest.CaptureFixture[str], cache: Path) -> None:
    first = shown(capsys, run)
    assert known(run)
    (entry,) = cache.iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    assert shown(capsys, run) == first


def test_a_kept_run_is_shown_without_loading_what_works_it_out(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(capsys, run)
    code = f"import sys; from assay.cli import main; sys.argv = ['assay', 'show', {str(run)!r}]\ntry: main()\n"
    code += (
        "except SystemExit: pass\nprint(sorted({'numpy', 'pyarrow', 'pydantic', 'assay.results'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_runs_are_compared_alike_from_what_was_kept_without_reading_them(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_of("iops", tmp_path / "other")

    def compared(*options: str) -> str:
        assert assay(["compare", str(run), str(tmp_path / "other"), "--despite", *options], standalone_mode=False) == 0
        return capsys.readouterr().out

    first = compared(), compared("--json")
    assert known(run)
    assert known(tmp_path / "other")
    with monkeypatch.context() as patched:
        patched.setattr(rendering, "stored_run", None)
        assert (compared(), compared("--json")) == first
    # Curves are those of the runs.
    compared("--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "report.html").exists()


def _cut(entry: Path) -> None:
    entry.write_bytes(entry.read_bytes()[:-1])


def _altered(entry: Path) -> None:
    entry.write_bytes(entry.read_bytes().replace(b'"IOPS"', b'"IOPs"', 1))


def _of_others(entry: Path) -> None:
    entry.chmod(0o666)


def _linked(entry: Path) -> None:
    entry.rename(entry.with_name("elsewhere"))
    entry.symlink_to("elsewhere")


def _empty(entry: Path) -> None:
    entry.write_bytes(b"")


@pytest.mark.parametrize("damage", [_cut, _altered, _of_others, _linked, _empty])
def test_a_damaged_entry_is_as_none(
    damage: Callable[[Path], None], run: Path, capsys: pytest.CaptureFixture[str], cache: Path
) -> None:
    first = shown(capsys, run)
    (entry,) = cache.iterdir()
    damage(entry)
    assert not known(run)
    assert shown(capsys, run) == first


def test_an_entry_of_another_run_under_this_name_is_not_shown(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], cache: Path
) -> None:
    other = tmp_path / "other"
    run_of("lat", other)
    shown(capsys, run)
    (entry,) = cache.iterdir()
    shown(capsys, other)
    (foreign,) = set(cache.iterdir()) - {entry}
    foreign.replace(entry)
    assert not known(run)


@pytest.mark.parametrize("name", ["run.json", "journal.jsonl", "series", "histograms", "origin.json"])
def test_a_folder_that_was_changed_is_read_anew(
    name: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    shown(capsys, copy)
    assert known(copy)
    path = copy / name
    path = next(path.iterdir()) if path.is_dir() else path
    with path.open("ab") as file:
        file.write(b" ")
    assert not known(copy)


def test_another_program_or_host_does_not_read_it(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(capsys, run)
    assert known(run)
    assert kept_summary(run, "f" * 16) is None
    monkeypatch.setattr(kept, "_program", lambda: "another")
    assert not known(run)


def test_a_run_of_another_host_is_kept_with_its_level_here(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(stored_runs, "host_id", lambda: "f" * 16)
        first = shown(capsys, run)
        assert "of another host" in first[1]
        assert known(run)
        assert shown(capsys, run) == first
    assert "of another host" not in shown(capsys, run)[1]


def test_a_run_that_was_not_checked_is_not_kept(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], cache: Path
) -> None:
    shown(capsys, run)
    shutil.rmtree(tmp_path / "state")
    assert not known(run)
    assert len(list(cache.iterdir())) == 1


def test_a_cache_that_cannot_be_written_is_no_error(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = shown(capsys, run)
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file")
    assert shown(capsys, run) == first
    assert not known(run)


def test_the_older_half_goes_where_there_are_too_many(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setattr(kept, "COUNT_MAX", 4)
    for program in "abcdef":
        monkeypatch.setattr(kept, "_program", lambda program=program: program)
        shown(capsys, run)
    assert len(list(cache.iterdir())) == 3
    assert known(run)
