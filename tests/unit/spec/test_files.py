"""Files in a folder that somebody else filled: no name there leads out of it."""

import os
from pathlib import Path

import pytest
from assay.spec.files import exists_inside, is_plain_name, open_inside, read_inside, write_inside


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "/etc/x", "a/../../x", "a//b", ".x", "-x", "x\0y", "x\ny", "é"]
)
def test_a_name_that_leads_elsewhere_is_none(name: str, tmp_path: Path) -> None:
    assert not is_plain_name(name)
    for use in (open_inside, exists_inside):
        with pytest.raises(OSError, match="is no name"):
            use(tmp_path, name)
    with pytest.raises(OSError, match="is no name"):
        write_inside(tmp_path, name, b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_put_in_place_whole_with_the_folders_above_it(tmp_path: Path) -> None:
    write_inside(tmp_path, "report/results.json", b"old")
    write_inside(tmp_path, "report/results.json", b"new", durable=False)
    assert read_inside(tmp_path, "report/results.json", bytes_max=3) == b"new"
    assert [path.name for path in (tmp_path / "report").iterdir()] == ["results.json"]


def test_a_link_is_replaced_where_it_is_written_to_and_never_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "run"
    outside.write_bytes(b"kept")
    folder.mkdir()
    (folder / "name").symlink_to(outside)
    with pytest.raises(OSError, match="symbolic link"):
        read_inside(folder, "name", bytes_max=100)
    assert exists_inside(folder, "name")
    write_inside(folder, "name", b"mine")
    assert (outside.read_bytes(), (folder / "name").read_bytes()) == (b"kept", b"mine")


def test_a_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "run"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / "report").symlink_to(elsewhere)
    with pytest.raises(OSError, match="symbolic link 'report'"):
        write_inside(folder, "report/x", b"mine")
    assert list(elsewhere.iterdir()) == []


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(bytes(11))
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OSError, match="not a regular file"):
            read_inside(tmp_path, name, bytes_max=10)
    with pytest.raises(OSError, match="has 11 bytes where at most 10 can be"):
        read_inside(tmp_path, "large", bytes_max=10)


def test_a_folder_that_the_user_names_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "run")
    write_inside(tmp_path / "link", "x", b"1")
    assert (tmp_path / "run/x").read_bytes() == b"1"
