"""A report that is written beside its run, and what is said meanwhile."""

from pathlib import Path

import pytest
from assay.archive.rendering import render_stored
from assay.errors import StoreError
from report_run import synthetic_run


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_run_folder_is_left_alone_and_the_report_is_the_same_each_time(tmp_path: Path) -> None:
    run, folder, out = synthetic_run(), tmp_path / "run", tmp_path / "elsewhere/report"
    folder.mkdir()
    first = {path: path.read_bytes() for path in render_stored(run, folder, ["csv", "json"], out=out)}
    assert files(folder) == {}
    assert all(path.parent == out for path in first)
    again = render_stored(run, folder, ["csv", "json"], out=out)
    assert {path: path.read_bytes() for path in again} == first


def test_a_run_that_has_a_report_date_keeps_it_elsewhere(tmp_path: Path) -> None:
    run, folder = synthetic_run(), tmp_path / "run"
    folder.mkdir()
    (own,) = render_stored(run, folder, ["json"])
    (other,) = render_stored(run, folder, ["json"], out=tmp_path / "out")
    assert other.read_bytes() == own.read_bytes()
    assert set(files(tmp_path / "out")) == {"results.json"}


def test_every_format_is_told_before_it_is_made(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    render_stored(synthetic_run(), tmp_path, ["csv", "json"], shown=lambda *one: told.append(one))
    assert told == [("json", 1, 2), ("csv", 2, 2)]


def test_a_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file/x"):
        render_stored(synthetic_run(), tmp_path, ["csv"], out=tmp_path / "file/x")
