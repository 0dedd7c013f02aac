"""Files that only root, or a stated owner, can have written."""

import os
from pathlib import Path

import pytest
from assay.errors import PlanError
from assay.spec.root_file import read_root_file

OWNER = os.geteuid()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "agent.toml"
    path.write_text("group = 'disk'\n", "utf-8")
    path.chmod(0o644)
    return path


def test_an_owners_file_is_read(written: Path) -> None:
    assert read_root_file(written, owner=OWNER)[0] == {"group": "disk"}


def test_links_are_followed_before_the_check(written: Path, tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to(written)
    written.chmod(0o664)
    with pytest.raises(PlanError, match=r"agent\.toml: can be written by other users; .*chmod go-w"):
        read_root_file(tmp_path / "link.toml", owner=OWNER)


def test_a_shared_folder_above_is_refused(written: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(PlanError, match="can be written by other users"):
        read_root_file(written, owner=OWNER)
    tmp_path.chmod(0o1777)
    assert read_root_file(written, owner=OWNER)[0]


def test_another_owner_is_refused(written: Path) -> None:
    with pytest.raises(PlanError, match=f"belongs to uid {OWNER}; give it to uid 4242"):
        read_root_file(written, owner=4242)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="No such file"):
        read_root_file(tmp_path / "none.toml")
